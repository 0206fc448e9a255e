/** Rewards for answers to a question, computed for one group at a time. The controls that any gain must beat stand beside the checker's reward. */
import { plain } from '../../core/checkers/exact.ts';
import { parseNumber } from '../../core/checkers/written-number.ts';
import type { Score } from '../../core/net/reward-service.ts';
import type { RewardRollout, RewardTask } from '../../core/recipe/reward-function.ts';
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { majorityRewards } from '../../core/rl/rewards/index.ts';
import { coinOf } from '../gold.ts';
import type { Judged } from './judged-reward.ts';

/** A group's answers as rewards see them; lists are [samples]. */
export interface QuestionEvidence extends Pick<RoundContext, 'askService'> {
  readonly round: string;
  readonly group: string;
  readonly sampleIds: readonly string[];
  /** The answer that was parsed from each text; null where there is none. */
  readonly answers: readonly (string | null)[];
  readonly rollouts: readonly RewardRollout[];
  /** The grades of policies that judge, by the name of the reward. */
  readonly judged: Judged['scores'];
  /** What reward models pay, by the name of the reward. */
  readonly measured: Readonly<Record<string, readonly Score[]>>;
  /** Whether the checker accepts the answer. Throws for a reward that is declared gold-free. */
  readonly answersExact: () => readonly boolean[];
  /** The task with its reference answer. Throws as `answersExact` does. */
  readonly task: () => RewardTask;
}

export interface QuestionReward extends RewardInfo {
  /** [samples]; null = missing, which is not zero. */
  readonly pay: (evidence: QuestionEvidence) => readonly (number | null)[];
}

/** One name for all ways to write an answer, so that equal numbers and equal texts vote together. */
const voteOf = (answer: string | null): string | null => {
  if (answer === null) return null;
  const number = parseNumber(answer);
  return number.ok ? number.value.value.toFraction() : plain(answer);
};

export const QUESTION_REWARDS = {
  checker: {
    description: '1 for an answer that the checker accepts, else 0',
    usesGold: true,
    pay: ({ answersExact }) => answersExact().map(Number),
  },
  majority: {
    description: '1 for the answer that most of the group’s samples give',
    usesGold: false,
    pay: ({ answers }) => majorityRewards(answers.map(voteOf)),
  },
  format: {
    description: 'control: 1 for any answer that parses',
    usesGold: false,
    pay: ({ answers }) => answers.map((answer) => Number(answer !== null)),
  },
  random: {
    description: 'control: a fair coin',
    usesGold: false,
    pay: ({ sampleIds }) => sampleIds.map((id) => Number(coinOf(id))),
  },
} as const satisfies Record<string, QuestionReward>;
