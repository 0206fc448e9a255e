/**
 * Asks a recipe's `learn` for the round's training plan and applies the run's settings: proposals get the rewards that they earned, parts
 * for frozen roles are dropped, policy gradients are tied to how their roles sample, and the recipe state that the plan leaves must fit the recipe's schema.
 */
import { proposalKey } from '../episodes/play-episodes.ts';
import type { Recipe } from '../recipe/recipe.ts';
import { checkState } from '../recipe/recipe-state.ts';
import type { Earnings } from '../schema/report.ts';
import { tiedPart, tiedToSampling } from './tied-sampling.ts';
import type { LearnTools, ProposalTools, RoundRecords, TrainingPlan } from './training-plan.ts';

export type TaughtRecipe = Pick<Recipe, 'name' | 'sets' | 'learn' | 'state' | 'payProposals'> &
  Partial<Pick<Recipe, 'roles' | 'setVariants'>>;

export interface TaughtPlan extends TrainingPlan {
  /** What the round's proposals earned, by the id of their first sample; empty where the recipe does not pay for proposals. */
  readonly earnings: Earnings;
}

export async function planTraining(
  recipe: Pick<TaughtRecipe, 'name' | 'learn' | 'state' | 'payProposals' | 'roles'>,
  records: RoundRecords,
  tools: LearnTools,
): Promise<TaughtPlan> {
  const { earnings, records: paid } = payProposals(recipe, records, tools);
  const plan = await recipe.learn(paid, {
    ...tools,
    // What is compared are the gradients that the plan would have.
    alignment: (set, parts, against, how) =>
      tools.alignment(
        set,
        parts.map((part) => tiedPart(part, recipe)),
        tiedPart(against, recipe),
        how,
      ),
    trial: (set, updates, sequences) => tools.trial(set, tiedToSampling(updates, recipe), sequences),
  });
  checkState(recipe, plan.recipeState);
  const frozen = new Set(records.round.settings.freeze);
  return {
    ...plan,
    earnings,
    updates: tiedToSampling(plan.updates, recipe)
      .map((update) => ({ ...update, parts: update.parts.filter((part) => !frozen.has(part.role)) }))
      // An update with parts for frozen roles alone is dropped: such a round publishes the weights as they are.
      .filter(({ parts }, u) => parts.length > 0 || plan.updates[u]!.parts.length === 0),
  };
}

/** The records in order, with what each proposal earned written on its samples. It is pure, so that an audit comes to the same. */
export function payProposals(
  { payProposals: pay }: Pick<Recipe, 'payProposals'>,
  records: RoundRecords,
  tools: ProposalTools,
): { readonly records: RoundRecords; readonly earnings: Earnings } {
  const ordered = { ...records, groups: [...records.groups].sort((a, b) => a.index - b.index) };
  const earned = pay?.(ordered, tools);
  if (!earned) return { records: ordered, earnings: {} };
  const samples = records.proposals.samples.map((sample) => {
    const reward = earned.get(proposalKey(sample));
    return reward === undefined ? sample : { ...sample, rewards: { ...sample.rewards, reward } };
  });
  return {
    records: { ...ordered, proposals: { ...records.proposals, samples } },
    earnings: Object.fromEntries(earned),
  };
}
