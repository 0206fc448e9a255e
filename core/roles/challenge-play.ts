/** A recipe of challenger and solver that train in turns: everything but its rewards, its lesson and its words. */
import type { RoundShape } from '../recipe.ts';
import type { RewardInfo } from '../role.ts';
import { evaluation } from '../schema/evaluation.ts';
import type { RolledGroup, ScoredGroup } from '../schema/sample.ts';
import type { TaskFamily } from '../tasks/family.ts';
import type { ExamTasks } from '../tasks/split.ts';
import { type AnswerEvidence, majorityReward, payAnswers } from './answer-rewards.ts';
import { attempt, CHALLENGER, challenge, drawLabelled, labelledOf } from './challenges.ts';
import { examineSolver } from './solver-exam.ts';
import { rewardNamed, SOLVER } from './solver-recipe.ts';
import type { Stage } from './stage.ts';

/** Answers to each held-out task behind the sampled accuracy: arms differ by a few points. */
const DRAWS = 5;

export type Phase = 'challenge' | 'collect' | 'train';

/** What a solver is paid for its attempts at a question [samples], whose label votes gave. */
export interface LabelReward extends RewardInfo {
  readonly pay: (evidence: AnswerEvidence, label: string | null) => readonly (number | null)[];
}

export interface ChallengeGame {
  readonly family: TaskFamily;
  readonly phaseOf: (index: number) => Phase;
  /** Attempts that vote on a question; in the solver's phase a round's group size holds. */
  readonly attempts: number;
  /** Questions asked for when collecting, for each task of a solver's round. */
  readonly collected: number;
  /** Tasks of the exam. */
  readonly examined: (asked: ExamTasks) => readonly string[];
  /** The first is the default. */
  readonly rewards: Readonly<Record<string, LabelReward>>;
}

export const challengePlay = (game: ChallengeGame): RoundShape => {
  const { family, phaseOf, attempts, collected, examined, rewards } = game;
  const phase = ({ round }: Stage) => phaseOf(round.index);
  return {
    taskName: family.name,
    stop: family.stop,
    rewards,
    roles: {
      [CHALLENGER]: {
        says: 'writes questions, from one fixed prompt',
        speaksAs: 'proposer',
        set: CHALLENGER,
        sampling: { maxNew: family.maxNew.proposer, temperature: 1 },
      },
      [SOLVER]: {
        says: 'answers them, with or without steps, and labels them by its votes',
        sampling: { maxNew: family.maxNew.solver, temperature: 1 },
      },
    },
    freezable: [CHALLENGER, SOLVER],
    propose: async (stage) => {
      const { tasks } = stage.round.settings;
      if (phase(stage) === 'train') return drawLabelled(stage, labelledOf(await stage.memory()));
      return challenge(family, stage, tasks * (phase(stage) === 'collect' ? collected : 1));
    },
    rollOut: (stage, tasks) =>
      attempt(family, stage, tasks, phase(stage) === 'train' ? stage.round.settings.group : attempts),
    judge: (stage, groups) => payAttempts(game, stage, groups),
    evaluate: async (exam) =>
      evaluation(
        await examineSolver(exam, {
          family,
          role: SOLVER,
          temperature: 1,
          draws: DRAWS,
          tasks: examined(exam.examTasks),
        }),
      ),
    describe: { difficulty: family.difficulty, worked: (text) => text.startsWith(family.workedPrefix) },
  };
};

/** In the solver's phase attempts are paid by their question's label; in the others they are votes, and nobody is paid for voting. */
async function payAttempts(
  { family, phaseOf, rewards }: ChallengeGame,
  stage: Stage,
  groups: readonly RolledGroup[],
): Promise<ScoredGroup[]> {
  const { index, settings } = stage.round;
  if (phaseOf(index) !== 'train')
    return groups.map((group) => payAnswers(family, majorityReward, stage, group));
  const reward = rewardNamed(rewards, settings.reward);
  const labels = new Map(labelledOf(await stage.memory()).map(({ task, label }) => [task, label]));
  return groups.map((group) => {
    const label = labels.get(group.task) ?? null;
    return payAnswers(family, { ...reward, pay: (evidence) => reward.pay(evidence, label) }, stage, group);
  });
}
