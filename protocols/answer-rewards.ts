/**
 * Rewards for a solver that plays alone, computed for one group of answers at a time. The controls that every claim needs are defined here once:
 * `gold` is the upper bound, and `format` and `coin` are what any gain must beat.
 */
import { Random } from '../core/random.ts';
import type { RewardInfo } from '../core/recipe/role.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import {
  type ParseResult,
  rendered,
  type Solution,
  solutionOf,
  type TaskFamily,
} from '../core/recipe/task-family.ts';
import { majorityRewards, type TieBreak } from '../core/rl/rewards/index.ts';
import type { RolloutGroup, ScoredGroup } from '../core/schema/sample.ts';
import { coinOf, sealedGold } from './gold.ts';

/** Breaks a tied vote by a random draw, seeded for each group. */
export const tieOf =
  (group: string): TieBreak =>
  (n) =>
    new Random(`tie/${group}`).int(n);

/** A group's answers as the reward functions see them; every list is [samples]. */
export interface AnswerEvidence {
  readonly group: RolloutGroup;
  readonly solutions: readonly ParseResult<Solution>[];
  /** The text of each answer; null where the completion holds no answer. */
  readonly answers: readonly (string | null)[];
  /** Whether the answer is exact; null where there is no answer, or nothing to compare it with. Throws for a reward that is declared gold-free. */
  readonly answersExact: () => readonly (boolean | null)[];
}

export interface AnswerReward extends RewardInfo {
  /** Rewards [samples]; null is missing data, which is not a reward of 0. */
  readonly pay: (evidence: AnswerEvidence) => readonly (number | null)[];
}

export const exactReward: AnswerReward = {
  description: '1 for an exact answer',
  usesGold: true,
  pay: ({ answersExact }) => answersExact().map((exact) => Number(exact === true)),
};

export const majorityReward: AnswerReward = {
  description: '1 for the answer that most of the group’s samples give',
  usesGold: false,
  pay: ({ answers, group }) => majorityRewards(answers, tieOf(group.group)),
};

export const formatReward: AnswerReward = {
  description: 'control: 1 for any well-formed answer',
  usesGold: false,
  pay: ({ solutions }) => solutions.map(({ ok }) => Number(ok)),
};

export const randomReward: AnswerReward = {
  description: 'control: a fair coin',
  usesGold: false,
  pay: ({ group }) => group.samples.map(({ id }) => Number(coinOf(id))),
};

/** A control: a fair coin accepts or refuses what is well-formed, and the rest is refused. `what` names them, in the plural. */
export const acceptedAtRandom = (what: string): AnswerReward => ({
  ...randomReward,
  description: `control: a fair coin accepts ${what} that are well-formed`,
  pay: (evidence) => randomReward.pay(evidence).map((paid, i) => (evidence.solutions[i]!.ok ? paid : 0)),
});

/** What a reward is held against. */
export const CONTROLS = { format: formatReward, random: randomReward };

/** Exact answers, and the controls. */
export const exactAndControls = { exact: exactReward, ...CONTROLS };

/**
 * The judge stage of a recipe without a verifier, in which no completion is sampled. The oracle's results are recorded beside the rewards, for the
 * monitors. `taskOf` says which task a sample answers, by its place in the group; default the group's task.
 */
export function payAnswers(
  given: TaskFamily,
  { pay }: AnswerReward,
  stage: Pick<RoundContext, 'recipe' | 'round' | 'tokenizer' | 'renderer'>,
  group: RolloutGroup,
  taskOf: (sample: number) => string = () => group.task,
): ScoredGroup {
  const family = rendered(given, stage);
  const solutions = group.samples.map((sample, i) => solutionOf(family, taskOf(i), sample, stage.tokenizer));
  const known = (i: number) => !family.isUnlabelled?.(taskOf(i));
  const answersExact = solutions.map((s, i) =>
    s.ok && known(i) ? family.answerIsExact(taskOf(i), s.value) : null,
  );
  const rewards = pay({
    group,
    solutions,
    answers: solutions.map((s) => (s.ok ? s.value.answer : null)),
    answersExact: sealedGold(stage, answersExact),
  });
  return {
    ...group,
    samples: group.samples.map((sample, i) => ({ ...sample, rewards: { reward: rewards[i] ?? null } })),
    judgments: [],
    answersExact,
    solutionsExact: solutions.map((s, i) =>
      s.ok && known(i) ? family.exactJudgment(taskOf(i), s.value).right : null,
    ),
  };
}
