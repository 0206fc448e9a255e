/** Recipes whose rounds are not all alike: each phase is an object with its stages, and a round is played by that of its phase. */
import type { Recipe } from '../recipe/recipe.ts';
import type { RoundSpec } from '../schema/round.ts';

/** What a round of one phase does. */
export type PhasePlay = Pick<Recipe, 'propose' | 'rollOut' | 'judge' | 'learn'> &
  Partial<Pick<Recipe, 'payProposals'>>;

/** The stages of a recipe, each of which is that of the round's phase. */
export const inPhases = <P extends string>(
  phaseOf: (round: RoundSpec) => P,
  phases: Readonly<Record<P, PhasePlay>>,
): Required<PhasePlay> => ({
  propose: (context) => phases[phaseOf(context.round)].propose(context),
  rollOut: (context, tasks) => phases[phaseOf(context.round)].rollOut(context, tasks),
  judge: (context, groups) => phases[phaseOf(context.round)].judge(context, groups),
  payProposals: (records, tools) => phases[phaseOf(records.round)].payProposals?.(records, tools),
  learn: (records, tools) => phases[phaseOf(records.round)].learn(records, tools),
});
