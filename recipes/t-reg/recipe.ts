/** T-REG: the reference, asked for better and for worse, says which tokens of a pair deserve the preference. */

import type {
  LearnTools,
  PreferencePair,
  RoundRecords,
  TrainingPlan,
  Update,
} from '../../core/plan/training-plan.ts';
import { arXiv, type Described, type RecipeOver, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { bestAgainstWorst } from '../../core/rl/selection/index.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { exactReward, randomReward } from '../../protocols/answer-rewards.ts';
import { ratedWithoutJudge } from '../../protocols/judged-responses.ts';
import { preferencePart, START, updateOf } from '../../protocols/objectives.ts';
import { responderAlone } from '../../protocols/responder-alone.ts';
import { SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import {
  pointsOfRound,
  RESPONDER,
  RESPONSE_CONTROLS,
  RESPONSE_FIGURES,
  sequenceOf,
} from '../../protocols/style-responder.ts';
import { wishPrompt } from '../../worlds/style/contrast.ts';
import { parseResponse, stylePrompt } from '../../worlds/style/family.ts';
import { unformed } from '../../worlds/style/planted.ts';
import { withWordMarked } from '../../worlds/style/word-tokens.ts';
import { contrasted, shuffledRewards, type WishPrompt } from './contrast.ts';
import { probeFigures } from './probe.ts';

const BETA = 0.1;
const ALPHA = 0.5;
const VARIANTS = {
  dpo: 'DPO on the same pairs, without token rewards',
  'one-wish': 'token rewards compare the wish for a better response with no wish',
  'shuffled-rewards': 'each response’s token rewards stand at tokens that are drawn',
} as const;

/** A response of a pair; its id seeds the shuffle of its rewards. */
type Response = Pick<Sample, 'id' | 'prompt' | 'ids'>;

interface RoundPair {
  readonly task: string;
  readonly both: readonly [chosen: Response, rejected: Response];
}

/** Best against worst of each group by reward; equal rewards make no pair. */
const pairsByReward = (groups: readonly ScoredGroup[]): RoundPair[] =>
  groups.flatMap(({ task, samples }) => {
    const pair = bestAgainstWorst(samples.map(({ rewards }) => rewards.reward ?? null));
    return pair ? [{ task, both: [samples[pair.chosen]!, samples[pair.rejected]!] }] : [];
  });

/** The first response of each group that has two words, against itself with its form broken. So the control has about as many pairs as the method. */
const pairsByForm = (
  groups: readonly ScoredGroup[],
  { decode, encode }: Pick<LearnTools, 'decode' | 'encode'>,
): RoundPair[] =>
  groups.flatMap(({ task, samples }) => {
    for (const sample of samples) {
      const response = parseResponse(decode(sample.ids));
      const pair = response.ok ? unformed(response.value, sample.id) : null;
      if (!pair) continue;
      const { ids } = withWordMarked(pair.damaged, pair.at, encode);
      return [{ task, both: [sample, { id: `${sample.id}/unformed`, prompt: sample.prompt, ids }] }];
    }
    return [];
  });

/** The pairs with a reward for each token, by the start policy. */
async function rewarded(
  pairs: readonly RoundPair[],
  tools: LearnTools,
  variant: string | undefined,
  promptOf: WishPrompt,
): Promise<PreferencePair[]> {
  const responses = pairs.flatMap(({ task, both }) => both.map(({ id, ids }) => ({ task, id, ids })));
  const contrast = variant === 'one-wish' ? 'plain' : 'worse';
  const rewards = (await contrasted(tools, responses, START, contrast, promptOf)).map((row, i) =>
    variant === 'shuffled-rewards' ? shuffledRewards(row, responses[i]!.id) : row,
  );
  return pairs.map(({ both: [chosen, rejected] }, i) => ({
    chosen: sequenceOf(chosen),
    rejected: sequenceOf(rejected),
    tokenRewards: [rewards[2 * i]!, rewards[2 * i + 1]!],
  }));
}

/** The preference of a role's pairs, with a reward for each token. */
async function update(
  drawn: readonly RoundPair[],
  { round }: Pick<RoundRecords, 'round'>,
  tools: LearnTools,
  role: string,
  promptOf: WishPrompt,
): Promise<Update[]> {
  const { variant } = round.settings;
  const pairs = await rewarded(drawn, tools, variant, promptOf);
  const objective =
    variant === 'dpo'
      ? ({ kind: 'dpo', beta: BETA } as const)
      : ({ kind: 't-reg', beta: BETA, alpha: ALPHA } as const);
  return updateOf([preferencePart(role, pairs, objective)]);
}

const styleWish: WishPrompt = (task, wish) => (wish === 'plain' ? stylePrompt(task) : wishPrompt(task, wish));

async function learn(records: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { round, groups } = records;
  const isByForm = round.settings.rewardFunction === 'format';
  const drawn = isByForm ? pairsByForm(groups, tools) : pairsByReward(groups);
  return {
    updates: await update(drawn, records, tools, RESPONDER, styleWish),
    figures: {
      pairs: drawn.length,
      points: pointsOfRound(groups, tools.decode),
      ...(await probeFigures(
        tools,
        groups.map(({ task }) => task),
      )),
    },
  };
}

const described = {
  name: 't-reg',
  title: 'Preferences with rewards for tokens by contrast',
  paper: arXiv('2412.02685', 'T-REG: Preference Optimization with Token-Level Reward Regularization'),
  summary:
    'Best against worst of five responses make pairs for DPO. The start policy reads both responses after a wish for a better and after a wish for a worse response, and by how much likelier it finds a token after the first is a weak reward for that token, which is trained beside the pair.',
  method: {
    setting:
      'A response to a string transformation picks words of a source in a wanted order and number, and earns up to five points of a rubric. The start policy is careless, and was taught to answer better or worse where the prompt says so.',
    roles:
      'The responder writes five responses to each prompt. The start policy, which writes nothing, is the reference of DPO and says what each token is worth.',
    rewards:
      'A response earns its share of the points. The reward of a token is σ(log π(token | better) - log π(token | worse)) - 1/2 under the start policy, where the prompt wishes for a better or for a worse response to the same task.',
    credit: 'The best and the worst response of a prompt make a pair; equal points make none.',
    objective:
      'DPO with β = 0.1 against the start policy, and α = 0.5 times w times -β Σ reward log π over the tokens of both responses. w = σ(r(worse) - r(better)), with r the implicit reward of a response, carries no gradient: the pair’s weight in DPO’s own gradient.',
    schedule:
      'Each round goes once over its pairs, in four optimiser steps. The reference stays the start policy.',
  },
  differences: [
    'The policy had to be taught what better and worse responses are, in supervised training before; a language model needs no more than a prompt in words. What it was taught comes from the rubric.',
    'Responses are sampled and paired anew each round by a rubric; in the paper once, by a reward model.',
    'There is no length control and no SimPO, on which the paper tries the token term as well.',
    'The format control has pairs of its own: a response against itself with a tag in place of a word, so that it does not parse.',
  ],
  figures: {
    ...RESPONSE_FIGURES,
    pairs: 'Number of pairs that are trained on.',
    atFault:
      'Mean log-ratio of the policy to the start at faults planted in perfect responses, nats per token.',
    elsewhere: 'The same mean at the other tokens of those responses, nats per token.',
    dip: 'By how much the log-ratio is lower at the planted faults than elsewhere, nats per token.',
    firstDip:
      'By how much the log-ratio is lower at the first token of a planted fault than elsewhere, nats per token.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'wish'> = {
  needs: { verbs: ['solve', 'wish'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...solverAlone({ ...game, rewards: { exact: exactReward, random: randomReward } }),
    learn: async (records, tools) => {
      const { solve, wish } = game.words;
      const drawn = pairsByReward(records.groups);
      const promptOf: WishPrompt = (task, wished) =>
        wished === 'plain'
          ? solve.ask({ task }, tools)
          : wish.ask({ task, better: wished === 'better' }, tools);
      return {
        updates: await update(drawn, records, tools, SOLVER, promptOf),
        figures: { pairs: drawn.length },
      };
    },
  }),
  elsewhere: {
    figures: { pairs: described.figures.pairs },
    differences: [
      'Responses are sampled and paired anew each round, by the reward; in the paper once, by a reward model.',
      'There is no length control and no SimPO, on which the paper tries the token term as well.',
    ],
  },
};

/** String transformations with a rubric. */
export const tReg: WithoutSetup = {
  ...described,
  written,
  ...responderAlone(),
  rewards: {
    rubric: { description: 'share of the rubric’s points', usesGold: true },
    format: {
      description: 'control: a response is preferred to itself with its form broken',
      usesGold: false,
    },
    random: RESPONSE_CONTROLS.random,
  },
  judge: async (context, groups) => ratedWithoutJudge(context, groups),
  learn,
};
