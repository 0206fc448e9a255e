/** How fast one core generates with a checkpoint in the kernels engine, apart from mesh and learner. */
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyRef } from '../../../core/policy/policy.ts';
import { loadKernelPolicy } from '../../../infer/kernels/kernel-policy.ts';
import { nodeEngines } from '../../../infer/node-engines.ts';
import { parseConfig } from '../../../model/config.ts';
import { streamSafetensors } from '../../../model/safetensors-stream.ts';
import { summarise } from '../statistics.ts';

const SAMPLES = 16;
const PROMPT = 32;
const NEW = 24;

export interface EngineFigures {
  readonly form: string;
  readonly openSeconds: number;
  readonly wasmMib: number;
  /** The median of the repetitions, each of 16 samples of one prompt. */
  readonly tokensPerCpuSecond: number;
}

/** Opens the checkpoint in a form and generates a group of 16, as often as asked. */
export async function measureEngine(
  folder: string,
  { engine = 'kernels', weights }: Pick<PolicyRef, 'engine' | 'weights'>,
  repetitions: number,
): Promise<EngineFigures> {
  const config = parseConfig(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')));
  const ref: PolicyRef = { name: 'bench', version: 0, engine, ...(weights ? { weights } : {}) };
  const opened = cpuSeconds();
  const loading = loadKernelPolicy(nodeEngines.kernels(), ref, config, nodeEngines.kernelBytes);
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.safetensors')))
    for await (const piece of streamSafetensors(createReadStream(join(folder, name)))) loading.write(piece);
  const policy = loading.finish();
  const openSeconds = cpuSeconds() - opened;
  const ids = Array.from({ length: PROMPT }, (_, i) => 1 + ((i * 7919) % (config.vocabSize - 1)));
  const speeds: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const sampleIds = Array.from({ length: SAMPLES }, (_, s) => `bench/${i}/${s}`);
    const before = cpuSeconds();
    await policy.generate([{ ids, sampleIds }], { maxNew: NEW, temperature: 1, stop: [] });
    speeds.push((SAMPLES * NEW) / (cpuSeconds() - before));
  }
  const wasmMib = Math.round(policy.heapBytes / 2 ** 20);
  await policy.dispose();
  const rounded = (x: number) => Math.round(10 * x) / 10;
  return {
    form: weights ?? 'float32',
    openSeconds: rounded(openSeconds),
    wasmMib,
    tokensPerCpuSecond: rounded(summarise(speeds).median),
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
