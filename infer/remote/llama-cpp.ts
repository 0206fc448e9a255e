/**
 * The dialect of llama.cpp's llama-server. It gives each token with its id and log-probability, but cannot stop at token ids other
 * than the model's own end, and cannot echo a prompt. So a completion is cut after its first stop token here, and a sequence is
 * scored by asking for one token after each of its prefixes, which the server's cache makes cheap.
 */
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import { finite } from '../../core/schema/numbers.ts';
import { askChoice, type Dialect, entropyOf } from './dialect.ts';
import { checked } from './server.ts';

const raw = v.object({ id: finite, logprob: finite });
const processed = v.object({ id: finite, prob: finite });
const top = v.object({ top_logprobs: v.array(raw) });
const choiceOf = <Token extends v.GenericSchema>(token: Token) =>
  v.object({ finish_reason: v.nullable(v.string()), logprobs: v.object({ content: v.array(token) }) });

const written = choiceOf(
  v.union([
    raw,
    v.pipe(
      processed,
      v.transform(({ id, prob }) => ({ id, logprob: Math.log(prob) })),
    ),
  ]),
);
const scored = choiceOf(top);

/** Switches off the samplers that the server applies by default. */
const PLAIN = { min_p: 0, typical_p: 1, repeat_penalty: 1, samplers: ['top_k', 'top_p', 'temperature'] };

export const llamaCpp: Dialect = {
  async complete(served, { ids, maxNew, draw, stop, seed, processed }) {
    const made = await askChoice(served, {
      ...PLAIN,
      prompt: ids,
      max_tokens: maxNew,
      temperature: draw.temperature,
      top_p: draw.topP,
      top_k: draw.topK,
      logprobs: 1,
      post_sampling_probs: processed,
      seed,
    });
    const { logprobs, finish_reason: reason } = checked(written, made);
    const end = logprobs.content.findIndex(({ id }) => stop.includes(id));
    const kept = end < 0 ? logprobs.content : logprobs.content.slice(0, end + 1);
    if (end < 0 && kept.length < maxNew) {
      const what = `A completion of ${kept.length} of ${maxNew} tokens ended with ${reason}, and with no stop token.`;
      throw new RollmeshError('give-up', 'remote.completion', what, {
        expected: 'the end of the model among the stop tokens',
        next: `Add the model’s end-of-text token to the stop tokens (the last one was ${kept.at(-1)?.id}).`,
      });
    }
    return { ids: kept.map(({ id }) => id), logprobs: kept.map(({ logprob }) => logprob), stopped: end >= 0 };
  },

  async score(served, ids, vocabSize) {
    const logprobs: number[] = [];
    const entropy: number[] = [];
    for (let at = 1; at < ids.length; at++) {
      const request = {
        ...PLAIN,
        prompt: ids.slice(0, at),
        max_tokens: 1,
        temperature: 1,
        logprobs: vocabSize,
      };
      const [next] = checked(scored, await askChoice(served, request)).logprobs.content;
      const known = new Map(next?.top_logprobs.map(({ id, logprob }) => [id, logprob]));
      if (known.size !== vocabSize) {
        const what = `The server tells ${known.size} of ${vocabSize} log-probabilities.`;
        throw new RollmeshError('give-up', 'remote.entropy', what, {
          expected: 'one for each token of the vocabulary',
          next: 'Check vocabSize, or score with another engine.',
        });
      }
      logprobs.push(known.get(ids[at]!) ?? Number.NEGATIVE_INFINITY);
      entropy.push(entropyOf([...known.values()]));
    }
    return { logprobs, entropy };
  },
};
