/** Questions of files as a game that a recipe's own shape of round can be played on, in place of its task family. */
import type { Recipe, RoundShape } from '../../core/recipe.ts';
import { verifierMessages } from '../../core/renderer/role-messages.ts';
import type { RoundContext } from '../../core/round-context.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import type { TaskFamily } from '../../core/task-family.ts';
import { drawQuestions } from './draw.ts';
import { questionFamily } from './family.ts';
import type { Questions } from './round.ts';

export interface QuestionGame {
  readonly family: TaskFamily;
  /** `count` questions for a round, none twice and none held out; as many as the run's settings say if it is not given. */
  readonly tasks: (context: RoundContext, count?: number) => Proposals;
  /** The same where a verifier reads the solutions: question, solution and verdict have to fit together. */
  readonly verifiedTasks: (context: RoundContext) => Proposals;
  /** Longest answer in tokens, its end included. */
  readonly maxNew: number;
}

export const questionGame = (
  questions: Pick<Questions, 'name' | 'tasks' | 'checker' | 'extract' | 'maxNew' | 'examined'>,
): QuestionGame => ({
  family: questionFamily(questions),
  maxNew: questions.maxNew,
  tasks: (context, count = context.round.settings.tasks) =>
    drawQuestions(context, { sources: questions.tasks.sources, maxNew: questions.maxNew, count }),
  verifiedTasks: (context) =>
    drawQuestions(context, {
      sources: questions.tasks.sources,
      maxNew: questions.maxNew,
      count: context.round.settings.tasks,
      needs: (messages) => ({ messages: verifierMessages(messages, ''), tokens: 2 * questions.maxNew }),
    }),
});

/** A recipe with another shape of round, played on questions: its claim was measured on its own family, and its stop is of that notation. */
export function onQuestions(
  { claim: _claim, stop: _stop, ...recipe }: Recipe,
  shape: RoundShape & Partial<Pick<Recipe, 'learn'>>,
): Recipe {
  return { ...recipe, ...shape };
}
