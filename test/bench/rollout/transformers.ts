/** Compares with transformers.js in Node: ours runs in workerd as wasm; the peer runs in Node on native kernels with one thread. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { toHfConfig } from '../../../model/hf-config.ts';
import { packWeights, WEIGHTS_FILE } from '../../../model/onnx/weights.ts';
import { Contender } from '../contender.ts';
import type { BenchWorker } from './bench-process.ts';
import { exportedGraph } from './exported-graph.ts';
import { MAX_NEW, PROMPT } from './measure.ts';
import {
  type AgainstPeer,
  against,
  type BenchCheckpoint,
  install,
  OUR_WAYS,
  type Peer,
  peersFolder,
} from './peers.ts';
import type { Shape } from './prompts.ts';
import { inTurns, type RunTime, TURN_MS, type Turn, timed, warmUpEach } from './turns.ts';

export const TRANSFORMERS: Peer = { package: '@huggingface/transformers', version: '4.3.1' };
const WEIGHTS = ['float32', 'w8a8'] as const;
const checkpoints = join(peersFolder, 'checkpoints');

const folderName = (name: string, type: string): string => `${name}-${type}`;

async function writeCheckpoint(
  { name, config, tensors }: BenchCheckpoint,
  type: (typeof WEIGHTS)[number],
): Promise<void> {
  const onnx = join(checkpoints, folderName(name, type), 'onnx');
  await mkdir(onnx, { recursive: true });
  await writeFile(join(onnx, '..', 'config.json'), JSON.stringify(toHfConfig(config)));
  await writeFile(join(onnx, '..', 'generation_config.json'), '{}');
  await writeFile(join(onnx, 'model.onnx'), exportedGraph(config, type));
  await writeFile(join(onnx, WEIGHTS_FILE), packWeights(config, tensors, type));
}

async function startPeer(checkpoint: BenchCheckpoint, type: (typeof WEIGHTS)[number], shape: Shape) {
  await writeCheckpoint(checkpoint, type);
  const sizes = [shape.groups * shape.samples, PROMPT, MAX_NEW, TURN_MS].map(String);
  const { contender } = await Contender.start({
    name: TRANSFORMERS.package,
    command: process.execPath,
    args: [
      resolve('test/bench/rollout/transformers-peer.mjs'),
      peersFolder,
      checkpoints,
      folderName(checkpoint.name, type),
      ...sizes,
    ],
  });
  return contender;
}

/** Measures with the checkpoint that the worker has open, with the forms that are compared. */
export async function measureNative(
  worker: BenchWorker,
  rounds: number,
  checkpoint: BenchCheckpoint,
  shape: Shape,
): Promise<AgainstPeer[]> {
  await install(TRANSFORMERS);
  const peers = {
    float32: await startPeer(checkpoint, 'float32', shape),
    w8a8: await startPeer(checkpoint, 'w8a8', shape),
  };
  const sides = [...OUR_WAYS, 'peer-float32', 'peer-w8a8'] as const;
  const turn = (side: (typeof sides)[number]): Promise<RunTime> => {
    if (side !== 'peer-float32' && side !== 'peer-w8a8')
      return worker.time({ way: side, ...shape, prompt: PROMPT, maxNew: MAX_NEW, wholeTurn: true });
    const peer = peers[side === 'peer-w8a8' ? 'w8a8' : 'float32'];
    return timed(
      async () => (await peer.turn()) as Turn,
      () => peer.cpuNow(),
    );
  };
  try {
    await warmUpEach(sides, turn);
    const turns = await inTurns(sides, rounds, turn);
    return WEIGHTS.map((weights) => ({
      peer: `${TRANSFORMERS.package}@${TRANSFORMERS.version}`,
      weights,
      at: 'workerd',
      ...against(turns, `peer-${weights}`, shape),
    }));
  } finally {
    for (const peer of Object.values(peers)) await peer.stop();
  }
}
