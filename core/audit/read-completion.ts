/** Checks a completion without its model: could its tokens be sampled, does it end where it must, and are its log-probabilities valid? */
import type { SamplingSettings } from '../policy/policy.ts';
import { LEAST_LOGPROB } from '../schema/numbers.ts';
import type { Sample } from '../schema/sample.ts';
import { after } from '../text/token-grammar.ts';

export interface CompletionFault {
  readonly class: 'token' | 'log-probability';
  readonly message: string;
}

/** What is in the completion that no policy could have sampled under these settings; null = nothing. */
export function completionFault(
  { ids, logprobs, stopped }: Pick<Sample, 'ids' | 'logprobs' | 'stopped'>,
  { maxNew, stop, grammar }: SamplingSettings,
): CompletionFault | null {
  const token = (message: string) => ({ class: 'token', message }) as const;
  let ended = false;
  let state = 0;
  for (const [t, id] of ids.entries()) {
    if (ended) return token(`It goes on after its end, at token ${t}.`);
    if (grammar) {
      state = id < grammar.vocabSize ? after(grammar, state, id) : -1;
      if (state < 0) return token(`Its grammar allows no ${id} as token ${t}.`);
    }
    ended = stop.includes(id) || grammar?.ends[state] === true;
  }
  if (ids.length > maxNew) return token(`It has ${ids.length} tokens, and at most ${maxNew} could come.`);
  if (!ended && ids.length < maxNew) return token(`It breaks off after ${ids.length} of ${maxNew} tokens.`);
  if (stopped !== ended) return token(`Its stop flag says ${stopped}, its last token ${ended}.`);
  const wrong = logprobs.findIndex((logprob) => !(logprob <= 0 && logprob >= LEAST_LOGPROB));
  return wrong < 0
    ? null
    : {
        class: 'log-probability',
        message: `That of token ${wrong} is ${logprobs[wrong]}; float32 draws none outside ${LEAST_LOGPROB} to 0.`,
      };
}
