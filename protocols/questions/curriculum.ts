/**
 * A curriculum by measured pass rate. Where all answers in a question's newest group earned the same, all right or all wrong, the question has
 * nothing to teach a method that compares the answers of a group, and it is drawn less often; so is one whose mean reward lies outside bounds, where
 * the settings name some. A version carries which questions those are.
 */
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import type { DrawingContext } from '../../core/game/game.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { textKey } from '../../worlds/questions/task-text.ts';

export const curriculumSettings = v.strictObject({
  /** How often a question whose newest group was unanimous is drawn, beside 1 for every other; 0 = only where no other is left. */
  unanimousWeight: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  /** A question counts as unanimous, too, where the mean reward of its newest group, which is the pass rate of a 0/1 reward, is below or above these. */
  lowest: v.exactOptional(v.pipe(v.number(), v.finite())),
  highest: v.exactOptional(v.pipe(v.number(), v.finite())),
});
export type Curriculum = v.InferOutput<typeof curriculumSettings>;

/** What a version carries: the keys of questions whose newest group was unanimous, in their order. */
const curriculumState = v.object({ unanimous: v.array(v.string()) });
type CurriculumState = v.InferOutput<typeof curriculumState>;

/** The weight with which each question is drawn, by its key, given what the last version left. */
export function weightsBy({ unanimousWeight }: Curriculum, recipeState: unknown): (key: string) => number {
  const unanimous = new Set(readState(curriculumState, recipeState)?.unanimous);
  return (key) => (unanimous.has(key) ? unanimousWeight : 1);
}

type Paid = Pick<ScoredGroup, 'task'> & {
  readonly samples: readonly Pick<ScoredGroup['samples'][number], 'rewards'>[];
};

/** What the next version carries. A group with fewer than two known rewards changes nothing about its question. */
export function curriculumAfter(
  recipeState: unknown,
  groups: readonly Paid[],
  {
    lowest = Number.NEGATIVE_INFINITY,
    highest = Number.POSITIVE_INFINITY,
  }: Pick<Curriculum, 'lowest' | 'highest'> = {},
): CurriculumState {
  const unanimous = new Set(readState(curriculumState, recipeState)?.unanimous);
  for (const { task, samples } of groups) {
    const rewards = samples.flatMap(({ rewards: { reward } }) => reward ?? []);
    if (rewards.length < 2) continue;
    const rate = mean(rewards);
    if (rewards.every((reward) => reward === rewards[0]) || rate < lowest || rate > highest)
      unanimous.add(textKey(task));
    else unanimous.delete(textKey(task));
  }
  return { unanimous: [...unanimous].sort() };
}

/**
 * The recipe with its questions drawn by the rewards of their newest groups. A version carries the recipe's own state beside the curriculum's, under
 * `own`. `paid`: the value of a reward by which a group is called unanimous; default the reward itself.
 */
export function withCurriculum(
  recipe: Recipe,
  curriculum: Curriculum,
  paid: (reward: number) => number = (reward) => reward,
): Recipe {
  const { state: own } = recipe;
  const { lowest, highest } = curriculum;
  if (lowest !== undefined && highest !== undefined && lowest > highest)
    throw wrongInput('run.setting', `curriculum.lowest is ${lowest} and curriculum.highest ${highest}.`, {
      expected: 'a lowest mean reward that is at most the highest',
    });
  const state = v.object({
    ...curriculumState.entries,
    own: v.exactOptional(v.custom<unknown>((value) => own !== undefined && v.is(own, value))),
  });
  const ownOf = (recipeState: unknown): unknown => readState(state, recipeState)?.own;
  const inner = <C extends RoundContext>(context: C): C => ({
    ...context,
    recipeState: async () => ownOf(await context.recipeState()),
  });
  const { payProposals } = recipe;
  return {
    ...recipe,
    state,
    figures: {
      ...recipe.figures,
      knownUnanimous:
        'Number of questions whose newest group was all right or all wrong, or outside the bounds of the curriculum.',
    },
    propose: async (context) => {
      const drawing: DrawingContext = {
        ...inner(context),
        weightOf: weightsBy(curriculum, await context.recipeState()),
      };
      return recipe.propose(drawing);
    },
    rollOut: (context, tasks) => recipe.rollOut(inner(context), tasks),
    judge: (context, groups) => recipe.judge(inner(context), groups),
    evaluate: (context) => recipe.evaluate(inner(context)),
    ...(payProposals
      ? {
          payProposals: (records, tools) =>
            payProposals({ ...records, recipeState: ownOf(records.recipeState) }, tools),
        }
      : {}),
    learn: async (records, tools) => {
      const plan = await recipe.learn({ ...records, recipeState: ownOf(records.recipeState) }, tools);
      const counted = records.groups.map(({ task, samples }) => ({
        task,
        samples: samples.map(({ rewards: { reward } }) => ({
          rewards: { reward: typeof reward === 'number' ? paid(reward) : null },
        })),
      }));
      const { unanimous } = curriculumAfter(records.recipeState, counted, curriculum);
      // A plan without a state leaves the recipe's own as it was.
      const own = plan.recipeState ?? ownOf(records.recipeState);
      return {
        ...plan,
        recipeState: {
          unanimous,
          ...(own === undefined ? {} : { own }),
        },
        figures: { ...plan.figures, knownUnanimous: unanimous.length },
      };
    },
  };
}
