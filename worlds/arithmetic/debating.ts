/** How policies that were taught to read something beside a chain (aided.ts) debate: each reads one other solution, if what another wrote is one. */
import type { Wording, Wordings } from '../../core/game/game.ts';
import { invalid, ok, type ParseResult, type Solution } from '../../core/recipe/task-family.ts';
import { aidedPrompt } from './aided.ts';
import { arithmetic } from './family.ts';

const { stop } = arithmetic;
const { solver: maxNew } = arithmetic.maxNew;

const solutionIn = (task: string, said: string): ParseResult<Solution> =>
  arithmetic.parseSolution(task, said + stop);

const promptBeside = (task: string, said: string): string =>
  solutionIn(task, said).ok ? aidedPrompt(task, said) : arithmetic.solverPrompt(task);

/** What a text says, if it is a solution. */
const read =
  <A extends { readonly task: string }, T>(says: (written: string, solution: Solution, about: A) => T) =>
  (text: string, about: A): ParseResult<T> => {
    const solution = arithmetic.parseSolution(about.task, text);
    return solution.ok
      ? ok(says(text.slice(0, -stop.length), solution.value, about))
      : invalid(solution.reason);
  };

export const debatingWords: Wordings<'debate' | 'review' | 'score'> = {
  debate: {
    maxNew,
    ask: ({ task, remarks }) => promptBeside(task, remarks.findLast(({ by }) => by !== 'self')?.text ?? ''),
    read: read((_, solution) => solution),
  },
  /** A critic writes the solution that it thinks right. */
  review: {
    maxNew,
    ask: ({ task, attempt }) => promptBeside(task, attempt),
    read: read((written) => written),
  },
  /** Who scores an answer solves the task, too: the answer is right if it is his, and wrong if the critic's is. */
  score: {
    maxNew,
    ask: ({ task, response }) => promptBeside(task, response),
    read: read((_, { answer }, { task, response, review }) => {
      const [scored, critics] = [solutionIn(task, response), solutionIn(task, review)];
      if (scored.ok && scored.value.answer === answer) return 1;
      return critics.ok && critics.value.answer === answer ? 0 : 0.5;
    }),
  } satisfies Wording<'score'>,
};
