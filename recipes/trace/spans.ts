/** Where a teacher is heard: at the first wrong part of a wrong attempt, and at the part of a right one at which others failed. */
import { Random } from '../../core/random.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { solutionOf } from '../../core/task-family.ts';
import type { LearnTools } from '../../core/training-plan.ts';
import type { TaughtSample } from '../../protocols/teacher-pass.ts';
import { aidedPrompt } from '../../tasks/arithmetic/aided.ts';
import { arithmetic } from '../../tasks/arithmetic/family.ts';
import { firstFault, partOfTokens, toldUpTo } from '../../tasks/arithmetic/feedback.ts';

type Group = Pick<ScoredGroup, 'task' | 'samples'>;

/** The commonest of some numbers, among equals the smallest; null of none. */
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
 * Attempts with their teachers' prompts, and weights of 1 at the tokens of the marked part and 0 elsewhere. `random` marks a part of the
 * attempt by lot in its place, and `whole` all of them; what the teacher is told is the same. Attempts without steps, or out of form, are left out.
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

/** The same marks, as large as makes the loss a mean over marked tokens: it is divided by the number of all. */
export function overMarked(taught: readonly TaughtSample[]): TaughtSample[] {
  const weights = taught.flatMap((one) => one.weights ?? []);
  const marked = weights.reduce((sum, weight) => sum + weight, 0);
  const scale = marked ? weights.length / marked : 0;
  return taught.map((one) => ({ ...one, weights: one.weights!.map((weight) => weight * scale) }));
}
