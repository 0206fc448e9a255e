/** Questions of files as a game on which a recipe's own shape of round can be played in place of its task family. */
import type { Recipe, RoundShape } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import type { Proposal, Request } from '../proposals.ts';
import type { DrawingContext } from './curriculum.ts';
import { drawQuestions, type Needs, verified } from './draw.ts';
import { questionFamily } from './family.ts';
import { type Example, knownQuestions, type ParseProposal, proposeLike } from './propose.ts';
import type { Questions } from './round.ts';
import { questionTitle } from './task-text.ts';

export interface QuestionGame {
  readonly family: TaskFamily;
  /**
   * `count` questions for a round, none twice and none held out; by default as many as the run's settings say. `needs`: what each question must fit
   * into the context with; default an answer.
   */
  readonly tasks: (context: DrawingContext, count?: number, needs?: Needs) => Proposals;
  /** The same where a verifier reads the solutions: question, solution and verdict must fit into the context together. */
  readonly verifiedTasks: (context: DrawingContext) => Proposals;
  /** Questions that a role writes by the example of others. `needs`: default what a verifier needs. */
  readonly propose: (
    context: RoundContext,
    role: string,
    examples: readonly Example[],
    needs?: Needs,
  ) => Promise<Proposal<Example & Request>[]>;
  /** Longest answer in tokens, its end included. */
  readonly maxNew: number;
}

export const questionGame = (
  questions: Pick<Questions, 'name' | 'tasks' | 'checker' | 'extract' | 'maxNew' | 'examined'> & {
    /** Computes the answers to questions that a policy writes; by default these are not known. */
    readonly parseProposal?: ParseProposal | undefined;
  },
): QuestionGame => {
  const { tasks, maxNew, parseProposal } = questions;
  const known = knownQuestions(tasks);
  const draw: QuestionGame['tasks'] = (context, count = context.round.settings.tasks, needs) =>
    drawQuestions(context, {
      sources: tasks.sources,
      maxNew,
      count,
      ...(needs ? { needs } : {}),
      weightOf: context.weightOf,
    });
  return {
    family: questionFamily(questions),
    maxNew,
    tasks: draw,
    verifiedTasks: (context) => draw(context, undefined, verified(maxNew)),
    propose: (context, role, examples, needs = verified(maxNew)) =>
      proposeLike(context, role, examples, { known, needs, parseProposal }),
  };
};

/** How a recipe that has a task family of its own is played on questions of files, and what a run on them cannot change, in words. */
export interface RecipeOnQuestions {
  readonly make: (game: QuestionGame) => Recipe;
  /** Why it takes no weighted sum of rewards: its reward is a part of its method. */
  readonly ownReward?: string;
  /** Why it takes no curriculum: it does not choose among the questions that it trains on. */
  readonly ownOrder?: string;
  /** What a curriculum compares the answers of a group by, where that is not their reward as it is and the run pays no weighted sum. */
  readonly compared?: (reward: number) => number;
}

/**
 * A recipe with another shape of round, played on questions. It loses its stop token, which belongs to its own family's
 * notation.
 */
export function onQuestions(
  { stop: _stop, ...recipe }: Recipe,
  shape: RoundShape & Partial<Pick<Recipe, 'learn' | 'payProposals'>>,
): Recipe {
  return { ...recipe, ...shape, describe: { ...shape.describe, title: questionTitle } };
}
