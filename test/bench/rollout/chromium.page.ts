/**
 * The page in which this project's engines and those of the peers generate from one checkpoint, one thread each. Each is compared with the
 * ONNX policy before anything is timed, and every run is timed inside the page.
 */
import * as ort from 'onnxruntime-web/wasm';
import type { Policy } from '../../../core/policy/policy.ts';
import { BUILDS } from '../../../infer/kernels/builds.ts';
import { REFS } from '../../../infer/kernels/forms.ts';
import { createKernelPolicy } from '../../../infer/kernels/kernel-policy.ts';
import { createPolicy } from '../../../infer/onnx-policy.ts';
import { loadOrt } from '../../../infer/ort.ts';
import { type ModelConfig, parseConfig } from '../../../model/config.ts';
import { tensorsOf } from './checkpoint-tensors.ts';
import { type GreedyRow, openTransformers, openWllama, type PagePeer } from './page-peers.ts';
import { type BenchPrompt, benchPrompts, type Shape } from './prompts.ts';
import { type PageErrors, type PageSide, PEER_FORMS, type Turn, turnOf } from './turns.ts';

export interface PageRequest {
  readonly config: unknown;
  readonly shape: Shape;
  readonly prompt: number;
  readonly maxNew: number;
}

const bytesOf = async (url: string): Promise<Uint8Array> =>
  new Uint8Array(await (await fetch(url)).arrayBuffer());

/** A page is not held to an isolate's memory: matrices are laid out for ONNX Runtime whatever their size. */
async function openPolicies(
  config: ModelConfig,
): Promise<Record<(typeof PEER_FORMS)[number] | 'graph', Policy>> {
  ort.env.wasm.wasmBinary = (await bytesOf('/ort.wasm')).buffer as ArrayBuffer;
  const weights = await bytesOf('/weights.bin');
  const modules = BUILDS.map(
    async (build) => [build, await WebAssembly.compileStreaming(fetch(`/${build}.wasm`))] as const,
  );
  const builds = Object.fromEntries(await Promise.all(modules));
  const ref = { name: 'bench', version: 0 };
  const kernels = (form: (typeof PEER_FORMS)[number]) =>
    createKernelPolicy(builds, { ...ref, ...REFS[form] }, config, tensorsOf(config, weights));
  return {
    graph: await createPolicy({ runtime: await loadOrt(), ref, config, weights, prepack: true }),
    fused: kernels('fused'),
    int8: kernels('int8'),
    w8a8: kernels('w8a8'),
  };
}

const differences = (a: readonly number[], b: readonly number[]): number[] =>
  a.map((x, i) => Math.abs(x - b[i]!));

/** What the policy gives the tokens of rows, behind their prompts. */
async function scoresOf(
  policy: Policy,
  prompts: readonly BenchPrompt[],
  rows: readonly GreedyRow[],
): Promise<number[]> {
  const ids = prompts.flatMap((prompt) => prompt.sampleIds.map(() => prompt.ids));
  const scores = await policy.score(rows.map((row, i) => [...ids[i]!, ...row.ids]));
  return scores.flatMap(({ logprobs }, i) => logprobs.slice(ids[i]!.length - 1));
}

async function openAll({ config: json, shape, prompt, maxNew }: PageRequest): Promise<PageErrors> {
  const config = parseConfig(json);
  const prompts = benchPrompts(shape, prompt, config.vocabSize);
  const policies = await openPolicies(config);
  const peers = {
    wllama: await openWllama('/float32.gguf', prompts, maxNew),
    'wllama-q8': await openWllama('/q8.gguf', prompts, maxNew),
    transformers: await openTransformers('float32', prompts, maxNew),
    'transformers-q8': await openTransformers('w8a8', prompts, maxNew),
  } satisfies Partial<Record<PageSide, PagePeer>>;
  const sides: Record<PageSide, () => Promise<number[]>> = {
    graph: drawn(policies.graph),
    fused: drawn(policies.fused),
    int8: drawn(policies.int8),
    w8a8: drawn(policies.w8a8),
    wllama: peers.wllama.sample,
    'wllama-q8': peers['wllama-q8'].sample,
    transformers: peers.transformers.sample,
    'transformers-q8': peers['transformers-q8'].sample,
  };
  function drawn(policy: Policy) {
    return async () => {
      const out = await policy.generate(prompts, { maxNew, temperature: 1, stop: [] });
      return out.flat().map(({ ids }) => ids.length);
    };
  }
  const turn = (side: PageSide): Promise<Turn> =>
    turnOf(async () => {
      const lengths = await sides[side]();
      if (lengths.length !== shape.groups * shape.samples || lengths.some((length) => length !== maxNew))
        throw new Error(`${side} generated [${lengths}] tokens`);
    });
  Object.assign(globalThis, { turn });
  const errors: Partial<Record<PageSide, number[]>> = {};
  let rows: GreedyRow[] = [];
  for (const [side, peer] of Object.entries(peers)) {
    rows = await peer.greedy();
    const given = rows.flatMap(({ logprobs }) => logprobs);
    if (given.length !== shape.groups * shape.samples * maxNew)
      throw new Error(`${side} scored ${given.length} tokens.`);
    errors[side as PageSide] = differences(given, await scoresOf(policies.graph, prompts, rows));
  }
  const exact = await scoresOf(policies.graph, prompts, rows);
  for (const form of PEER_FORMS)
    errors[form] = differences(await scoresOf(policies[form], prompts, rows), exact);
  return Object.fromEntries(
    Object.entries(errors).map(([side, off]) => [
      side,
      { mean: off.reduce((sum, x) => sum + x, 0) / off.length, max: Math.max(...off) },
    ]),
  );
}

Object.assign(globalThis, { openAll });
