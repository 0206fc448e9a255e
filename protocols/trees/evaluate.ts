/**
 * What a search is worth at equal tokens: held-out tasks are answered by the tree, and beside it samples are drawn until they have taken as many tokens, of
 * which most decide, or whatever estimates the tree's nodes chooses.
 */
import { deriveId } from '../../core/random.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { rankCorrelation } from '../../core/rl/measures/rank-correlation.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { evaluateSolver } from '../evaluate/solver.ts';
import { within } from '../evaluate/within-context.ts';
import { answersOf, bestAnswer, type Node, type Tree } from './grow.ts';
import { searchTasks, type TreeGame, type TreeSearch } from './stage.ts';

/** How many held-out tasks are searched. */
const SEARCHED = 48;
/** The budget of a search, in answers of the longest length. */
const ANSWERS = 8;

/** What the figures of `evaluateTrees` mean. */
export const TREE_FIGURES = {
  searched: 'Share of held-out tasks whose answer by the tree is exact.',
  bestOfN:
    'Share of them at which the sample is exact that the tree’s estimate calls best, among as many as take the tree’s tokens.',
  voted: 'Share of them at which the answer that most of these samples give is exact.',
  searchTokens: 'Mean tokens that a tree drew.',
  sampleTokens: 'Mean tokens of the samples beside it.',
  rankCorrelation:
    'Rank correlation of the estimates of these answers with whether they are exact; absent where all are alike.',
} as const;

/** A tree and samples for each task, within the same budget. */
export async function searchHeldOut(
  game: TreeGame,
  context: EvaluationContext,
  role: string,
  search: (stage: RoundContext) => TreeSearch,
  { tasks, budget, seed = '' }: { readonly tasks: readonly string[]; readonly budget: number; seed?: string },
): Promise<{ readonly trees: Tree<null>[]; readonly sampled: Tree<null>[] }> {
  const stage = within(context);
  const asked = (way: string) =>
    tasks.map((task) => ({ group: deriveId('evaluate', way + seed, task), task }));
  const how = search(stage);
  // One at a time, so that samples do not go further beyond the budget than the tree does.
  const { rollOut: _, ...more } = how;
  const sampling = { ...more, branching: { least: 1, most: 1 }, whole: true };
  return {
    trees: await searchTasks(game, stage, role, asked('tree'), how, budget),
    sampled: await searchTasks(game, stage, role, asked('samples'), sampling, budget),
  };
}

/** Whether an answer is exact; false where it is none. */
export const exactness = (game: TreeGame, context: Pick<RoundContext, 'tokenizer' | 'renderer'>) => {
  const family = rendered(game.family, context);
  const read = (task: string, node: Node<null> | null) => {
    const parsed = node && family.parseSolution(task, context.tokenizer.decode(node.ids));
    return parsed?.ok ? parsed.value : null;
  };
  return {
    isExact: (task: string, node: Node<null> | null): boolean => {
      const solution = read(task, node);
      return solution !== null && family.answerIsExact(task, solution);
    },
    /** The answer that most draws of a tree give is exact. */
    isVoted: (task: string, { draws }: Tree<null>): boolean => {
      const solutions = draws.map(({ node }) => (node.standing === 'ended' ? read(task, node) : null));
      const won = majority(solutions.map((solution) => solution?.answer ?? null))?.answer;
      const winner = solutions.find((solution) => solution?.answer === won);
      return winner ? family.answerIsExact(task, winner) : false;
    },
  };
};

/** How a role answers held-out tasks alone, and how the first of them are answered by search. */
export async function evaluateTrees(
  game: TreeGame & { readonly tests: (asked: EvaluationContext['evaluationTasks']) => readonly string[] },
  context: EvaluationContext,
  role: string,
  search: (stage: RoundContext) => TreeSearch,
): Promise<Evaluation> {
  const all = game.tests(context.evaluationTasks);
  const tasks = all.slice(0, SEARCHED);
  const budget = ANSWERS * game.words.solve.maxNew;
  const { trees, sampled } = await searchHeldOut(game, context, role, search, { tasks, budget });
  const { isExact, isVoted } = exactness(game, context);
  const share = (test: (task: string, t: number) => boolean) =>
    mean(tasks.map((task, t) => Number(test(task, t))));
  const answers = sampled.flatMap((tree, t) =>
    answersOf(tree).flatMap((node) =>
      node.estimate === null ? [] : [{ estimate: node.estimate, exact: isExact(tasks[t]!, node) }],
    ),
  );
  const correlation = rankCorrelation(
    answers.map(({ estimate }) => estimate),
    answers.map(({ exact }) => Number(exact)),
  );
  return evaluation(
    await evaluateSolver(context, { family: game.family, role, temperature: 1, tasks: all }),
    {
      searched: share((task, t) => isExact(task, bestAnswer(trees[t]!))),
      bestOfN: share((task, t) => isExact(task, bestAnswer(sampled[t]!))),
      voted: share((task, t) => isVoted(task, sampled[t]!)),
      searchTokens: mean(trees.map(({ tokens }) => tokens)),
      sampleTokens: mean(sampled.map(({ tokens }) => tokens)),
      ...(correlation === null ? {} : { rankCorrelation: correlation }),
    },
  );
}
