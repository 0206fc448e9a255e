/** A recipe of a challenger and a solver that are trained in turn, without its rewards, its training plan and its texts. */
import type { RoundShape } from '../../core/recipe/recipe.ts';
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import type { Proposals, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerEvidence, majorityReward, payAnswers } from '../../protocols/answer-rewards.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
import { attempt, CHALLENGER, drawLabelled, labelledOf } from './challenges.ts';

/** Samples of each held-out task behind the sampled accuracy, which are several because arms differ by a few points. */
const DRAWS = 5;

export type Phase = 'challenge' | 'collect' | 'train';

/** The rewards of a solver's attempts at a question [samples], by the label that votes gave it. */
export interface LabelReward extends RewardInfo {
  readonly pay: (evidence: AnswerEvidence, label: string | null) => readonly (number | null)[];
}

export interface ChallengeGame {
  readonly family: TaskFamily;
  /** The number of questions that the challenger is asked for; each that passes the gates becomes a task. */
  readonly challenge: (context: RoundContext, count: number) => Promise<Proposals>;
  readonly phaseOf: (index: number) => Phase;
  /** Attempts that vote on a question. In the solver's phase the round's group size applies instead. */
  readonly attempts: number;
  /** How many questions are asked for while collecting, for each task of a solver's round. */
  readonly collected: number;
  /** Tasks of the evaluation. */
  readonly examined: (asked: EvaluationTasks) => readonly string[];
  /** The first is the default. */
  readonly rewards: Readonly<Record<string, LabelReward>>;
}

export const challengePlay = (game: ChallengeGame): RoundShape => {
  const { family, challenge, phaseOf, attempts, collected, examined, rewards } = game;
  const phase = ({ round }: RoundContext) => phaseOf(round.index);
  return {
    taskName: family.name,
    ...(family.stop ? { stop: family.stop } : {}),
    rewards,
    roles: {
      [CHALLENGER]: {
        description: 'writes questions, from one fixed prompt',
        speaksAs: 'proposer',
        set: CHALLENGER,
        sampling: { maxNew: family.maxNew.proposer, temperature: 1 },
      },
      [SOLVER]: {
        description: 'answers them, with or without steps, and labels them by its votes',
        sampling: { maxNew: family.maxNew.solver, temperature: 1 },
      },
    },
    freezable: [CHALLENGER, SOLVER],
    propose: async (context) => {
      const { tasks } = context.round.settings;
      if (phase(context) === 'train') return drawLabelled(context, labelledOf(await context.recipeState()));
      return challenge(context, tasks * (phase(context) === 'collect' ? collected : 1));
    },
    rollOut: (context, tasks) =>
      attempt(
        family,
        context,
        tasks,
        phase(context) === 'train' ? context.round.settings.groupSize : attempts,
      ),
    judge: (context, groups) => payAttempts(game, context, groups),
    evaluate: async (context) =>
      evaluation(
        await evaluateSolver(context, {
          family,
          role: SOLVER,
          temperature: 1,
          draws: DRAWS,
          tasks: examined(context.evaluationTasks),
        }),
      ),
    describe: {
      difficulty: (task) => family.difficulty(task),
      ...(family.workedPrefix ? { worked: (text: string) => text.startsWith(family.workedPrefix) } : {}),
    },
  };
};

/** In the solver's phase attempts are paid by their question's label. In the other phases they are votes, which have no reward. */
async function payAttempts(
  { family, phaseOf, rewards }: ChallengeGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { index, settings } = context.round;
  if (phaseOf(index) !== 'train')
    return groups.map((group) => payAnswers(family, majorityReward, context, group));
  const reward = rewardNamed(rewards, settings.rewardFunction);
  const labels = new Map(labelledOf(await context.recipeState()).map(({ task, label }) => [task, label]));
  return groups.map((group) => {
    const label = labels.get(group.task) ?? null;
    return payAnswers(family, { ...reward, pay: (evidence) => reward.pay(evidence, label) }, context, group);
  });
}
