/**
 * Runs the stages of a round: propose, roll out, judge. Each is the recipe's own function; what it measured is added to the records that it returns.
 * The mesh runs them with queues, group by group, with the same result as all three in one process.
 */
import type { Recipe } from '../recipe/recipe.ts';
import type { StageRecipe } from '../recipe/role.ts';
import type { RoundContext } from '../recipe/round-context.ts';
import type { Measurements } from '../schema/measurement.ts';
import type { AdmittedTask, Proposals, RolloutGroup, ScoredGroup } from '../schema/sample.ts';

type Proposing = Pick<Recipe, 'propose'>;
type Judging = Pick<Recipe, 'rollOut' | 'judge'>;
export type PlayedRecipe = StageRecipe & Proposing & Judging;

const withMeasured = <R extends { readonly measurements?: Measurements }>(
  record: R,
  ...measured: readonly (Measurements | undefined)[]
): R =>
  measured.some((one) => one)
    ? { ...record, measurements: Object.assign({}, record.measurements, ...measured) }
    : record;

export const proposeStage = async (recipe: Proposing, context: RoundContext): Promise<Proposals> =>
  withMeasured(await recipe.propose(context), context.measured());

export const rollOutStage = async (
  recipe: Judging,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> =>
  (await recipe.rollOut(context, tasks)).map((group) => withMeasured(group, context.measured(group.group)));

/** What was measured of a group before is kept, whether or not the recipe passes it on. */
export async function judgeStage(
  recipe: Judging,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const before = new Map(groups.map(({ group, measurements }) => [group, measurements]));
  return (await recipe.judge(context, groups)).map((group) =>
    withMeasured(group, before.get(group.group), context.measured(group.group)),
  );
}

export const rollOutAndJudge = async (
  recipe: Judging,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<ScoredGroup[]> => judgeStage(recipe, context, await rollOutStage(recipe, context, tasks));

export async function playStages(
  context: RoundContext<PlayedRecipe>,
): Promise<{ proposals: Proposals; groups: ScoredGroup[] }> {
  const { recipe } = context;
  const proposals = await proposeStage(recipe, context);
  return { proposals, groups: await rollOutAndJudge(recipe, context, proposals.tasks) };
}
