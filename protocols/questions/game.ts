/** Questions of files as a game that a recipe's own shape of round can be played on, in place of its task family. */
import { Random } from '../../core/random.ts';
import type { Recipe, RoundShape } from '../../core/recipe.ts';
import type { RoundContext } from '../../core/round-context.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import type { TaskFamily } from '../../core/task-family.ts';
import { drawFileTasks } from '../../tasks/file/sampler.ts';
import { admitTasks } from '../drawn-tasks.ts';
import { questionFamily } from './family.ts';
import type { Questions } from './round.ts';
import { writeTask } from './task-text.ts';

export interface QuestionGame {
  readonly family: TaskFamily;
  /** `count` questions for a round, none twice and none held out; as many as the run's settings say if it is not given. */
  readonly tasks: (context: RoundContext, count?: number) => Proposals;
  /** Longest answer in tokens, its end included. */
  readonly maxNew: number;
}

export const questionGame = (
  questions: Pick<Questions, 'name' | 'tasks' | 'checker' | 'extract' | 'maxNew' | 'examined'>,
): QuestionGame => ({
  family: questionFamily(questions),
  maxNew: questions.maxNew,
  tasks: ({ round }, count = round.settings.tasks) => {
    const random = new Random(`${round.id}/tasks`);
    return admitTasks(round, drawFileTasks(random, questions.tasks.sources, count).map(writeTask));
  },
});

/** A recipe with another shape of round, played on questions: its claim was measured on its own family, and its stop is of that notation. */
export function onQuestions(
  { claim: _claim, stop: _stop, ...recipe }: Recipe,
  shape: RoundShape & Partial<Pick<Recipe, 'learn'>>,
): Recipe {
  return { ...recipe, ...shape };
}
