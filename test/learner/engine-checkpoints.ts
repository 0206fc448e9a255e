/** The three reference checkpoints and their float64 answers, as the engine tests use them. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { type PackedBatch, packSequences } from '../../learner/nn/pack.ts';
import { type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { parseConfig } from '../../model/config.ts';
import { readSafetensors } from '../../model/safetensors.ts';

export const REFERENCE_MODELS = ['llama', 'qwen2', 'qwen3'] as const;
export type ReferenceModel = (typeof REFERENCE_MODELS)[number];

const matrix = v.array(v.array(v.number()));
const expected = v.object({
  input_ids: matrix,
  /** Of input_ids[:, 1:], nats. */
  token_logprobs: matrix,
  entropy: matrix,
  weights: matrix,
  /** Mean over the tokens of -weight * log-probability. */
  loss: v.number(),
  /** Euclidean norm, and dot product with cos(0.37 * flat index). */
  gradients: v.record(v.string(), v.object({ norm: v.number(), probe: v.number() })),
});
export type Expected = v.InferOutput<typeof expected>;

const folder = new URL('../oracle/models/', import.meta.url);
const json = async (path: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(path, folder), 'utf8'));

export interface Reference {
  params: ParamSet;
  expected: Expected;
  /** Both rows, scored from the second token on. */
  batch: PackedBatch;
}

/** On the device that is open now. */
export async function loadReference(name: ReferenceModel): Promise<Reference> {
  const config = parseConfig(await json(`${name}/config.json`));
  const tensors = readSafetensors(await readFile(new URL(`${name}/model.safetensors`, folder)));
  const answers = v.parse(expected, await json(`${name}/expected.json`));
  return {
    params: paramsFrom(config, tensors),
    expected: answers,
    batch: packSequences(answers.input_ids.map((ids) => ({ ids, from: 1 }))),
  };
}
