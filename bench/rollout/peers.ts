/** transformers.js on the same checkpoint and machine: what one would use otherwise. Installed on demand, since it is large. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ModelConfig } from '../../model/config.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { packWeights, WEIGHTS_FILE } from '../../model/onnx/weights.ts';
import type { Tensors } from '../../model/safetensors.ts';
import { Contender } from '../contender.ts';
import { type Summary, summarise } from '../statistics.ts';
import type { BenchWorker } from './bench-process.ts';
import { exportedGraph } from './exported-graph.ts';
import { MAX_NEW, PROMPT, type Shape, warmUp } from './measure.ts';

const PEER = '@huggingface/transformers@4.3.1';
const folder = resolve('node_modules/.cache/rollmesh/bench-peers');

async function install(): Promise<void> {
  if (existsSync(join(folder, 'node_modules/@huggingface/transformers'))) return;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private":true}\n');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', PEER], {
    cwd: folder,
    stdio: 'ignore',
  });
}

async function writeCheckpoint(name: string, config: ModelConfig, tensors: Tensors): Promise<void> {
  const onnx = join(folder, 'checkpoints', name, 'onnx');
  await mkdir(onnx, { recursive: true });
  await writeFile(join(onnx, '..', 'config.json'), JSON.stringify(toHfConfig(config)));
  await writeFile(join(onnx, '..', 'generation_config.json'), '{}');
  await writeFile(join(onnx, 'model.onnx'), exportedGraph(config));
  await writeFile(join(onnx, WEIGHTS_FILE), packWeights(config, tensors));
}

export interface AgainstPeer extends Shape {
  readonly peer: string;
  /** Tokens a second, prefill included: a policy in workerd, on wasm; the peer in Node, on native kernels. */
  readonly graph: Summary;
  readonly other: Summary;
  readonly speedup: Summary;
}

/** Interleaved runs of the checkpoint that the worker has open. */
export async function measurePeer(
  worker: BenchWorker,
  rounds: number,
  checkpoint: { name: string; config: ModelConfig; tensors: Tensors },
  shape: Shape,
): Promise<AgainstPeer> {
  const { name, config, tensors } = checkpoint;
  await install();
  await writeCheckpoint(name, config, tensors);
  const rows = shape.groups * shape.samples;
  const checkpoints = join(folder, 'checkpoints');
  const sizes = [rows, PROMPT, MAX_NEW].map(String);
  const { contender } = await Contender.start({
    name: PEER,
    command: process.execPath,
    args: [resolve('bench/rollout/transformers-peer.mjs'), folder, checkpoints, name, ...sizes],
  });
  const ours = async () =>
    (await worker.time({ way: 'graph', ...shape, prompt: PROMPT, maxNew: MAX_NEW })).ms;
  const theirs = async () => {
    const answer = await contender.turn();
    if (typeof answer === 'object' && answer && 'ms' in answer) return Number(answer.ms);
    throw new Error(`The peer answered ${JSON.stringify(answer)}.`);
  };
  try {
    await warmUp(async () => {
      await ours();
      await theirs();
    });
    const times: { graph: number; other: number }[] = [];
    for (let i = 0; i < rounds; i++) times.push({ graph: await ours(), other: await theirs() });
    return {
      ...shape,
      peer: PEER,
      graph: summarise(times.map(({ graph }) => (1000 * rows * MAX_NEW) / graph)),
      other: summarise(times.map(({ other }) => (1000 * rows * MAX_NEW) / other)),
      speedup: summarise(times.map(({ graph, other }) => other / graph)),
    };
  } finally {
    await contender.stop();
  }
}
