/** What the teacher of an attempt at an arithmetic chain reads: a right solution by a sibling, or what the checker says of the attempt (SDPO, arXiv:2601.20802). */
import type { ScoredGroup } from '../core/schema/sample.ts';
import { solutionOf } from '../core/task-family.ts';
import type { LearnTools } from '../core/training-plan.ts';
import { aidedPrompt } from '../tasks/arithmetic/aided.ts';
import { arithmetic } from '../tasks/arithmetic/family.ts';
import { feedbackOn, firstFault, partOfTokens } from '../tasks/arithmetic/feedback.ts';
import type { TaughtSample } from './teacher-pass.ts';

/** What may be told: both, where a sibling goes before feedback, or one of the two. */
export type Told = 'both' | 'sibling' | 'feedback';

type Group = Pick<ScoredGroup, 'task' | 'samples'>;
type Texts = Pick<LearnTools, 'decode' | 'encode'>;

/** A solution without its stop token, as an aid. */
const textOf = (text: string): string => text.slice(0, -arithmetic.stop!.length);

/** The text that goes beside the task for an attempt’s teacher; null where there is nothing to tell. */
export function aidFor(
  group: Group,
  sample: number,
  tools: Pick<Texts, 'decode'>,
  { told, checked }: { readonly told: Told; readonly checked: boolean },
): string | null {
  const paid = group.samples.map(({ rewards: { reward } }) => (reward ?? 0) > 0);
  const sibling = told === 'feedback' ? -1 : paid.findIndex((isPaid, i) => isPaid && i !== sample);
  if (sibling >= 0) return textOf(tools.decode(group.samples[sibling]!.ids));
  // Only a run that is paid by the checker hears what the checker says.
  if (told === 'sibling' || !checked || paid[sample]) return null;
  const attempt = solutionOf(arithmetic, group.task, group.samples[sample]!, tools);
  return attempt.ok ? feedbackOn(group.task, attempt.value) : null;
}

/** An attempt with its teacher’s prompt, its task, and its first fault by the oracle, as the part that each token belongs to. */
export interface TaughtAttempt extends TaughtSample {
  readonly sample: ScoredGroup['samples'][number];
  /** Is the token of the first wrong part [ids]? Null for an attempt that is exact or out of form. */
  readonly atFault: readonly boolean[] | null;
  readonly exact: boolean;
}

/** The attempts of a round for whose teachers there is something to tell. `shuffled`: they are told it of the next group’s task. */
export function taughtAttempts(
  groups: readonly Group[],
  tools: Texts,
  how: { readonly told: Told; readonly checked: boolean; readonly shuffled: boolean },
): TaughtAttempt[] {
  const tags = ['<step>', '<answer>'].flatMap((tag) => tools.encode(tag));
  return groups.flatMap((group, g) =>
    group.samples.flatMap((sample, s): TaughtAttempt[] => {
      const from = how.shuffled ? groups[(g + 1) % groups.length]! : group;
      const aid = from.samples[s] && sample.ids.length ? aidFor(from, s, tools, how) : null;
      if (aid === null) return [];
      const solution = solutionOf(arithmetic, group.task, sample, tools);
      const fault = solution.ok ? firstFault(group.task, solution.value) : null;
      return [
        {
          sample,
          context: tools.encode(aidedPrompt(group.task, aid)),
          atFault: fault === null ? null : partOfTokens(sample.ids, tags).map((part) => part === fault),
          exact: solution.ok && fault === null,
        },
      ];
    }),
  );
}
