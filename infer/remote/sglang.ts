/**
 * The dialect of SGLang's own route `/generate`, which gives each token with its id: its completions protocol tells texts alone. An adapter
 * is named by `lora_path`. Log-probabilities are those after the temperature and before truncation.
 */
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { finite } from '../../core/schema/numbers.ts';
import { type Dialect, entropyOf, type Served } from './dialect.ts';
import { askServer, checked, rootOf } from './server.ts';

/** [log-probability, token id, text]; the first token of a prompt has no log-probability. */
const token = v.looseTuple([v.nullable(finite), finite]);
const made = v.object({
  meta_info: v.object({
    finish_reason: v.object({ type: v.string() }),
    output_token_logprobs: v.array(token),
  }),
});
const scored = v.object({
  meta_info: v.object({
    input_token_logprobs: v.array(token),
    input_top_logprobs: v.array(v.nullable(v.array(token))),
  }),
});

const generate = (served: Served, request: Readonly<Record<string, unknown>>): Promise<unknown> =>
  askServer(served, `${rootOf(served)}/generate`, {
    ...request,
    return_logprob: true,
    ...(served.adapter === undefined ? {} : { lora_path: served.adapter }),
  });

const numberOf = (logprob: number | null): number => logprob ?? Number.NaN;

export const sglang: Dialect = {
  async complete(served, { ids, maxNew, draw, stop, seed }) {
    if (draw.topP !== 1 || draw.topK)
      throw wrongInput('remote.sampling', `Sampling at topP ${draw.topP}, topK ${draw.topK}.`, {
        expected: 'no truncation, since SGLang tells log-probabilities before it',
      });
    const answer = await generate(served, {
      input_ids: ids,
      sampling_params: {
        max_new_tokens: maxNew,
        temperature: draw.temperature,
        stop_token_ids: stop,
        ignore_eos: true,
        sampling_seed: seed,
      },
    });
    const { output_token_logprobs: tokens, finish_reason: reason } = checked(made, answer).meta_info;
    const stopped = stop.includes(tokens.at(-1)?.[1] ?? -1);
    if (stopped === (reason.type === 'stop'))
      return {
        ids: tokens.map(([, id]) => id),
        logprobs: tokens.map(([logprob]) => numberOf(logprob)),
        stopped,
      };
    const what = `A completion of ${tokens.length} tokens ended with ${reason.type}.`;
    throw new RollmeshError('give-up', 'remote.completion', what, {
      expected: 'the stop token among the tokens of a completion that stopped',
    });
  },

  async score(served, ids, vocabSize) {
    const answer = await generate(served, {
      input_ids: ids,
      sampling_params: { max_new_tokens: 1, temperature: 1 },
      logprob_start_len: 0,
      top_logprobs_num: vocabSize,
    });
    const { input_token_logprobs: tokens, input_top_logprobs: tops } = checked(scored, answer).meta_info;
    if (tokens.map(([, id]) => id).join() !== ids.join())
      throw new RollmeshError('give-up', 'remote.scores', 'The server scored other tokens than were sent.', {
        expected: 'the tokens of the prompt',
      });
    const entropy = tops.slice(1).map((top) => {
      const all = (top ?? []).map(([logprob]) => numberOf(logprob));
      if (all.length === vocabSize) return entropyOf(all);
      const what = `The server tells ${all.length} of ${vocabSize} log-probabilities.`;
      throw new RollmeshError('give-up', 'remote.entropy', what, {
        expected: 'all of them',
        next: 'Check vocabSize, or score with another engine.',
      });
    });
    return { logprobs: tokens.slice(1).map(([logprob]) => numberOf(logprob)), entropy };
  },
};
