/** What a thought is worth: by how much it makes the digit after it likelier than a slower copy of the policy finds it without a thought. */
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import {
  isComputable,
  parsePosition,
  parseThought,
  THOUGHT_END,
  thoughtIsExact,
} from '../../worlds/documents/sums.ts';

/** The parameter set that follows the policy slowly, and predicts without thoughts. */
export const SLOW_SET = 'slow';

/** Whose prediction without a thought a gain is measured against. */
export type Baseline = 'slow' | 'frozen' | 'none';

/** A thought with its end; one that was cut off is ended for it. */
const ended = ({ ids }: Pick<Sample, 'ids'>, end: number): number[] =>
  ids.at(-1) === end ? ids : [...ids, end];

/** The log-probability of each group’s digit without a thought, nats [groups]; 0 where nobody predicts. */
export async function plainLogprobs(
  groups: readonly Pick<ScoredGroup, 'task'>[],
  baseline: Baseline,
  { score, encode }: Pick<LearnTools, 'score' | 'encode'>,
): Promise<number[]> {
  if (baseline === 'none') return groups.map(() => 0);
  const sequences = groups.map(({ task }) => {
    const { before, next } = parsePosition(task);
    return { prompt: encode(before), ids: encode(next) };
  });
  const scored = await (baseline === 'slow' ? score(SLOW_SET, sequences) : score(MAIN_SET, sequences, 0));
  return scored.map((logprobs) => logprobs[0]!);
}

/** The log-probability of the digit after each thought by the policy itself, nats [groups][samples]. */
export async function thoughtLogprobs(
  groups: readonly Pick<ScoredGroup, 'task' | 'samples'>[],
  { score, encode }: Pick<LearnTools, 'score' | 'encode'>,
): Promise<number[][]> {
  const [end] = encode(THOUGHT_END);
  const scored = await score(
    MAIN_SET,
    groups.flatMap(({ task, samples }) =>
      samples.map((sample) => ({
        prompt: [...sample.prompt, ...ended(sample, end!)],
        ids: encode(parsePosition(task).next),
      })),
    ),
  );
  const all = scored.map((logprobs) => logprobs[0]!).values();
  return groups.map(({ samples }) => samples.map(() => all.next().value!));
}

/** log p(digit after the thought) - log p(digit), nats [groups][samples]. */
export const gainsOf = (withThought: readonly (readonly number[])[], plain: readonly number[]): number[][] =>
  withThought.map((logprobs, g) => logprobs.map((logprob) => logprob - plain[g]!));

/** Whether each thought works the digit out, by the oracle [samples]; null where there is nothing to work out, or no thought. */
export const thoughtsExact = (
  { task, samples }: Pick<ScoredGroup, 'task' | 'samples'>,
  { decode }: Pick<LearnTools, 'decode'>,
): (boolean | null)[] =>
  samples.map(({ ids, outcome }) => {
    const thought = parseThought(decode(ids));
    if (outcome !== 'ok' || !thought.ok || !isComputable(task)) return null;
    return thoughtIsExact(parsePosition(task).before, thought.value);
  });

/** Mean gains at digits that can be worked out and at those that cannot, nats; a figure without such digits is left out. */
export function gainFigures(
  groups: readonly Pick<ScoredGroup, 'task'>[],
  gains: readonly (readonly number[])[],
): Record<string, number> {
  const of = (computable: boolean) =>
    gains.filter((_, g) => isComputable(groups[g]!.task) === computable).flat();
  const [gain, noise] = [of(true), of(false)];
  return {
    ...(gain.length ? { gain: mean(gain) } : {}),
    ...(noise.length ? { noiseGain: mean(noise) } : {}),
  };
}
