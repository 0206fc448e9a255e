/** Checks a server's answers against what was asked of it, since answers of another machine are untrusted input. */
import { RollmeshError } from '../../core/errors.ts';
import type { Completion, TokenIds, TokenScores } from '../../core/policy/policy.ts';
import { LEAST_LOGPROB } from '../../core/schema/numbers.ts';

/** How far, in nats, a server's rounding may put a log-probability above 0; such a value is taken for 0. */
const ROUNDING = 1e-4;

const invalid = (code: string, what: string, expected: string) =>
  new RollmeshError('give-up', code, what, {
    expected,
    next: 'Check that the server serves this very model, with its vocabulary.',
  });

/** Checks that no log-probability (nats) is above 0. That of a drawn token must be one that float32 can draw; a scored token may have probability 0. */
function checkedLogprobs(logprobs: readonly number[], drawn: boolean): number[] {
  const wrong = logprobs.findIndex((x) => !(x <= ROUNDING) || (drawn && !(x >= LEAST_LOGPROB)));
  if (wrong >= 0)
    throw invalid(
      'remote.logprob',
      `The log-probability of token ${wrong} is ${logprobs[wrong]}.`,
      drawn ? `a number from ${LEAST_LOGPROB} to 0` : 'a number of at most 0',
    );
  return logprobs.map((x) => Math.min(0, x));
}

/** Checks a completion. @throws RollmeshError `remote.tokens`, `remote.completion` or `remote.logprob` */
export function checkedCompletion(
  { ids, logprobs, stopped }: Completion,
  {
    vocabSize,
    maxNew,
    stop,
  }: { readonly vocabSize: number; readonly maxNew: number; readonly stop: TokenIds },
): Completion {
  const unknown = ids.find((id) => !Number.isSafeInteger(id) || id < 0 || id >= vocabSize);
  if (unknown !== undefined)
    throw invalid('remote.tokens', `The server drew token ${unknown}.`, `an id from 0 to ${vocabSize - 1}`);
  const end = ids.findIndex((id) => stop.includes(id));
  const whole = stopped ? end === ids.length - 1 && end >= 0 : end < 0 && ids.length === maxNew;
  if (ids.length > maxNew || !whole || logprobs.length !== ids.length)
    throw invalid(
      'remote.completion',
      `A completion of ${ids.length} tokens with ${logprobs.length} log-probabilities ${stopped ? 'ended by itself' : 'was cut off'}.`,
      `${maxNew} tokens, or fewer of which the last is the only stop token`,
    );
  return { ids, logprobs: checkedLogprobs(logprobs, true), stopped };
}

/** Checks the scores of a sequence. @throws RollmeshError `remote.scores` or `remote.logprob` */
export function checkedScores(
  { logprobs, entropy }: TokenScores,
  ids: TokenIds,
  vocabSize: number,
): TokenScores {
  const count = ids.length - 1;
  if (logprobs.length !== count || entropy.length !== count)
    throw invalid(
      'remote.scores',
      `${logprobs.length} log-probabilities and ${entropy.length} entropies came for ${ids.length} tokens.`,
      `${count} of each`,
    );
  const most = Math.log(vocabSize);
  const wrong = entropy.findIndex((x) => !(x >= -ROUNDING && x <= most + ROUNDING));
  if (wrong >= 0)
    throw invalid(
      'remote.scores',
      `The entropy at token ${wrong} is ${entropy[wrong]}.`,
      `from 0 to ${most} nats`,
    );
  return { logprobs: checkedLogprobs(logprobs, false), entropy };
}
