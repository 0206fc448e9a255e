/**
 * Arithmetic chains for a solver, and for a writer that reads a solution and its task and writes another task with the same answer:
 *
 *     solver  <solve>3+4-9-1+2+0<sep>                  ->  <step>7<step>-2 … <answer>-1<eos>
 *     writer  <propose>solution<sep>3+4-9-1+2+0<sep>   ->  3+4-1-9+2+0<eos>   two neighbouring terms in the other order
 *                                                      ->  7-9-1+2+0<eos>     the total of the first terms in their place
 *
 * In the warm start the solver's later steps are more often wrong. Three of four tasks of the writer have as many sums as the task that it reads, and
 * the others fewer, which are easier. The writer only reads tasks of `VARIED_SUMS` sums.
 */
import type { Wordings } from '../../core/game/game.ts';
import type { Random } from '../../core/random.ts';
import { invalid, type Solution } from '../../core/recipe/task-family.ts';
import { referenceSolution, solvedWithSlips } from './aided.ts';
import { type Demonstration, freshTask } from './demonstrations.ts';
import { arithmetic, runningTotals, writeSolution } from './family.ts';

/** Sums in a task that the writer reads. */
export const VARIED_SUMS = 5;
const SOLVER_SHARE = 0.3;
/** Share of the writer's tasks that have as many sums as the task that it reads. */
const AS_LONG_SHARE = 0.75;

/** What the writer is shown. */
export const variationPrompt = (solution: Solution, task: string): string =>
  `<propose>${writeSolution(solution)}<sep>${task}<sep>`;

/** A variation is any other chain: whether it has the same answer is seen by the answers that it gets. */
export const variationWords: Wordings<'derive'> = {
  derive: {
    maxNew: arithmetic.maxNew.proposer + 2,
    ask: ({ task, solution }) => variationPrompt(solution, task),
    read: (text, { task }) => {
      const parsed = arithmetic.parseProposal(text);
      return parsed.ok && parsed.value === task ? invalid('duplicate') : parsed;
    },
  },
};

/** The numbers of a task with their signs: `3+4-9` -> `+3`, `+4`, `-9`. */
const termsOf = (task: string): string[] => `+${task}`.match(/[+-]\d/g)!;

/** The task with each two neighbouring terms in the other order; a task has no sign before its first number. */
const reordered = (task: string): string[] => {
  const terms = termsOf(task);
  return terms
    .slice(1)
    .map((term, i) => terms.with(i, term).with(i + 1, terms[i]!))
    .filter(([first]) => first!.startsWith('+'))
    .map((chain) => chain.join('').slice(1));
};

/** The task with the total of its first terms in their place, for each that is a digit, the whole chain excepted. */
const shortened = (task: string): string[] =>
  runningTotals(task)
    .slice(0, -1)
    .flatMap((total, i) => (total >= 0 && total <= 9 ? [`${total}${task.slice(2 * i + 3)}`] : []));

/** Other tasks with the same answer as a task, none held out, which the writer may be taught: as long ones, or shorter ones. */
export const variationsOf = (task: string, asLong: boolean): string[] =>
  (asLong ? reordered(task) : shortened(task)).filter(
    (variation) => variation !== task && !arithmetic.isHeldOut(variation),
  );

/** A task with a variation of it; some tasks, such as 9+9+9+9+9+9, have none. */
function varied(random: Random): { readonly task: string; readonly variation: string } {
  const asLong = random.bool(AS_LONG_SHARE);
  for (;;) {
    const task = freshTask(random, VARIED_SUMS);
    const variations = variationsOf(task, asLong);
    if (variations.length) return { task, variation: random.pick(variations) };
  }
}

export function demonstrateVariations(random: Random): Demonstration {
  const { stop } = arithmetic;
  if (random.bool(SOLVER_SHARE)) {
    const task = freshTask(random, 2 + random.int(4));
    return {
      role: 'solver',
      prompt: arithmetic.solverPrompt(task),
      completion: writeSolution(solvedWithSlips(random, task)) + stop,
    };
  }
  const { task, variation } = varied(random);
  return {
    role: 'writer',
    prompt: variationPrompt(referenceSolution(task), task),
    completion: variation + stop,
  };
}
