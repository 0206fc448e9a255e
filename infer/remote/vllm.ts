/** The dialect of vLLM, which stops at token ids, names tokens `token_id:17`, and echoes a prompt with its log-probabilities. */
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import { finite } from '../../core/schema/numbers.ts';
import { askChoice, type Dialect, entropyOf } from './dialect.ts';
import { checked } from './server.ts';

const choice = v.object({
  finish_reason: v.nullable(v.string()),
  logprobs: v.object({
    tokens: v.array(v.string()),
    token_logprobs: v.array(v.nullable(finite)),
    top_logprobs: v.nullish(v.array(v.nullable(v.record(v.string(), finite)))),
  }),
});
type Choice = v.InferOutput<typeof choice>;

/** The ids of tokens written as `token_id:17`, which is the only way in which the protocol can say which token it was. */
function idsOf(tokens: readonly string[]): number[] {
  return tokens.map((token) => {
    const id = /^token_id:(\d+)$/.exec(token)?.[1];
    if (id !== undefined) return Number(id);
    const what = `The server answered with the token ${JSON.stringify(token)}.`;
    throw new RollmeshError('give-up', 'remote.tokens', what, {
      expected: '"token_id:N"',
      next: 'Use a server that knows return_tokens_as_token_ids, as vLLM does.',
    });
  });
}

function completionOf({ logprobs, finish_reason: reason }: Choice, stop: TokenIds) {
  const ids = idsOf(logprobs.tokens);
  const stopped = stop.includes(ids.at(-1) ?? -1);
  const numbers = logprobs.token_logprobs.filter((x) => x !== null);
  if (numbers.length === ids.length && stopped === (reason === 'stop'))
    return { ids, logprobs: numbers, stopped };
  const what = `A completion of ${ids.length} tokens ended with ${reason}.`;
  throw new RollmeshError('give-up', 'remote.completion', what, {
    expected: 'a log-probability for each token, and the stop token among them',
  });
}

const NAMED = { return_tokens_as_token_ids: true };

/** Whether vLLM gives log-probabilities after temperature and truncation is set when it starts: --logprobs-mode processed_logprobs. */
export const vllm: Dialect = {
  async complete(served, { ids, maxNew, draw, stop, seed }) {
    const made = await askChoice(served, {
      ...NAMED,
      prompt: ids,
      max_tokens: maxNew,
      temperature: draw.temperature,
      top_p: draw.topP,
      top_k: draw.topK || -1,
      stop_token_ids: stop,
      ignore_eos: true,
      logprobs: 0,
      seed,
    });
    return completionOf(checked(choice, made), stop);
  },

  /** Asks for the log-probabilities of the prompt's tokens; the entropy needs those of the whole vocabulary. */
  async score(served, ids, vocabSize) {
    const request = { ...NAMED, prompt: ids, max_tokens: 1, echo: true, logprobs: vocabSize, temperature: 1 };
    const { logprobs } = checked(choice, await askChoice(served, request));
    const echoed = idsOf(logprobs.tokens.slice(0, ids.length));
    if (echoed.join() !== ids.join())
      throw new RollmeshError('give-up', 'remote.scores', 'The server scored other tokens than were sent.', {
        expected: 'an echo of the prompt',
      });
    const tops = (logprobs.top_logprobs ?? []).slice(1, ids.length);
    const entropy = tops.map((top) => {
      const all = Object.values(top ?? {});
      if (all.length === vocabSize) return entropyOf(all);
      const what = `The server tells ${all.length} of ${vocabSize} log-probabilities.`;
      throw new RollmeshError('give-up', 'remote.entropy', what, {
        expected: 'all of them',
        next: 'Raise the limit (vLLM: --max-logprobs -1), or score with another engine.',
      });
    });
    return { logprobs: logprobs.token_logprobs.slice(1, ids.length).map((x) => x ?? Number.NaN), entropy };
  },
};
