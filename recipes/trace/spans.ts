/** The tokens on which a teacher is used: the first wrong part of a wrong attempt, and the part of a right one at which others failed. */

import type { LearnTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { solutionOf } from '../../core/recipe/task-family.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import type { TaughtSample } from '../../protocols/teacher-pass.ts';
import { aidedPrompt } from '../../worlds/arithmetic/aided.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { firstFault, partOfTokens, toldUpTo } from '../../worlds/arithmetic/feedback.ts';

type Group = Pick<ScoredGroup, 'task' | 'samples'>;

/** The most frequent of some numbers, the smallest of equally frequent ones; null without numbers. */
export function commonest(numbers: readonly number[]): number | null {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const [first] = [...counts].sort(([a, inA], [b, inB]) => inB - inA || a - b);
  return first ? first[0] : null;
}

export interface Spans {
  /** Right attempts at tasks that others failed, each with its decisive part marked. */
  readonly decisive: readonly TaughtSample[];
  /** Wrong attempts, each with its first fault marked. */
  readonly faulty: readonly TaughtSample[];
}

export type Marking = 'spans' | 'whole' | 'random';

/**
 * Attempts with their teachers' prompts, and weights of 1 on the tokens of the marked part and 0 elsewhere. `random` marks a random part of the
 * attempt instead, and `whole` marks all parts; the teacher reads the same. Attempts that have no steps or do not parse are left out.
 */
export function spansOf(
  groups: readonly Group[],
  { decode, encode }: Pick<LearnTools, 'decode' | 'encode'>,
  marking: Marking,
): Spans {
  const tags = ['<step>', '<answer>'].flatMap((tag) => encode(tag));
  const decisive: TaughtSample[] = [];
  const faulty: TaughtSample[] = [];
  for (const { task, samples } of groups) {
    const solutions = samples.map((sample) => solutionOf(arithmetic, task, sample, { decode }));
    const faults = solutions.map((solution) =>
      solution.ok && solution.value.steps.length ? firstFault(task, solution.value) : null,
    );
    const fork = commonest(faults.filter((fault) => fault !== null));
    for (const [s, sample] of samples.entries()) {
      const solution = solutions[s]!;
      if (!solution.ok || solution.value.steps.length === 0) continue;
      const part = faults[s] ?? fork;
      if (part === null) continue;
      const parts = partOfTokens(sample.ids, tags);
      const marked = marking === 'random' ? new Random(`span/${sample.id}`).int(parts.at(-1)! + 1) : part;
      (faults[s] === null ? decisive : faulty).push({
        sample,
        context: encode(aidedPrompt(task, toldUpTo(task, part))),
        weights: parts.map((of) => Number(marking === 'whole' || of === marked)),
      });
    }
  }
  return { decisive, faulty };
}

/** The same marks, scaled so that the loss, which is divided by the number of all tokens, becomes a mean over the marked ones. */
export function overMarked(taught: readonly TaughtSample[]): TaughtSample[] {
  const weights = taught.flatMap((one) => one.weights ?? []);
  const marked = weights.reduce((sum, weight) => sum + weight, 0);
  const scale = marked ? weights.length / marked : 0;
  return taught.map((one) => ({ ...one, weights: one.weights!.map((weight) => weight * scale) }));
}
