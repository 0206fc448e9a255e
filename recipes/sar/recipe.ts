/** SAR: exact answers are paid more where the question makes them likely. */
import type { Game } from '../../core/game/game.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { grpoUpdate } from '../../protocols/objectives.ts';
import { ownContext, scoreInContexts } from '../../protocols/score-in-other-prompt.ts';
import { solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { verboseArithmetic } from '../../worlds/arithmetic/verbose.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { selfAlignment } from './alignment.ts';

/** Weight of the bonus, which is added to the reward of 0 or 1 for the answer. */
const WEIGHT = 0.2;
const MAX_TOKENS = 64;

const VARIANTS = {
  exact: 'no bonus: the reward of the answer alone',
  length: 'the bonus is the share of the limit of tokens that an answer leaves unused',
  'shuffled-question': 'the bonus is computed with the question of another task of the round',
} as const;

/** The bonus of each sample of a round, before its weight; null if the variant has none. groups [groups][samples] -> [groups][samples] */
async function bonuses(
  { words: { solve }, blank }: Game<'solve'>,
  { round: { settings }, groups }: RoundRecords,
  tools: LearnTools,
): Promise<number[][] | null> {
  const { variant } = settings;
  if (variant === 'exact') return null;
  if (variant === 'length')
    return groups.map(({ samples }) => samples.map(({ ids }) => 1 - ids.length / solve.maxNew));
  const asked = groups.flatMap(({ samples }, g) => samples.map((sample) => ({ sample, g })));
  const another = (g: number) => groups[(g + 1) % groups.length]!.samples[0]!.prompt;
  const nothing = tools.encode(solve.ask({ task: blank }, tools));
  const [withQuestion, without] = await scoreInContexts(
    tools,
    asked.map(({ sample }) => sample),
    [variant === 'shuffled-question' ? (_, i) => another(asked[i]!.g) : ownContext, () => nothing],
  );
  const each = asked.map((_, i) => selfAlignment(withQuestion![i]!, without![i]!));
  return groups.map((_, g) => each.filter((_, i) => asked[i]!.g === g));
}

/** The sample with the bonus added to its reward; a sample without a reward gets no bonus. */
const withBonus = (sample: Sample, bonus: number): Sample => {
  const { reward } = sample.rewards;
  return typeof reward === 'number'
    ? { ...sample, rewards: { ...sample.rewards, reward: reward + WEIGHT * bonus } }
    : sample;
};

async function learn(game: Game<'solve'>, records: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { groups } = records;
  const bonusGS = await bonuses(game, records, tools);
  const paid = bonusGS
    ? groups.map((group, g) => ({
        ...group,
        samples: group.samples.map((sample, s) => withBonus(sample, bonusGS[g]![s]!)),
      }))
    : groups;
  const exact = (wanted: boolean) =>
    (bonusGS ?? []).flatMap((bonusS, g) =>
      bonusS.filter((_, s) => (groups[g]!.answersExact[s] === true) === wanted),
    );
  const [right, wrong] = [exact(true), exact(false)];
  return {
    updates: grpoUpdate(paid),
    // By the oracle, for the report alone.
    figures: {
      ...(right.length ? { bonusRight: mean(right) } : {}),
      ...(wrong.length ? { bonusWrong: mean(wrong) } : {}),
    },
  };
}

const described = {
  name: 'sar',
  title: 'A bonus for answers that the question makes likely',
  paper: arXiv('2509.05489', 'Self-Aligned Reward: Towards Effective and Efficient Reasoners'),
  summary:
    'A solver is paid for exact answers, and a little more where its own weights find the answer much more likely after the question than without it. Text that would fit any question earns no bonus, so that answers become shorter without being paid for their length.',
  method: {
    setting:
      'A solver answers arithmetic chains under a limit of 64 tokens. Its start policy slips in one step of ten, and after the last step it goes on with checks that say nothing about the question, about as long as the steps took and sometimes much longer.',
    roles: 'The solver is the only role and answers each task eight times.',
    rewards:
      'An exact answer earns 1 and any other 0, plus 0.2 times a bonus: (p - p′) / p, cut off at -1 and 1, where p is the perplexity of the answer without the question and p′ with it, by the weights that the round trains from.',
    credit:
      'The advantage of an answer is its reward with the bonus minus the mean of its group, divided by the group’s deviation (GRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens. There is no KL term and no critic.',
    schedule: 'Each round scores its answers twice and goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'Without the question means after a prompt with an empty question, which the start policy was never taught; the paper scores the answer alone.',
    'The weight of 0.2 was not checked against the paper’s.',
    'What is superfluous here is a kind of token of its own, which says nothing about any question; superfluous sentences of a language model do say something.',
  ],
  figures: {
    bonusRight:
      'Mean bonus of exact answers before its weight: how much likelier the question makes the answer.',
    bonusWrong: 'Mean bonus of all other answers before its weight.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...solverAlone({ ...game, draws: 2 }),
    learn: (records, tools) => learn(game, records, tools),
  }),
};

export const sar = played(written, familyGame(verboseArithmetic, { maxNew: MAX_TOKENS }));
