/** What every host must reproduce bit for bit, in the kernels engine. */
import { sha256Hex } from '../../../core/random.ts';
import { oneOf, someOf } from '../../../core/text/token-grammar.ts';
import type { Builds } from '../../../infer/kernels/builds.ts';
import { type Form, REFS } from '../../../infer/kernels/forms.ts';
import { createKernelPolicy, ISOLATE_BYTES } from '../../../infer/kernels/kernel-policy.ts';
import type { SharedWeights } from '../../../infer/kernels/shared-weights.ts';
import { parseConfig } from '../../../model/config.ts';
import { randomCheckpoint } from '../../../model/init.ts';

const config = parseConfig({
  model_type: 'qwen3',
  vocab_size: 90,
  hidden_size: 96,
  intermediate_size: 208,
  num_hidden_layers: 3,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  head_dim: 16,
  max_position_embeddings: 160,
  tie_word_embeddings: true,
});
const tensors = randomCheckpoint(config, 'replay');

const prompts = [5, 17, 61].map((length, p) => ({
  ids: Array.from({ length }, (_, i) => (i * i * 5 + p) % 90),
  sampleIds: Array.from({ length: 7 }, (_, i) => `sample/${p}/${i}`),
}));
const requests = [
  { maxNew: 24, temperature: 0.9, topP: 0.95, stop: [2, 3] },
  { maxNew: 24, temperature: 1, stop: [] },
  {
    maxNew: 9,
    temperature: 1.3,
    topK: 7,
    stop: [],
    grammar: someOf([10, 11, 12, 13], { least: 2, most: 8, end: 4, vocabSize: 90 }),
  },
  { maxNew: 3, temperature: 0, stop: [], grammar: oneOf([[1, 2, 3], [1, 4], [5]], 90) },
];

/** sha256 of every token, log-probability and entropy; JSON keeps every bit of a number. */
export async function digestOf(builds: Builds, form: Form, shared?: SharedWeights): Promise<string> {
  const ref = { name: 'replay', version: 0, ...REFS[form] };
  const policy = createKernelPolicy(builds, ref, config, tensors, ISOLATE_BYTES, shared);
  const made: unknown[] = [];
  for (const settings of requests) made.push(await policy.generate(prompts, settings));
  made.push(await policy.score(prompts.map(({ ids }) => ids)));
  await policy.dispose();
  return sha256Hex(new TextEncoder().encode(JSON.stringify(made)));
}
