/**
 * What native ONNX Runtime gains over the wasm build, and how close it comes to it: both sample the same completions on one thread, in
 * turns, and the wasm build scores what the native one drew. The package onnxruntime-node has to be installed (docs/nodes.md).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Policy } from '../../core/policy/policy.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { nativeEngines } from '../../infer/node-ort-native.ts';
import { openVersion } from '../../infer/open-version.ts';
import { thisMachine } from '../../local/machine.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { summarise } from './statistics.ts';

const POLICY = 'arithmetic-base';
const SETTINGS = { maxNew: 48, temperature: 1, stop: [] };
/** 64 completions of 48 tokens. */
const PROMPTS = Array.from({ length: 4 }, (_, p) => ({
  ids: [1, 2, 3, 4, 5, p + 3],
  sampleIds: Array.from({ length: 16 }, (_, i) => `native/${p}/${i}`),
}));

/** Differences of the log-probabilities of what `drawn` sampled from the scores of `trusted`, nats. */
async function mismatch(drawn: Policy, trusted: Policy): Promise<{ mean: number; most: number }> {
  const completions = await drawn.generate(PROMPTS, SETTINGS);
  const far: number[] = [];
  for (const [p, { ids: prompt }] of PROMPTS.entries()) {
    const scores = await trusted.score(completions[p]!.map(({ ids }) => [...prompt, ...ids]));
    for (const [s, { logprobs }] of completions[p]!.entries())
      for (const [t, stated] of logprobs.entries())
        far.push(Math.abs(stated - scores[s]!.logprobs[prompt.length - 1 + t]!));
  }
  return { mean: far.reduce((a, b) => a + b, 0) / far.length, most: Math.max(...far) };
}

/** `--turns N` (5) of each, `--json`: one JSON object. Results also go to test/bench/results/native.json. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { turns: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
  });
  const files = await readPolicyFolder(`models/${POLICY}`);
  const ref = { name: POLICY, version: 0 };
  const native = await openVersion(nativeEngines('onnxruntime-node'), ref, files);
  const wasm = await openVersion(nodeEngines, ref, files);
  const rates = { native: [] as number[], wasm: [] as number[] };
  // The first turn of each opens sessions and compiles code.
  for (let turn = 0; turn <= Number(values.turns); turn++)
    for (const [name, policy] of [
      ['native', native],
      ['wasm', wasm],
    ] as const) {
      const before = process.cpuUsage();
      const made = await policy.generate(PROMPTS, SETTINGS);
      const { user, system } = process.cpuUsage(before);
      const tokens = made.flat().reduce((sum, { ids }) => sum + ids.length, 0);
      if (turn > 0) rates[name].push((1e6 * tokens) / (user + system));
    }
  const tokensPerCpuSecond = { native: summarise(rates.native), wasm: summarise(rates.wasm) };
  const gain = tokensPerCpuSecond.native.median / tokensPerCpuSecond.wasm.median;
  const off = await mismatch(native, wasm);
  await native.dispose();
  await wasm.dispose();
  const result = {
    bench: 'native',
    machine: thisMachine(),
    policy: POLICY,
    tokensPerCpuSecond,
    gain,
    mismatch: off,
  };
  console.log(
    values.json
      ? JSON.stringify(result)
      : `native ONNX Runtime samples ${gain.toFixed(2)}x the tokens of the wasm build a CPU second; its log-probabilities are ${off.mean.toPrecision(2)} nats off on average and ${off.most.toPrecision(2)} at most`,
  );
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync('test/bench/results/native.json', `${JSON.stringify(result, null, 2)}\n`);
}
