/**
 * Puzzles that are cut from worked solutions of arithmetic chains, for a solver that writes the whole solution:
 *
 *     fill  <solve>3+4-9<sep><step>7<step><sep>      ->  <step>7<step>-2<answer>-2<eos>   some steps are hidden
 *     sort  <solve>3+4-9<sep><step>-2<step>7<sep>    ->  the same                         the steps are shuffled
 *
 * In the warm start half of the tasks stand alone. Later steps are more often wrong, but those that a puzzle shows at their place are copied.
 */
import type { Random } from '../../core/random.ts';
import { aidedPrompt, beginning, referenceSolution, SLIP, solvedWithSlips } from './aided.ts';
import { type Demonstration, freshTask, off } from './demonstrations.ts';
import { arithmetic, writeSolution } from './family.ts';

/** Share of the steps that are hidden where steps are to be filled in, rounded up. */
const HIDDEN_SHARE = 0.5;
const ALONE_SHARE = 0.5;

export interface Puzzle {
  readonly kind: 'fill' | 'sort';
  /** What is shown beside the task. */
  readonly shown: string;
  /** The places of the steps in question [steps in question]. */
  readonly places: readonly number[];
}

/** A puzzle from the worked solution of a task: of which kind it is, and what is hidden or where it is shown, is drawn. */
export function puzzleFrom(random: Random, task: string): Puzzle {
  const { steps } = referenceSolution(task);
  const places = steps.map((_, place) => place);
  if (random.bool()) return { kind: 'sort', shown: beginning(random.shuffle(steps)), places };
  const hidden = random.shuffle(places).slice(0, Math.ceil(steps.length * HIDDEN_SHARE));
  const shown = beginning(steps.map((step, place) => (hidden.includes(place) ? '' : step)));
  return { kind: 'fill', shown, places: hidden };
}

export const puzzlePrompt = (task: string, { shown }: Pick<Puzzle, 'shown'>): string =>
  aidedPrompt(task, shown);

export function demonstratePuzzles(random: Random): Demonstration {
  const task = freshTask(random, 2 + random.int(4));
  const { stop } = arithmetic;
  if (random.bool(ALONE_SHARE)) {
    const completion = writeSolution(solvedWithSlips(random, task)) + stop;
    return { role: 'solver', prompt: arithmetic.solverPrompt(task), completion };
  }
  const puzzle = puzzleFrom(random, task);
  const steps = referenceSolution(task).steps.map((step, place) =>
    puzzle.places.includes(place) && random.bool(SLIP * (place + 1))
      ? String(off(random, Number(step)))
      : step,
  );
  return {
    role: 'solver',
    prompt: puzzlePrompt(task, puzzle),
    completion: writeSolution({ steps, answer: steps.at(-1)! }) + stop,
  };
}
