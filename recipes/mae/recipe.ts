/** mae: one set of weights proposes questions, answers them and rates both, with no ground truth anywhere. */
import type { PolicyPart, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { readTags } from '../../core/recipe/reading.ts';
import { arXiv, type Described, played, type Recipe, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { whitenBatch } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import {
  creditedItems,
  describedBy,
  ofFamily,
  policyPart,
  rewardOf,
  trainedSolver,
} from '../../protocols/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { ratingParts } from '../../worlds/arithmetic/ratings.ts';
import { evaluateRatings } from './evaluate.ts';
import { admit, appraised, questionStore } from './question-store.ts';
import {
  answerQuestions,
  proposeQuestions,
  type RatedGame,
  type RatingEvidence,
  rateQuestions,
  storeOf,
} from './rated-questions.ts';
import { soundnessFigures, sums } from './sums.ts';

const QUALITY_GATE = 0.7;
/** The value of a rating that does not parse. */
const NEUTRAL = 0.5;

/** The reward of an answer that parses; other answers earn 0. */
export const solverReward = (rating: number): number => 0.5 * rating + 0.5;

/** The reward of a question that parses; other questions earn 0. */
export const proposerReward = (quality: number, difficulty: number, gate = QUALITY_GATE): number =>
  (quality + (quality >= gate ? difficulty : 0) + 1) / 3;

/** The value of a rating, by the run's reward function. */
export function ratingValue(rewardFunction: string, { rating, exact, coin }: RatingEvidence): number {
  if (rewardFunction === 'gold') return Number(exact());
  if (rewardFunction === 'random') return Number(coin);
  if (rewardFunction === 'format') return 1;
  return rating.ok ? rating.value : NEUTRAL;
}

/** The part that trains a role on its own samples and rewards; samples without a reward are left out. */
const part = (role: string, samples: readonly Sample[]): PolicyPart => {
  const together = samples.map(() => role);
  return policyPart(
    role,
    creditedItems(samples, samples.map(rewardOf), together, (paid) => whitenBatch(paid)),
    {
      objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28, dualClip: 3 },
      aggregation: { mode: 'token-mean' },
      entropy: 1e-3,
    },
  );
};

const gateOf = ({ settings }: RoundRecords['round']) => (settings.variant === 'no-gate' ? 0 : QUALITY_GATE);

function payProposals({ round, proposals, groups }: RoundRecords): ReadonlyMap<string, number | null> {
  const fresh = appraised(groups);
  return new Map(
    proposals.samples.map(({ id, outcome }) => {
      const question = fresh.get(id);
      if (question) return [id, proposerReward(question.quality, question.difficulty, gateOf(round))];
      // A held-out question and a question without a group have no reward; a question that does not parse earns 0.
      return [id, outcome === 'ok' || outcome === 'held-out' ? null : 0];
    }),
  );
}

function learnFrom(
  game: RatedGame,
  { round, proposals, groups, recipeState }: RoundRecords,
): TrainingPlan & { readonly recipeState: readonly string[] } {
  const fresh = appraised(groups);
  const stored = groups.filter(({ proposal }) => proposal === null);
  const answers = stored.flatMap(({ samples }) => samples);
  const ratings = stored.flatMap(({ judgments }) => judgments);
  const store = admit(storeOf(game, recipeState, round.settings.seed), fresh.values(), gateOf(round));
  const parts = [part('proposer', proposals.samples), part('solver', answers), part('judge', ratings)];
  return {
    updates: [{ set: MAIN_SET, parts }],
    recipeState: store,
    figures: { stored: store.length, quality: mean([...fresh.values()].map(({ quality }) => quality)) },
  };
}

const described = {
  name: 'mae',
  title: 'Proposer, solver and judge that evolve together without ground truth',
  paper: arXiv('2510.23595', 'Multi-Agent Evolve: LLM Self-Improve through Co-evolution'),
  summary:
    'One policy proposes questions, half of them varied from stored ones, answers them and rates questions and answers. Questions of high quality are stored and paid for difficulty; the solver trains on stored questions by the rating of its answers; the judge is paid for format alone.',
  method: {
    setting:
      'Questions are arithmetic chains, sound or not: some ask nothing that has an answer. Nobody sees the true answers. The store begins with 16 sound questions; the start policy spoils half of its proposals and guesses, or writes until it is cut off, on what asks nothing.',
    roles:
      'One set of weights plays three roles. The proposer writes new questions, half of them varied from a stored one. The solver answers each new question three times, to learn how difficult it is, and as many stored questions once, to learn from them. The judge rates new questions and answers from 1 to 10 after a written check.',
    rewards:
      'A rating counts as a number from 0 to 1, one that does not parse counts 0.5. The proposer earns (quality + difficulty + 1)/3 where the mean rating of its question, its quality, reaches 0.7, and (quality + 1)/3 where it does not; difficulty is 1 minus the mean rating of the answers. A question that does not parse earns 0, a held-out one has no reward. The solver earns half the rating of its answer plus 0.5 for form, the judge 1 for exactly one score.',
    credit: 'Rewards are whitened role by role, over the round.',
    objective:
      'A clipped policy gradient for each role, ratios in [0.8, 1.28] with a dual clip at 3, a mean over each role’s tokens, and an entropy bonus of weight 0.001.',
    schedule:
      'Each round makes one update of the shared weights. Questions whose quality reaches 0.7 enter the store and may be answered in later rounds: the gate keeps out questions that nobody can solve and that therefore look difficult.',
  },
  differences: [
    'A score of 1 to 10 is written as one digit, after a check that writes the running totals; the judge sees an answer without its steps. The grammars have one answer or none, so that format is 1 or 0.',
    'An answer that is not well-formed is not shown to the judge: it earns nothing and counts 0 in its question’s difficulty, which the paper takes from ratings alone. On questions that ask nothing the start’s answers are cut off half of the time, so that these pay their proposer well before the judge has said anything.',
    'The judge trains on its ratings of this round’s answers to stored questions, which the paper draws from those stored earlier.',
    'Three samples of each question’s rating and of its answers, where the paper has five; 64 a role, where it has 128.',
    'The store begins with 16 sound questions; the start is taught to spoil half of its proposals, and on what asks nothing to guess or to run on until it is cut off.',
    'No repetition penalty; each role’s tokens have their own mean in the loss, and rewards are whitened over a role’s samples, not over their tokens. Four optimiser steps a round where the paper has six.',
  ],
  figures: {
    stored: 'Number of questions in the store.',
    quality: 'Mean rating of the round’s new questions, 0 to 1.',
    unsolvable: 'Share of the stored questions that have no answer, by the oracle.',
    unsolvableProposed: 'Share of the round’s new questions that have no answer, by the oracle.',
    answerRatings:
      'Rank correlation (Spearman) of the judge’s ratings with the oracle’s on answers of version 0; −1 to 1.',
    questionRatings:
      'Rank correlation (Spearman) of the judge’s ratings with the oracle’s on held-out questions, half of them spoiled; −1 to 1.',
  },
  state: questionStore,
  variants: { 'no-gate': 'every question that parses is stored and paid for difficulty' },
  sets: trainedSolver({ learningRate: 2e-4, warmup: 10 }),
} satisfies Described;

const REWARDS = {
  ratings: { description: 'the judge’s ratings and format: nobody sees gold', usesGold: false },
  format: { description: 'control: every rating counts 1', usesGold: false },
  random: { description: 'control: a coin instead of every rating', usesGold: false },
};

/** The stages over a game, what proposals earn, and what is learned. */
function stages(rated: RatedGame) {
  const { family, words } = rated.game;
  return {
    ...ofFamily(family),
    rewards: REWARDS,
    roles: {
      proposer: role('writes questions, some of them ill-formed', words.propose.maxNew, {
        shown: 'a question as an example',
      }),
      solver: role('answers, with or without steps', words.solve.maxNew),
      judge: role('rates questions and answers', words.rate.maxNew),
    },
    freezable: ['proposer', 'solver', 'judge'],
    propose: (context) => proposeQuestions(rated, context),
    rollOut: (context, tasks) => answerQuestions(rated, context, tasks),
    judge: (context, groups) => {
      const { rewardFunction } = context.round.settings;
      return rateQuestions(
        rated,
        context,
        groups,
        (evidence) => ratingValue(rewardFunction, evidence),
        solverReward,
      );
    },
    payProposals,
    learn: (records) => learnFrom(rated, records),
    evaluate: async (context) =>
      evaluation(await evaluateSolver(context, { family, role: 'solver', temperature: 1 })),
  } satisfies Partial<Recipe>;
}

const written: RecipeOver<'solve' | 'propose' | 'rate' | 'appraise'> = {
  // The answers are read by the evaluation alone.
  needs: { verbs: ['solve', 'propose', 'rate', 'appraise'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...stages({
      game,
      seeds: () => [],
      isSound: () => null,
      isRight: (task, solution) =>
        game.family.isUnlabelled?.(task) ? null : game.family.answerIsExact(task, solution),
    }),
  }),
  elsewhere: {
    tasks: 32,
    differences: [
      'The files’ questions are the reference questions of the paper’s second variant: every proposal varies one of them or a stored one. The store itself holds what the policy wrote and the gate let in.',
      'An answer that is not well-formed is not shown to the judge: it earns nothing and counts 0 in its question’s difficulty.',
      'The judge trains on its ratings of this round’s answers to known questions. Three samples of each question’s rating and of its answers, where the paper has five.',
      'No repetition penalty; rewards are whitened over a role’s samples. There is no oracle of questions, and so no reward `gold`.',
    ],
  },
  ownReward: 'its ratings are the reward',
  ownOrder: 'the files’ questions are examples for its proposer',
};

export const mae = played(written, sums.game, {
  ...stages(sums),
  rewards: {
    ratings: REWARDS.ratings,
    gold: { description: 'the oracle instead of the ratings', usesGold: true },
    format: REWARDS.format,
    random: REWARDS.random,
  },
  learn: (records) => {
    const plan = learnFrom(sums, records);
    const fresh = [...appraised(records.groups).values()];
    return { ...plan, figures: { ...plan.figures, ...soundnessFigures(plan.recipeState, fresh) } };
  },
  evaluate: async (context) =>
    evaluation(
      await evaluateSolver(context, { family: arithmetic, role: 'solver', temperature: 1 }),
      await evaluateRatings(context),
    ),
  describe: {
    ...describedBy(arithmetic),
    parts: (role, text) => (role === 'judge' ? ratingParts : readTags)(text),
  },
});
