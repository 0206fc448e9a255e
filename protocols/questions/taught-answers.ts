/**
 * Answers to questions of files, for a teacher that reads a right solution by a sibling after the question (SDPO, arXiv:2601.20802). What is right
 * follows from the rewards, so that no reference answer is shown to anybody.
 */
import type { Renderer } from '../../core/renderer/renderer.ts';
import { solvedMessages } from '../../core/renderer/role-messages.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { type SolverGame, solverAlone } from '../solver.ts';
import type { TaughtAttempt } from '../taught-attempts.ts';
import type { Needs } from './draw.ts';
import type { QuestionGame } from './game.ts';
import { readTask } from './task-text.ts';

/** What a question needs where a teacher reads a solution and scores an answer of at most `maxNew` tokens each. */
const solved =
  (maxNew: number): Needs =>
  (messages) => ({ messages: solvedMessages(messages, ''), tokens: 2 * maxNew });

/** A solver alone over questions that leave its teacher room for a solution. */
export const taughtSolver = ({ family, maxNew, tasks }: QuestionGame, rewards: SolverGame['rewards']) =>
  solverAlone({ family, maxNew, rewards, tasks: (context) => tasks(context, undefined, solved(maxNew)) });

/** How a recipe with a teacher differs from its paper on questions of files. */
export const SIBLINGS_ALONE =
  'The teacher is told nothing but a right solution by a sibling: a checker of answers has no feedback that says more than right or wrong. Where no sibling is right there is nothing to tell.';

/** The text of the first answer that is paid, other than number `sample`; null where there is none, or where it holds the border of a message. */
function siblingOf({ samples }: Pick<ScoredGroup, 'samples'>, sample: number, renderer: Renderer) {
  const sibling = samples.find(({ rewards: { reward } }, i) => i !== sample && (reward ?? 0) > 0);
  if (!sibling) return null;
  const { text } = renderer.read(sibling.prompt, sibling.ids);
  return renderer.holdsControl(text) ? null : text;
}

/** The answers of a round whose teachers have something to read. `shuffled`: each teacher reads what belongs to the next group's question. */
export const taughtAnswers = (
  groups: readonly Pick<ScoredGroup, 'task' | 'samples' | 'answersExact'>[],
  renderer: Renderer,
  { shuffled = false }: { readonly shuffled?: boolean } = {},
): TaughtAttempt[] =>
  groups.flatMap(({ task, samples, answersExact }, g) => {
    const { messages } = readTask(task);
    const from = shuffled ? groups[(g + 1) % groups.length]! : { samples };
    return samples.flatMap((sample, s): TaughtAttempt[] => {
      const solution = sample.ids.length ? siblingOf(from, s, renderer) : null;
      if (solution === null) return [];
      const context = renderer.begin(solvedMessages(messages, solution)).ids;
      return [{ sample, context, atFault: null, exact: answersExact[s] === true }];
    });
  });
