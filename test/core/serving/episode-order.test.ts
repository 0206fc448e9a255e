/** What a request may say of sampling in an episode: what the run's own settings say, or nothing. */
import { expect, test } from 'vitest';
import { expectOwnSampling } from '../../../core/serving/episode-order.ts';

const sampling = { maxNew: 8, temperature: 0.8, topK: 20 };
const KERNELS = { engine: 'kernels' as const };

test.each<object>([
  {},
  { temperature: null, top_p: undefined, max_tokens: 3, model: 'x', logprobs: true },
  {
    temperature: 0.8,
    top_p: 1,
    top_k: 20,
    n: 1,
    best_of: 1,
    stop: [],
    stop_token_ids: [],
    ignore_eos: false,
  },
  { engine: 'kernels' },
  { stop_token_ids: [7] },
  { sampling_params: { stop_token_ids: [4, 7], logprobs: 1, skip_special_tokens: false } },
  { sampling_params: { temperature: 0.8, top_k: 20 } },
])('%o is as the run samples', (body) => {
  expect(() => expectOwnSampling(body, sampling, KERNELS, [4, 7])).not.toThrow();
});

test.each<[object, string]>([
  [{ temperature: 1 }, 'temperature = 1 '],
  [{ temperature: 0 }, 'temperature = 0 '],
  [{ top_p: 0.9 }, 'top_p = 0.9 '],
  [{ top_k: 0 }, 'top_k = 0 '],
  [{ n: 2 }, 'n = 2 '],
  [{ seed: 0 }, 'seed = 0 '],
  [{ stop: 'x' }, 'stop = "x" '],
  [{ stop: ['x'] }, 'stop = ["x"] '],
  [{ stop_token_ids: [4, 5] }, 'stop_token_ids = [5] '],
  [{ sampling_params: { stop_token_ids: [6] } }, 'stop_token_ids = [6] '],
  [{ ignore_eos: true }, 'ignore_eos = true '],
  [{ echo: true }, 'echo = true '],
  [{ prompt_logprobs: 0 }, 'prompt_logprobs = 0 '],
  [{ engine: 'onnx' }, 'engine = "onnx" '],
  [{ weights: 'int8' }, 'weights = "int8" '],
  [{ sampling_params: { seed: 3 } }, 'seed = 3 '],
])('%o is refused by name', (body, said) => {
  expect(() => expectOwnSampling(body, sampling, KERNELS, [4, 7])).toThrow(
    expect.objectContaining({ code: 'episode.sampling', message: expect.stringContaining(said) }),
  );
});

test('where the run cuts nothing off, 0 and -1 both mean all tokens', () => {
  for (const top_k of [0, -1]) expectOwnSampling({ top_k }, { maxNew: 8, temperature: 1 }, {}, [4]);
  expect(() => expectOwnSampling({ top_k: 5 }, { maxNew: 8, temperature: 1 }, {}, [4])).toThrow('0 or -1');
});
