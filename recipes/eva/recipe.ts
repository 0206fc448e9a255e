/** eva: a creator evolves the prompts from which a solver still has most to gain, and the solver learns by preferences. */

import type { Game } from '../../core/game/game.ts';
import type {
  PreferenceObjective,
  ProposalTools,
  RoundRecords,
  TrainingPlan,
  Update,
} from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { Described, RecipeOver, WithoutSetup } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { heldOutTasks } from '../../core/recipe/split.ts';
import { rloo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { admit } from '../../core/round/admit.ts';
import { proposalId } from '../../core/round/sample-ids.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import type { Answered } from '../../protocols/evaluate/responder.ts';
import { type GradedGame, gradedSolver, UNGRADED, ungraded } from '../../protocols/graded-answers.ts';
import { ratedWithoutJudge } from '../../protocols/judged-responses.ts';
import { preferencePart, updateOf } from '../../protocols/objectives.ts';
import { passed, writeTasks } from '../../protocols/proposals.ts';
import { responderAlone } from '../../protocols/responder-alone.ts';
import { groupItems, policyUpdate, SOLVER, trainedSolver } from '../../protocols/solver.ts';
import {
  pointsOfRound,
  RESPONDER,
  RESPONSE_CONTROLS,
  RESPONSE_FIGURES,
} from '../../protocols/style-responder.ts';
import { winRatePairs, withWinRates } from '../../protocols/win-rates.ts';
import { admitTasks, nextTasks } from '../../worlds/drawn-tasks.ts';
import {
  isHeldOutStyle,
  parseStyleTask,
  randomStyleTask,
  STYLE_POINTS,
  styleDifficulty,
} from '../../worlds/style/family.ts';
import {
  bufferIn,
  HOW,
  type How,
  nextPrompts,
  type PromptBuffer,
  promptBuffer,
  ratedOf,
  seeds,
  weightsOf,
} from './prompts.ts';

/** The share of a round’s prompts that the creator rewrote; the others come from all that were trained on. */
const EVOLVED = 0.75;
/** The role that rewrites prompts where no rule does, and the weights of the role that grades. */
const CREATOR = 'creator';
const GRADER_SET = 'judge';
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

const howOf = (variant: string | undefined): How => HOW.find((name) => name === variant) ?? 'regret';

type EvolvedGame = GradedGame & Game<'evolve'>;

/** The prompts of a round in a game: those that the creator rewrote and that the game admits, and others that were trained on. */
async function evolve(game: EvolvedGame, context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const { tasks: count, variant } = round.settings;
  const state = readState(promptBuffer, await context.recipeState());
  if (variant === 'no-evolution' || !state?.last.length) return game.tasks(context);
  const random = new Random(`${round.id}/evolve`);
  const weights = weightsOf(state.last, howOf(variant));
  const requests = Array.from({ length: Math.ceil(EVOLVED * count) }, (_, i) => ({
    on: {
      task: state.last[random.weighted(weights)]!.task,
      way: random.bool() ? ('deeper' as const) : ('broader' as const),
    },
    sampleIds: [proposalId(round.id, CREATOR, i)],
  }));
  const written = await writeTasks(game, context, CREATOR, 'evolve', requests);
  const made = passed(written);
  const others = random.shuffle(state.buffer).slice(0, count - made.length);
  return {
    round: round.id,
    samples: written.map(({ sample }) => sample),
    tasks: admit(round, [...made, ...others.map((task) => ({ task, proposal: null }))]),
  };
}

async function propose(context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const { tasks: count, variant } = round.settings;
  const state = bufferIn(await context.recipeState());
  if (variant === 'no-evolution' || !state.last.length) return admitTasks(round, nextTasks(round, seeds()));
  const random = new Random(`${round.id}/evolve`);
  const fresh = Math.ceil(EVOLVED * count);
  return admitTasks(round, nextPrompts(random, state, howOf(variant), { count, fresh }));
}

/** The solver's update: by default DPO on the best and the worst response to each prompt. */
function solverUpdates({ round, groups }: RoundRecords, role: string): Update[] {
  const { variant } = round.settings;
  if (variant === 'rloo')
    return policyUpdate(role, groupItems(groups, rloo), {
      objective: { kind: 'reinforce' },
      aggregation: { mode: 'token-mean' },
    });
  const pairs = winRatePairs(withWinRates(groups));
  const objective: PreferenceObjective =
    variant === 'sppo' ? { kind: 'sppo', beta: 1 } : { kind: 'dpo', beta: 0.1 };
  // Win rates are relative to the policy that wrote the responses.
  const version = variant === 'sppo' ? round.roles[role]!.version : 0;
  return updateOf([preferencePart(role, pairs, objective, { set: MAIN_SET, version })]);
}

/** What a round trains, and what it leaves for the creator. `before`: the prompts that were trained on before it. */
function planned(records: RoundRecords, role: string, before: PromptBuffer['buffer']) {
  const last = ratedOf(records.groups);
  return {
    updates: solverUpdates(records, role),
    recipeState: { buffer: [...new Set([...before, ...last.map(({ task }) => task)])], last },
    figures: last.length ? { regret: mean(last.map(({ regret }) => regret)) } : {},
  } satisfies TrainingPlan;
}

function learn(records: RoundRecords, { decode }: ProposalTools): TrainingPlan {
  const { groups, recipeState } = records;
  const plan = planned(records, RESPONDER, bufferIn(recipeState).buffer);
  return {
    ...plan,
    figures: {
      complexity: mean(groups.map(({ task }) => styleDifficulty(task))),
      ...plan.figures,
      points: pointsOfRound(groups, decode),
    },
  };
}

const described = {
  name: 'eva',
  title: 'A creator evolves the prompts that still have most to teach',
  paper: { title: 'Evolving Alignment via Asymmetric Self-Play', year: 2024, source: 'arXiv:2411.00062' },
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
  state: promptBuffer,
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 2e-4, warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'rate' | 'evolve'> = {
  // The answers are read by a control and the evaluation alone.
  needs: { verbs: ['solve', 'rate', 'evolve'], data: ['answer'] },
  over: (game) => {
    const graded = gradedSolver(game, { votes: 1, temperature: 1, set: GRADER_SET });
    return {
      ...described,
      ...graded,
      sets: { ...described.sets, [GRADER_SET]: { optimizer: null } },
      roles: {
        ...graded.roles,
        [CREATOR]: role('rewrites prompts, and is not trained on what it writes', game.words.evolve.maxNew),
      },
      propose: (context) => evolve(game, context),
      learn: (records) => {
        const before = readState(promptBuffer, records.recipeState)?.buffer ?? [];
        const plan = planned(records, SOLVER, before);
        return { ...plan, figures: { ...plan.figures, ungraded: ungraded(records.groups) } };
      },
    };
  },
  elsewhere: {
    method: {
      roles:
        'The solver writes the answers to each question. The creator, with the solver’s weights and not trained, rewrites a question in depth or in breadth. The judge, with the weights of the start, grades every answer once, from 0 to 5 points.',
      rewards: 'An answer earns its grade as a share of the points.',
    },
    figures: { regret: described.figures.regret, ungraded: UNGRADED },
    differences: [described.differences[1]!, described.differences[3]!],
  },
  ownReward: 'the grades say what could still be gained from a prompt',
  ownOrder: 'its creator chooses the prompts',
};

function examine(sampled: readonly Answered[]) {
  const long = sampled.filter(({ task }) => wordsIn(task) >= LONG);
  return { long: long.length ? mean(long.map(({ score }) => score)) / STYLE_POINTS : null };
}

/** String transformations, which a rule rewrites. */
export const eva: WithoutSetup = {
  ...described,
  written,
  ...responderAlone({ heldOut, examine }),
  rewards: {
    rubric: { description: 'the share of the rubric’s points', usesGold: true },
    ...RESPONSE_CONTROLS,
  },
  propose,
  judge: async (context, groups) => ratedWithoutJudge(context, groups),
  learn,
  describe: { difficulty: styleDifficulty },
};
