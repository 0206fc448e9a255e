/** Writing-Zero: a response is compared with a sibling that is drawn at random, and is better or not. */

import type { LearnTools, RoundRecords, TrainingPlan, Update } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, type RecipeOver, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { grpo, raw } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { gradedSolver, UNGRADED, ungraded } from '../../protocols/graded-answers.ts';
import { meanScore, worthOfResponses } from '../../protocols/judged-responses.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { responderAlone } from '../../protocols/responder-alone.ts';
import { groupItems, policyUpdate, SOLVER, smallSteps } from '../../protocols/solver.ts';
import {
  pointsOfRound,
  RESPONDER,
  RESPONSE_CONTROLS,
  RESPONSE_FIGURES,
  rated,
} from '../../protocols/style-responder.ts';
import { parseResponse, parseScore, STYLE_POINTS, styleScore, wordsOf } from '../../worlds/style/family.ts';
import { against, referenceOf } from './compared.ts';

const JUDGE = 'judge';
/** About the share of the points that responses of the start policy earn. */
const FIXED_REFERENCE = 0.7;
/** How much the judge’s score is raised for each word, as a share of the points: a quarter of a point. This weakness is planted. */
const A_WORD = 0.05;
/** The number of scores that the judge writes for each response. */
const VOTES = 3;
const VARIANTS = {
  scalar: 'the mean score itself is paid, and compared with the mean of the group (GRPO)',
  'fixed-yardstick':
    'a response is compared with 0.7 of the points, about what those of the start earn, and with no sibling',
} as const;

/**
 * The worth of a response by the judge, as a share of the points: the mean of the scores that parse, plus the planted bonus for length; null where
 * none parses.
 */
function flattered(response: string, scores: readonly ParseResult<number>[]): number | null {
  const score = meanScore(scores);
  return score === null ? null : score + A_WORD * wordsOf(response);
}

/** What responses are paid by their worths, null where one is missing [responses]. */
function compared(group: string, worths: readonly (number | null)[], variant?: string): (number | null)[] {
  if (variant === 'scalar') return [...worths];
  const sibling = worths[referenceOf(group, worths.length)] ?? null;
  return against(worths, variant === 'fixed-yardstick' ? FIXED_REFERENCE : sibling);
}

async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { variant } = context.round.settings;
  const { worth, judgments } = await worthOfResponses(context, groups, {
    role: JUDGE,
    votes: VOTES,
    worth: flattered,
  });
  const earned = groups.flatMap(({ group, samples }) => {
    const worths = samples.map(({ id }) => worth.get(id) ?? null);
    const rewards = compared(group, worths, variant);
    return samples.map(({ id }, s) => [id, rewards[s]!] as const);
  });
  return rated(groups, new Map(earned), judgments);
}

/**
 * By how much the judge overrates the round's responses, as a share of the points; undefined where no score parses. By the oracle, for the report
 * alone.
 */
function overrated(groups: readonly ScoredGroup[], decode: LearnTools['decode']): number | undefined {
  const gaps = groups.flatMap(({ task, samples, judgments }) =>
    samples.flatMap(({ id, ids }) => {
      const response = parseResponse(decode(ids));
      if (!response.ok) return [];
      const scores = judgments.filter(({ of }) => of === id).map((vote) => parseScore(decode(vote.ids)));
      const worth = flattered(response.value, scores);
      return worth === null ? [] : [worth - styleScore(task, response.value) / STYLE_POINTS];
    }),
  );
  return gaps.length ? mean(gaps) : undefined;
}

const update = ({ round, groups }: Pick<RoundRecords, 'round' | 'groups'>, role: string): Update[] =>
  policyUpdate(role, groupItems(groups, round.settings.variant === 'scalar' ? grpo : raw), ppoClip());

function learn(records: RoundRecords, { decode }: LearnTools): TrainingPlan {
  const { groups } = records;
  const gap = overrated(groups, decode);
  return {
    updates: update(records, RESPONDER),
    figures: { points: pointsOfRound(groups, decode), ...(gap === undefined ? {} : { overrated: gap }) },
  };
}

const described = {
  name: 'writing-zero',
  title: 'Responses compared with a sibling drawn at random',
  paper: arXiv(
    '2506.00103',
    'Writing-Zero: Bridge the Gap Between Non-verifiable Tasks and Verifiable Rewards',
  ),
  summary:
    'Five responses to a string transformation are scored by a judge that does not learn. One of them, drawn at random, is the reference: what scores higher earns 1 and what scores lower -1, and that is the advantage as it is (BRPO). By how much a judge prefers a response, one that is long for instance, makes no difference.',
  method: {
    setting:
      'A response to a string transformation earns up to five points of a rubric, and many responses are perfect. The judge is the start policy itself, which was taught to write a score from 0 to 5 and is wrong now and then. A quarter of a point is added for each word, so that the judge can be flattered by length.',
    roles:
      'The responder writes five responses to each prompt. The judge, whose weights stay those of the start, writes three scores of each response.',
    rewards:
      'One response of each prompt is the reference, drawn for each group. Another earns 1 where the mean of its scores is higher, and -1 where it is lower. A text that is no response scores 0. The reference, and what scores the same, earn nothing and are not trained.',
    credit: 'The reward is the advantage, without a baseline and without normalisation (BRPO).',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens. There is no KL term and no critic.',
    schedule: 'Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'The paper’s judge compares two responses in one prompt, states principles and a critique, is trained by GRPO, and has to prefer a response under every way of asking. Here it scores each response by itself, three times, is not trained, and the means are compared; a tie teaches nothing instead of paying -1.',
    'The judge’s liking for length is planted, as a policy of this size does not find what flatters a judge within a run; the paper’s is that of a trained scalar reward model, and its pairwise judge has less of it. Here both ways of paying read the same judge.',
    'The responses are short transformations with a rubric, so that an oracle can say what the judge overrates; the paper’s are essays without one.',
    'The responder and the judge begin as the same weights.',
    'There is no term that keeps the policy near the start.',
  ],
  figures: {
    ...RESPONSE_FIGURES,
    overrated:
      'Mean of the judge’s score less the exact one, as a share of the rubric’s points; above 0 the judge overrates.',
  },
  variants: VARIANTS,
  sets: { [MAIN_SET]: { optimizer: smallSteps({ warmup: 8 }) }, [JUDGE]: { optimizer: null } },
} satisfies Described;

const written: RecipeOver<'solve' | 'rate'> = {
  // The answers are read by a control and the evaluation alone.
  needs: { verbs: ['solve', 'rate'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...gradedSolver(game, {
      votes: VOTES,
      temperature: 1,
      set: JUDGE,
      pay: ({ group }, grades, { round }) => compared(group, grades, round.settings.variant),
    }),
    learn: (records) => ({
      updates: update(records, SOLVER),
      figures: { ungraded: ungraded(records.groups) },
    }),
  }),
  elsewhere: {
    figures: { ungraded: UNGRADED },
    differences: [
      'The paper’s judge compares two responses in one prompt, states principles and a critique, and is trained by GRPO. Here it grades each response by itself, three times, with the weights of the start, and the means are compared; a tie teaches nothing instead of paying -1.',
      'There is no term that keeps the policy near the start.',
    ],
  },
  ownReward: 'the reward is a comparison of two grades',
};

const alone = responderAlone();

/** String transformations, whose judge can be flattered. */
export const writingZero: WithoutSetup = {
  ...described,
  written,
  ...alone,
  rewards: {
    judge: { description: 'scores of a judge that does not learn and likes long responses', usesGold: false },
    rubric: { description: 'upper bound: the points of the rubric', usesGold: true },
    ...RESPONSE_CONTROLS,
  },
  roles: {
    ...alone.roles,
    [JUDGE]: role('scores responses from 0 to 5', 2, { set: JUDGE }),
  },
  judge,
  learn,
};
