/** Compares with transformers.js: our policy runs in workerd on wasm; the peer runs in Node on native kernels with one thread. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { toHfConfig } from '../../model/hf-config.ts';
import { packWeights, WEIGHTS_FILE } from '../../model/onnx/weights.ts';
import { Contender } from '../contender.ts';
import type { BenchWorker } from './bench-process.ts';
import { exportedGraph } from './exported-graph.ts';
import { MAX_NEW, PROMPT } from './measure.ts';
import { type AgainstPeer, type BenchCheckpoint, install, interleave, peersFolder } from './peers.ts';
import type { Shape } from './prompts.ts';

const peer = { package: '@huggingface/transformers', version: '4.3.1' };
const checkpoints = join(peersFolder, 'checkpoints');

async function writeCheckpoint({ name, config, tensors }: BenchCheckpoint): Promise<void> {
  const onnx = join(checkpoints, name, 'onnx');
  await mkdir(onnx, { recursive: true });
  await writeFile(join(onnx, '..', 'config.json'), JSON.stringify(toHfConfig(config)));
  await writeFile(join(onnx, '..', 'generation_config.json'), '{}');
  await writeFile(join(onnx, 'model.onnx'), exportedGraph(config));
  await writeFile(join(onnx, WEIGHTS_FILE), packWeights(config, tensors));
}

/** Measures with the checkpoint that the worker has open. */
export async function measureTransformers(
  worker: BenchWorker,
  rounds: number,
  checkpoint: BenchCheckpoint,
  shape: Shape,
): Promise<AgainstPeer> {
  await install(peer);
  await writeCheckpoint(checkpoint);
  const sizes = [shape.groups * shape.samples, PROMPT, MAX_NEW].map(String);
  const { contender } = await Contender.start({
    name: peer.package,
    command: process.execPath,
    args: [
      resolve('bench/rollout/transformers-peer.mjs'),
      peersFolder,
      checkpoints,
      checkpoint.name,
      ...sizes,
    ],
  });
  const ours = async () =>
    (await worker.time({ way: 'graph', ...shape, prompt: PROMPT, maxNew: MAX_NEW })).ms;
  const theirs = async () => {
    const answer = await contender.turn();
    if (typeof answer === 'object' && answer && 'ms' in answer) return Number(answer.ms);
    throw new Error(`The peer answered ${JSON.stringify(answer)}.`);
  };
  try {
    return await interleave({ peer, at: 'workerd', ours, theirs }, shape, rounds);
  } finally {
    await contender.stop();
  }
}
