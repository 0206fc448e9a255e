/**
 * A challenger's questions, the solver's attempts at them, and the set of questions that its votes label: the stages of R-Zero's phases. The recipe
 * decides what is paid.
 */
import * as v from 'valibot';
import type { Game } from '../../core/game/game.ts';
import type { TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { admit } from '../../core/round/admit.ts';
import type { Proposals, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerEvidence, payAnswers } from '../../protocols/answer-rewards.ts';
import { passed, requestsLike, writeTasks } from '../../protocols/proposals.ts';
import { rewardNamed } from '../../protocols/solver.ts';
import { type Vote, vote, voteFigures } from '../../protocols/votes.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';

export const CHALLENGER = 'challenger';

export const labelledSet = v.array(vote);

/** The set that the solver is trained on, which the last collection left. */
const labelledOf = (recipeState: unknown): readonly Vote[] => readState(labelledSet, recipeState) ?? [];

/** Asks the challenger for `count` questions; each that parses and is not held out becomes a task. */
export async function challenge(
  game: Game<'propose'>,
  context: RoundContext,
  count: number,
): Promise<Proposals> {
  const { round } = context;
  const given = game.byExample ? await game.tasks(context, count) : null;
  const examples = given ? given.tasks.map(({ task }) => task) : null;
  const requests = requestsLike(context, CHALLENGER, count, examples);
  const proposed = await writeTasks(game, context, CHALLENGER, 'propose', requests);
  return {
    ...given,
    round: round.id,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, passed(proposed)),
  };
}

/** Distinct questions of the set, as many as a round has tasks; a smaller set makes a smaller round. */
export const drawLabelled = async ({ round, recipeState }: RoundContext): Promise<Proposals> =>
  admitTasks(
    round,
    new Random(`${round.id}/questions`)
      .shuffle(labelledOf(await recipeState()))
      .slice(0, round.settings.tasks)
      .map(({ task }) => task),
  );

/** The rewards of a solver's attempts at a question [samples], by the label that votes gave it. */
export interface LabelReward extends RewardInfo {
  readonly pay: (evidence: AnswerEvidence, label: string | null) => readonly (number | null)[];
}

/** Attempts are paid by the label of their question. */
export async function payByLabel(
  family: TaskFamily,
  rewards: Readonly<Record<string, LabelReward>>,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const reward = rewardNamed(rewards, context.round.settings.rewardFunction);
  const labels = new Map(labelledOf(await context.recipeState()).map(({ task, label }) => [task, label]));
  return groups.map((group) => {
    const label = labels.get(group.task) ?? null;
    return payAnswers(family, { ...reward, pay: (evidence) => reward.pay(evidence, label) }, context, group);
  });
}

/** The plan of a round that collects: nothing is trained, and the labelled questions that `keeps` admits become the set of the coming rounds. */
export function collection(
  family: TaskFamily,
  votes: readonly Vote[],
  keeps: (vote: Vote) => boolean,
): TrainingPlan {
  const kept = votes.filter((vote) => vote.label !== null && keeps(vote));
  const figures = voteFigures(family, votes);
  return {
    updates: [],
    recipeState: [...new Map(kept.map((vote) => [vote.task, vote])).values()],
    figures: {
      ...figures,
      kept: kept.length / votes.length,
      ...('labelAccuracy' in figures ? { keptAccuracy: voteFigures(family, kept).labelAccuracy ?? 0 } : {}),
    },
  };
}
