/** SCIR: of the pairs that a policy judges itself, those are trained on which its judge and its implicit reward agree. */

import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, type RecipeOver, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { gradedSolver } from '../../protocols/graded-answers.ts';
import { worthOfResponses } from '../../protocols/judged-responses.ts';
import { preferencePart, updateOf } from '../../protocols/objectives.ts';
import { responderAlone } from '../../protocols/responder-alone.ts';
import { SOLVER, trainedSolver } from '../../protocols/solver.ts';
import {
  pointsOfRound,
  RESPONDER,
  RESPONSE_CONTROLS,
  RESPONSE_FIGURES,
  rated,
  sequenceOf,
} from '../../protocols/style-responder.ts';
import { heldOutStyle, parseResponse, styleScore } from '../../worlds/style/family.ts';
import { implicitMargins, judgedPairs, type PointsOf, pointMargins, rightShare } from './pairs.ts';

const JUDGE = 'judge';
const BETA = 0.1;
/** The number of scores that the judge writes of each response. */
const VOTES = 3;
/** Rounds that train all pairs, in which the implicit reward is learned; it orders nothing before anything is trained. */
const WARMUP_ROUNDS = 4;
/** Held-out tasks of an evaluation. */
const EXAMINED = 200;
const VARIANTS = {
  plain: 'all pairs that the judge orders are trained: self-rewarding',
  'random-pairs': 'as many pairs as are consistent, drawn at random from all that the judge orders',
} as const;

async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { worth, judgments } = await worthOfResponses(context, groups, { role: JUDGE, votes: VOTES });
  return rated(groups, worth, judgments);
}

/** Which of the judged pairs are trained, by the round and the variant. consistent [pairs] */
function selected(
  { id, index, settings: { variant } }: RoundRecords['round'],
  consistent: readonly boolean[],
): boolean[] {
  if (variant === 'plain' || index <= WARMUP_ROUNDS) return consistent.map(() => true);
  return variant === 'random-pairs' ? new Random(`${id}/pairs`).shuffle([...consistent]) : [...consistent];
}

/** The figures that were measured: a share of no pairs is none. */
const measured = (figures: Readonly<Record<string, number | undefined>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(figures).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

async function learn(
  { round, groups, version }: RoundRecords,
  tools: LearnTools,
  role: string,
  pointsOf: PointsOf,
): Promise<TrainingPlan> {
  const pairs = judgedPairs(groups);
  const margins = await implicitMargins(pairs, tools);
  const consistent = margins.map((margin) => margin > 0);
  const trains = selected(round, consistent);
  const points = pointMargins(pairs, pointsOf);
  const ones = pairs.map(() => 1);
  const only = <T>(of: readonly T[]) => of.filter((_, i) => trains[i]);
  const trained = only(pairs);
  const sequences = trained.map(({ chosen, rejected }) => ({
    chosen: sequenceOf(chosen),
    rejected: sequenceOf(rejected),
  }));
  return {
    updates: updateOf([preferencePart(role, sequences, { kind: 'dpo', beta: BETA })]),
    figures: measured({
      pairs: trained.length,
      consistent: version > 0 && pairs.length ? mean(consistent.map(Number)) : undefined,
      trainedRight: rightShare(only(ones), only(points)),
      judgeRight: rightShare(ones, points),
      implicitRight: version === 0 ? undefined : rightShare(margins, points),
    }),
  };
}

/** The points of a response by the rubric. */
const rubricPoints =
  ({ decode }: LearnTools): PointsOf =>
  (task, { ids }) => {
    const parsed = parseResponse(decode(ids));
    return parsed.ok ? styleScore(task, parsed.value) : 0;
  };

/** 1 for an answer that the checker accepts, else 0. */
function checkedPoints(groups: readonly ScoredGroup[]): PointsOf {
  const exact = new Map(
    groups.flatMap(({ samples, answersExact }) => samples.map(({ id }, i) => [id, answersExact[i]])),
  );
  return (_, { id }) => Number(exact.get(id) === true);
}

const described = {
  name: 'scir',
  title: 'Self-rewarding on pairs that two internal rewards agree on',
  paper: arXiv(
    '2502.08922',
    'Self-Consistency of the Internal Reward Models Improves Self-Rewarding Language Models',
  ),
  summary:
    'A policy writes two responses to each prompt and scores both itself. Its training has given it a second opinion: the response that became likelier since the start has the higher implicit reward. DPO trains those pairs on which both opinions agree.',
  method: {
    setting:
      'A response to a string transformation earns up to five points of a rubric that nobody shows the policy. The start policy is careless as a responder, and one in five scores of its judge counts words in place of points.',
    roles:
      'The responder writes two responses to each prompt. The judge, with the same weights, writes three scores from 0 to 5 of each.',
    rewards:
      'The mean of the judge’s scores as a share of five points; a text that is no response scores 0. The implicit reward of a response is β Σ log(π/π_start) over its tokens, with π the weights that the round trains from.',
    credit:
      'The response with the higher score is chosen and the other rejected; equal scores make no pair. Of these pairs those are trained whose chosen response has the higher implicit reward as well. The first four rounds train all pairs, since the implicit reward has first to be learned.',
    objective: 'DPO with β = 0.1 against the start policy.',
    schedule:
      'Each round goes once over its pairs, in four optimiser steps. The next round responds and judges with the policy that this one made.',
  },
  differences: [
    'The half of the method that pulls the two internal rewards together, a penalty for disagreement and for doubt in each training step, is left out: its form was not checked, and preference pairs cannot train a judge’s digits. The selection of consistent pairs is here, and is what the claim is about.',
    'Pairs are selected once a round, not in each step, and by the sign of the implicit reward alone.',
    'The paper trains the judge on seed data for judging first; here it was taught to score in the warm start.',
  ],
  figures: {
    ...RESPONSE_FIGURES,
    pairs: 'Number of pairs that are trained on.',
    consistent:
      'Share of the pairs that the judge orders on which the implicit reward agrees with it; from the second round on.',
    trainedRight:
      'Share of the trained pairs with unequal points whose chosen response has more points of the rubric.',
    judgeRight: 'The same share of all pairs that the judge orders.',
    implicitRight:
      'Share of the pairs with unequal points whose better response has the higher implicit reward; from the second round on.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'rate'> = {
  // The answers are read by a control and the evaluation alone.
  needs: { verbs: ['solve', 'rate'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...gradedSolver(game, { votes: VOTES, temperature: 1 }),
    learn: (records, tools) => learn(records, tools, SOLVER, checkedPoints(records.groups)),
  }),
  elsewhere: {
    figures: {
      pairs: described.figures.pairs,
      consistent: described.figures.consistent,
      trainedRight:
        'Share of the trained pairs of a right and a wrong answer whose chosen answer is the right one.',
      judgeRight: described.figures.judgeRight,
      implicitRight:
        'Share of the pairs of a right and a wrong answer whose right answer has the higher implicit reward; from the second round on.',
    },
    differences: [
      'The half of the method that pulls the two internal rewards together, a penalty for disagreement and for doubt in each training step, is left out; the selection of consistent pairs is here.',
      'Pairs are selected once a round, not in each step, and by the sign of the implicit reward alone.',
      'The policy is not fine-tuned to judge beforehand: how well it grades is how well the checkpoint does.',
    ],
  },
  ownReward: 'the points that the policy gives itself order the pairs',
};

const alone = responderAlone({
  heldOut: ({ most, heldOut }) => heldOutStyle({ heldOut, most: Math.min(most, EXAMINED) }),
});

/** String transformations with a rubric. */
export const scir: WithoutSetup = {
  ...described,
  written,
  ...alone,
  rewards: {
    judge: { description: 'scores that the policy writes of its own responses', usesGold: false },
    rubric: { description: 'upper bound: the points of the rubric', usesGold: true },
    ...RESPONSE_CONTROLS,
  },
  roles: {
    ...alone.roles,
    [JUDGE]: role('scores responses from 0 to 5', 2),
  },
  judge,
  learn: async (records, tools) => {
    const { updates, figures } = await learn(records, tools, RESPONDER, rubricPoints(tools));
    return { updates, figures: { ...figures, points: pointsOfRound(records.groups, tools.decode) } };
  },
};
