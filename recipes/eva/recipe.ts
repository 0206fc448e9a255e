/** eva: a creator evolves the prompts from which a solver still has most to gain, and the solver learns by preferences. The method is described below, as data. */

import type {
  PreferenceObjective,
  ProposalTools,
  RoundRecords,
  TrainingPlan,
  Update,
} from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { heldOutTasks } from '../../core/recipe/split.ts';
import { rloo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import { admitTasks, nextTasks } from '../../protocols/drawn-tasks.ts';
import { answers, examined } from '../../protocols/evaluate/responder.ts';
import { ratedWithoutJudge } from '../../protocols/judged-responses.ts';
import {
  pointsOfRound,
  RESPONDER,
  RESPONSE_FIGURES,
  RESPONSE_TOKENS,
  respond,
  STYLE_POINTS,
} from '../../protocols/respond.ts';
import { groupItems, policyUpdate, smallSteps } from '../../protocols/solver.ts';
import { winRatePairs, withWinRates } from '../../protocols/win-rates.ts';
import {
  isHeldOutStyle,
  parseStyleTask,
  randomStyleTask,
  styleDifficulty,
} from '../../worlds/style/family.ts';
import { STOP } from '../../worlds/worked.ts';
import { bufferIn, HOW, type How, nextPrompts, promptBuffer, ratedOf, seeds } from './prompts.ts';

/** The share of a round’s prompts that the creator rewrote; the others come from all that were trained on. */
const EVOLVED = 0.75;
/** Held-out prompts have from 3 to so many words; they are long from 6 words on. */
const MOST_WORDS = 8;
const LONG = 6;

const VARIANTS = {
  uniform: 'the prompts to rewrite are drawn uniformly',
  'lowest-reward': 'prompts are rewritten the more often the less their responses earn',
  'no-evolution': 'nothing is rewritten: the prompts of the first round are trained on throughout',
  sppo: 'the solver learns by SPPO in place of DPO',
  rloo: 'the solver learns by policy gradients on all responses (RLOO) in place of DPO',
} as const;

const heldOut = heldOutTasks(
  'eva',
  200,
  (random, held) => randomStyleTask(random, 3 + random.int(MOST_WORDS - 2), held),
  isHeldOutStyle,
);
const wordsIn = (task: string): number => {
  const parsed = parseStyleTask(task);
  return parsed.ok ? parsed.value.words.length : 0;
};

async function propose(context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const { tasks: count, variant } = round.settings;
  const state = bufferIn(await context.recipeState());
  if (variant === 'no-evolution' || !state.last.length) return admitTasks(round, nextTasks(round, seeds()));
  const how: How = HOW.find((name) => name === variant) ?? 'regret';
  const random = new Random(`${round.id}/evolve`);
  const fresh = Math.ceil(EVOLVED * count);
  return admitTasks(round, nextPrompts(random, state, how, { count, fresh }));
}

/** The solver's update: by default DPO on the best and the worst response to each prompt. */
function solverUpdates({ round, groups }: RoundRecords): Update[] {
  const { variant } = round.settings;
  if (variant === 'rloo')
    return policyUpdate(RESPONDER, groupItems(groups, rloo), {
      objective: { kind: 'reinforce' },
      aggregation: { mode: 'token-mean' },
    });
  const pairs = winRatePairs(withWinRates(groups));
  const objective: PreferenceObjective =
    variant === 'sppo' ? { kind: 'sppo', beta: 1 } : { kind: 'dpo', beta: 0.1 };
  // Win rates are relative to the policy that wrote the responses.
  const version = variant === 'sppo' ? round.roles[RESPONDER]!.version : 0;
  const reference = { set: MAIN_SET, version };
  return pairs.length
    ? [
        {
          set: MAIN_SET,
          parts: [{ kind: 'preference', role: RESPONDER, weight: 1, pairs, objective, reference }],
        },
      ]
    : [];
}

function learn(records: RoundRecords, { decode }: ProposalTools): TrainingPlan {
  const { groups, recipeState } = records;
  const last = ratedOf(groups);
  const { buffer } = bufferIn(recipeState);
  return {
    updates: solverUpdates(records),
    recipeState: { buffer: [...new Set([...buffer, ...last.map(({ task }) => task)])], last },
    figures: {
      complexity: mean(groups.map(({ task }) => styleDifficulty(task))),
      ...(last.length ? { regret: mean(last.map(({ regret }) => regret)) } : {}),
      points: pointsOfRound(groups, decode),
    },
  };
}

export const eva: Recipe = {
  name: 'eva',
  title: 'A creator evolves the prompts that still have most to teach',
  paper: {
    title: 'Evolving Alignment via Asymmetric Self-Play',
    year: 2024,
    source: 'arXiv:2411.00062',
  },
  summary:
    'A solver responds to prompts and learns by DPO from its best and its worst response to each. A creator rewrites prompts, the more often the more the best response to one earns above the mean, so that the prompts go on having something to teach.',
  method: {
    setting:
      'A prompt is a string transformation: words of a source, in a wanted order and number. The 96 prompts of the first round have three words; held-out ones have three to eight. The start policy is careless: it keeps the order, avoids repetition and keeps the number about half of the time each, and it was taught on sources of three to six words.',
    roles:
      'The solver, called responder, writes five responses to each prompt. The creator is a rule and is not trained: it rewrites a prompt in depth, with one more word in the source or asked for, or in breadth, with other words and another order.',
    rewards: 'A response earns its share of the rubric’s five points; a text that is no response earns 0.',
    credit:
      'The regret of a prompt is the best reward among its responses less their mean. Prompts of the last round are rewritten in proportion to it. The best and the worst response to a prompt make a pair; equal rewards make none.',
    objective:
      'DPO with β = 0.1 against the start policy. Variants train SPPO on the same pairs against the policy that wrote them, with win rates by reward and β = 1, or policy gradients on all responses with the mean of the others as a baseline (RLOO).',
    schedule:
      'The first round trains on the given prompts. From then on three quarters of a round’s 96 prompts were rewritten from those of the round before, and the others are drawn uniformly from all that were trained on. Each round goes once over its pairs, in four optimiser steps.',
  },
  needsOfTasks: 'prompts that a creator can rewrite in the notation of its family',
  differences: [
    'The creator rewrites by rule, where the paper prompts a language model to; neither is trained.',
    'Regret is the best reward less the mean. Other baselines, such as the worst reward, are not tried.',
    'Rewards are the points of an exact rubric, in the paper those of a reward model.',
    'A round evolves prompts once and trains once, on 96 prompts, and the reference of DPO stays the start policy; the paper has few iterations on thousands of prompts, each with the policy that it begins from as the reference.',
  ],
  figures: {
    ...RESPONSE_FIGURES,
    complexity:
      'Mean complexity of the round’s prompts: the words of a source, and two more where a word repeats.',
    regret: 'Mean of the best reward among the responses to a prompt, less the mean reward.',
    long: 'Mean share of the rubric’s points, over held-out prompts of six to eight words, sampled.',
  },
  startPolicy: 'style',
  taskName: 'style',
  stop: STOP,
  tasks: 96,
  groupSize: 5,
  state: promptBuffer,
  rewards: {
    rubric: { description: 'the share of the rubric’s points', usesGold: true },
    format: { description: 'control: any well-formed response is worth as much as another', usesGold: false },
    random: { description: 'control: a coin says what a response is worth', usesGold: false },
  },
  variants: VARIANTS,
  sets: { [MAIN_SET]: { optimizer: smallSteps({ learningRate: 2e-4, warmup: 8 }) } },
  roles: { [RESPONDER]: { description: 'responds', sampling: { maxNew: RESPONSE_TOKENS, temperature: 1 } } },
  freezable: [],
  propose,
  rollOut: respond,
  judge: async (context, groups) => ratedWithoutJudge(context, groups),
  learn,
  evaluate: async (context) => {
    const tasks = heldOut(context.evaluationTasks);
    const sampled = await answers(context, tasks, 'sampled');
    const long = sampled.filter(({ task }) => wordsIn(task) >= LONG);
    return examined(await answers(context, tasks, 'greedy', 0), sampled, {
      long: long.length ? mean(long.map(({ score }) => score)) / STYLE_POINTS : null,
    });
  },
  describe: { difficulty: styleDifficulty },
};
