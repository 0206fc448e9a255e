/** LaSeR: the log-probability of an unused token after an answer is trained to be its reward. */
import * as v from 'valibot';
import type { Game } from '../../core/game/game.ts';
import type {
  LearnTools,
  LogRatioPart,
  RoundRecords,
  Sequence,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { rendered, solutionOf } from '../../core/recipe/task-family.ts';
import { equalClassWeights, grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { finite } from '../../core/schema/numbers.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { ppoClip, updateOf } from '../../protocols/objectives.ts';
import {
  groupItems,
  SOLVER,
  solverAlone,
  solverUpdate,
  trainedSolver,
  withAdvantages,
} from '../../protocols/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { BETA, scoreFigures, scoresOf, withSelfScores } from './self-score.ts';

/** Weight of the regression beside the policy objective. */
const REGRESSION = 0.1;
/** Rounds before self-scores count in advantages. */
const WARMUP_ROUNDS = 8;

/** What a version carries where the world has no token that is never used: the mean log-probability of the score token at the start, nats. */
const startState = v.object({ reference: finite });

const VARIANTS = {
  grpo: 'the score token is not trained, and its log-probability is only read: GRPO',
  'shuffled-targets': 'scores are trained to the rewards of other answers of the round',
} as const;

const CLIPPED = ppoClip();

/** The token that is read after answers: one that no text has, or once more the one that ended an answer; null where none has ended. */
function scoreToken(
  { unused }: Game<'solve'>,
  groups: RoundRecords['groups'],
  { encode }: LearnTools,
): readonly number[] | null {
  if (unused) return encode(unused.text);
  const ended = groups.flatMap(({ samples }) => samples).find(({ stopped }) => stopped);
  return ended ? ended.ids.slice(-1) : null;
}

async function learn(
  game: Game<'solve'>,
  { round, groups, recipeState }: RoundRecords,
  tools: LearnTools,
): Promise<TrainingPlan> {
  const { variant } = round.settings;
  const answers = groups.flatMap(({ group, task, samples, answersExact }) =>
    samples.map((sample, i) => ({ group, task, sample, exact: answersExact[i] === true })),
  );
  const ids = scoreToken(game, groups, tools);
  if (!ids) return { updates: solverUpdate(groupItems(groups, grpo), CLIPPED) };
  const scored: Sequence[] = answers.map(({ sample }) => ({
    prompt: [...sample.prompt, ...sample.ids],
    ids,
  }));
  const logprobs = (await tools.score(MAIN_SET, scored)).map((row) => row[0]!);
  const reference = game.unused?.logprob ?? readState(startState, recipeState)?.reference ?? mean(logprobs);
  const scores = scoresOf(logprobs, reference);
  const groupOf = answers.map(({ group }) => group);
  const rewards = answers.map(({ sample }) => sample.rewards.reward ?? null);
  const plain = grpo(rewards, groupOf);
  const counted = variant !== 'grpo' && round.index > WARMUP_ROUNDS;
  const items = withAdvantages(
    answers.map(({ sample }) => sample),
    counted ? withSelfScores(plain, scores, groupOf) : plain,
  );
  const finished = answers.flatMap(({ sample }, i) => {
    const reward = rewards[i]!;
    return sample.stopped && reward !== null ? [{ sequence: scored[i]!, reward }] : [];
  });
  const paid = finished.map(({ reward }) => reward);
  const targets = variant === 'shuffled-targets' ? new Random(`${round.id}/targets`).shuffle(paid) : paid;
  const weights = equalClassWeights(targets);
  const regression: LogRatioPart = {
    kind: 'log-ratio',
    role: SOLVER,
    weight: REGRESSION,
    items: finished.map(({ sequence }, i) => ({ ...sequence, target: targets[i]!, weight: weights[i]! })),
    beta: BETA,
    reference,
  };
  const policy = solverUpdate(items, CLIPPED);
  const parts = [
    ...policy.flatMap((update) => update.parts),
    ...(variant !== 'grpo' && finished.length ? [regression] : []),
  ];
  const family = rendered(game.family, tools);
  const answerOf = (task: string, sample: (typeof answers)[number]['sample']) => {
    const parsed = solutionOf(family, task, sample, tools);
    return parsed.ok ? parsed.value.answer : null;
  };
  return {
    updates: updateOf(parts),
    ...(game.unused ? {} : { recipeState: { reference } }),
    figures: scoreFigures(
      answers.map(({ group, task, sample, exact }, i) => ({
        group,
        answer: answerOf(task, sample),
        exact,
        score: scores[i]!,
      })),
    ),
  };
}

const described = {
  name: 'laser',
  title: 'Answers that are scored by the last token’s probabilities',
  paper: arXiv('2510.14943', 'LaSeR: Reinforcement Learning with Last-Token Self-Rewarding'),
  summary:
    'After an answer the policy’s distribution of the next token is read once more. The log-probability of a token that no answer has is trained to be the reward of the answer, beside GRPO. So a policy that solves learns to say how likely it is right, for the cost of one token.',
  method: {
    setting:
      'A solver answers arithmetic chains. Its start policy always writes its steps and slips in one of ten of them; the slip is carried on, and only who computes the chain once more sees it.',
    roles:
      'The solver is the only role. It answers each task eight times and scores its own answers, for which nothing is sampled.',
    rewards:
      'An exact answer earns 1 and any other 0. The self-score is 0.1·(log π(token | task, answer) + 29): 0 where the unused token is as unlikely as at the start, 1 where it is ten nats likelier.',
    credit:
      'The advantage is the reward minus the mean of its group, divided by the group’s deviation (GRPO). From the ninth round on it is 0.9 times this and 0.1 times the self-score, clipped to [0, 1] and normalised alike; where a group’s scores deviate by 0.1 or less, rewards alone count.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, plus 0.1 times the mean of (score − reward)² over finished answers, in which right and wrong answers have the same weight. There is no KL term.',
    schedule: 'Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'The constant is what this start policy gives to the token in the mean, as the paper measures it for each model: −23 nats for Qwen.',
    'How the paper warms up could not be checked: here the regression is trained from the first round on, and scores count in advantages after eight.',
    'Scores are measured on each round’s own answers, before the round trains on them; its tasks are fresh.',
  ],
  figures: {
    scoreRight: 'Mean self-score of exact answers, before the round trains on them.',
    scoreWrong: 'Mean self-score of all other answers, before the round trains on them.',
    auc: 'Area under the ROC curve of self-scores for exact answers among all of the round; 0.5 is chance.',
    groupAuc:
      'The same area among answers to one task, as a mean over the groups that have exact and other answers.',
    vote: 'Share of tasks whose most frequent answer is exact.',
    scoredVote:
      'Share of tasks whose answer with the largest sum of self-scores, clipped to [0, 1], is exact.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...(game.unused ? {} : { state: startState }),
    ...solverAlone({ ...game, draws: 2 }),
    learn: (records, tools) => learn(game, records, tools),
  }),
  elsewhere: {
    differences: [
      'The token that is read is the one that ended the answer, once more, since another policy’s vocabulary need not have one that nothing uses.',
      'The constant is measured: the mean log-probability of this token after the answers of the first round. The paper measures it for each model as well: −23 nats for Qwen.',
      ...described.differences.slice(1),
    ],
  },
  ownReward: 'right and wrong answers have the same weight in what its scores are trained to',
};

/** The start policy gives the token about −29 nats in the mean after its answers. */
const slips = familyGame(arithmetic, { unused: { text: '<unk>', logprob: -29 } });

export const laser = played(written, slips);
