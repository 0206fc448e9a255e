/** SPPO: a preference is a two-player game, and the policy is trained towards its equilibrium. */

import type {
  LearnTools,
  PreferenceObjective,
  RoundRecords,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { arXiv, type Described, type RecipeOver, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { heldOutTasks } from '../../core/recipe/split.ts';
import { exploitability } from '../../core/rl/measures/exploitability.ts';
import { winRates } from '../../core/rl/selection/index.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { CONTROLS, exactReward, majorityReward } from '../../protocols/answer-rewards.ts';
import type { Answered } from '../../protocols/evaluate/responder.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import { preferencePart, updateOf } from '../../protocols/objectives.ts';
import { responderAlone } from '../../protocols/responder-alone.ts';
import { SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import {
  pointsOfRound,
  RESPONDER,
  RESPONSE_FIGURES,
  rated,
  responseOf,
} from '../../protocols/style-responder.ts';
import { winRatePairs, withWinRates } from '../../protocols/win-rates.ts';
import { isHeldOutStyle } from '../../worlds/style/family.ts';
import { drawnWin, mixtureOf, preference, STYLE_WINS, styleGameTask } from '../../worlds/style/game.ts';
import { changeOfChosen, chosenResponses, rememberChosen } from './chosen-likelihood.ts';

/**
 * 1/η. Steps of multiplicative weights spiral away from the equilibrium of a cyclic game, the faster the larger they are; these are one or two tenths
 * of a nat.
 */
const BETA = 1;
const heldOut = heldOutTasks('style-game', 400, styleGameTask, isHeldOutStyle);

/** The judge stage: the win rate of each response against all of its group, where it counts as one half against itself. */
async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const coins = context.round.settings.rewardFunction === 'random';
  const wins = (task: string, a: Sample, b: Sample): number =>
    coins
      ? drawnWin(coinOf(a.id), coinOf(b.id))
      : sealedGold(context, preference(task, responseOf(context, a), responseOf(context, b)))();
  const rates = groups.flatMap(({ task, samples }) => {
    const ofGroup = winRates(samples.map((a) => samples.map((b) => wins(task, a, b))));
    return samples.map(({ id }, i) => [id, ofGroup[i]!] as const);
  });
  return rated(groups, new Map(rates));
}

const OBJECTIVES: Readonly<Record<string, PreferenceObjective>> = {
  '': { kind: 'sppo', beta: BETA },
  dpo: { kind: 'dpo', beta: 0.1 },
};

/** One pass over the pairs of a role's responses, each with the win rates of the preferred one and of the other. */
async function planPairs(
  role: string,
  pairs: ReturnType<typeof winRatePairs>,
  { round, recipeState }: Pick<RoundRecords, 'round' | 'recipeState'>,
  tools: LearnTools,
): Promise<TrainingPlan> {
  const objective = OBJECTIVES[round.settings.variant ?? '']!;
  // Win rates are relative to the policy that wrote the responses, which is not the parent if the round is stale.
  const reference = { set: MAIN_SET, version: round.roles[role]!.version };
  const chosen = pairs.map((pair) => pair.chosen);
  return {
    updates: updateOf([preferencePart(role, pairs, objective, reference)], { epochs: 1 }),
    recipeState: await rememberChosen(chosen, tools),
    figures: {
      pairs: pairs.length,
      ...(await changeOfChosen(readState(chosenResponses, recipeState), tools)),
    },
  };
}

const described = {
  name: 'sppo',
  title: 'Self-play preference optimisation',
  paper: arXiv('2405.00675', 'Self-Play Preference Optimization for Language Model Alignment'),
  summary:
    'Five responses to a string transformation play a game in which short beats medium beats long beats short and points of a rubric count. The best and the worst by win rate are regressed, each by itself, on what multiplicative weights would make of them against the policy that wrote them.',
  method: {
    setting:
      'A response to a string transformation is short, medium or long. The preference between two responses is known exactly and is cyclic: short beats medium, medium beats long, long beats short, and points of a rubric count too. No style is best, so a method that follows the winner runs in circles and one that plays the game settles at a mixture.',
    roles: 'The responder writes five responses to each prompt.',
    rewards:
      'The reward of a response is its mean win rate against all five responses of its prompt, itself counted as one half.',
    credit: 'The best and the worst response of a prompt by win rate make a pair; equal rates make none.',
    objective:
      'SPPO regresses the log-ratio of the best and of the worst response to the policy that wrote them, each by itself, on (win rate - 1/2)/β, with β = 1. The variant trains DPO on the same pairs.',
    schedule:
      'A round is an iteration: 128 prompts, one pass over their pairs. The next round’s reference is the policy that this one made.',
  },
  differences: [
    'The preference is a win matrix known exactly, and cyclic; the paper’s is a model of 0.4 B parameters, nearly transitive.',
    'Responses are sampled at temperature 1 without truncation, so that they are drawn from the policy whose win rates are estimated; in the paper 0.7 and the top 0.9.',
    'beta is 1 instead of 0.001: targets of one or two tenths of a nat a round. Larger steps leave a cyclic game’s equilibrium, in theory too.',
    'AdamW at a constant 2e-4 instead of RMSprop at 5e-7, falling; up to 16 pairs a step, the paper’s 64.',
    'More and smaller iterations: 128 prompts each, gone over once.',
    'No format control: it would hold any well-formed response as good as another, so that win rates are equal, and only the one text in some hundreds that does not parse would make a pair.',
  ],
  figures: {
    ...RESPONSE_FIGURES,
    pairs: 'Number of pairs that are trained on.',
    chosen:
      'Change of the log-likelihood of the responses that the round before preferred, nats per response.',
    short: 'Share of short responses among the sampled ones.',
    medium: 'Share of responses of medium length among the sampled ones.',
    long: 'Share of long responses among the sampled ones.',
    exploitability:
      'Win rate of the best reply to the mixture of lengths, less one half: 0 at the equilibrium of the game, 0.5 at most.',
  },
  variants: { dpo: 'DPO on the same pairs' },
  state: chosenResponses,
  sets: trainedSolver({ learningRate: 2e-4, warmup: 4, minibatches: 8 }),
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: ({ family, tasks }) => ({
    ...described,
    ...solverAlone({
      family,
      tasks,
      rewards: { checker: exactReward, majority: majorityReward, ...CONTROLS },
    }),
    learn: (records, tools) => planPairs(SOLVER, winRatePairs(withWinRates(records.groups)), records, tools),
  }),
  elsewhere: {
    tasks: 32,
    summary:
      'Five answers to a question play a game in which a right answer beats a wrong one. The best and the worst by win rate are regressed, each by itself, on what multiplicative weights would make of them against the policy that wrote them.',
    method: {
      ...described.method!,
      roles: 'The solver writes five answers to each question.',
      rewards:
        'The reward of an answer is what the checker says of it. Its win rate is the mean over all five answers of its question, where the higher reward wins and equal ones win half of the time.',
      schedule:
        'A round is an iteration: 32 questions, one pass over their pairs. The next round’s reference is the policy that this one made.',
    },
    differences: [
      'The preference follows from the checker: right beats wrong, and equal answers win half of the time; in the paper a model of 0.4 B parameters compares them. `--reward majority` compares with the answer that most samples give.',
      'Answers are sampled at temperature 1 without truncation, in the paper at 0.7 and the top 0.9.',
      'beta is 1 instead of 0.001: targets of one or two tenths of a nat a round.',
      'AdamW at a constant step size instead of RMSprop at 5e-7, falling.',
    ],
  },
};

/** The mixture of styles, and how far it is from the equilibrium. */
function examine(sampled: readonly Answered[]): Record<string, number> {
  const mixture = mixtureOf(sampled.map(({ response }) => response));
  if (!mixture) return {};
  const [short, medium, long] = mixture;
  return { short, medium, long, exploitability: exploitability(STYLE_WINS, mixture) };
}

/** The style game: the preference between two responses is known exactly, and is cyclic. */
export const sppo: WithoutSetup = {
  ...described,
  written,
  ...responderAlone({ draw: (random) => styleGameTask(random), heldOut, examine }),
  rewards: {
    preference: { description: 'win rate by the exact win matrix', usesGold: true },
    random: { description: 'control: win rate by coins', usesGold: false },
  },
  judge,
  learn: async (records, tools) => {
    const { groups } = records;
    const plan = await planPairs(RESPONDER, winRatePairs(groups), records, tools);
    return { ...plan, figures: { ...plan.figures, points: pointsOfRound(groups, tools.decode) } };
  },
};
