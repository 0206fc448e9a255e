/** SSR-Zero: a policy is paid for its translations what it says itself that they are worth. */
import type { LearnTools, RoundRecords, TrainingPlan, Update } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, type RecipeOver, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { Judgment, ParseResult } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, CONTROLS, payAnswers } from '../../protocols/answer-rewards.ts';
import { evaluateVerifier, VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { besideOracle } from '../../protocols/gold.ts';
import { gradedSolver, UNGRADED, ungraded } from '../../protocols/graded-answers.ts';
import { grpoUpdate } from '../../protocols/objectives.ts';
import { rewardNamed, SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { parseGroup, verify } from '../../protocols/verify.ts';
import { cipher, wordsRight } from '../../worlds/cipher/family.ts';

/** Held-out sentences that are voted on, and translations of each. */
const VOTED = 200;
const DRAWS = 2;

const VARIANTS = {
  'chance-judge': 'scores change places among the translations of a sentence, drawn at random',
} as const;

/** What a judgment says that a translation is worth: the share of the words that it marks as right, 0 where it does not parse. */
export const scoreOf = (judgment: ParseResult<Judgment> | undefined): number =>
  judgment?.ok ? mean(judgment.value.steps.map(Number)) : 0;

/** Rewards of the translations of a sentence, given their scores [translations]. */
const rewardsBy = (scores: readonly number[]): Readonly<Record<string, AnswerReward>> => ({
  self: {
    description: 'the share of its words that the policy itself marks as right',
    usesGold: false,
    pay: () => scores,
  },
  'self-and-exact': {
    description: 'the same, and 1 more for an exact translation',
    usesGold: true,
    pay: ({ answersExact }) => answersExact().map((exact, i) => scores[i]! + Number(exact === true)),
  },
  ...CONTROLS,
});
const rewards = rewardsBy([]);

/** Stage three: the policy judges each of its translations once, without seeing the others. */
async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { rewardFunction, variant } = context.round.settings;
  const solutionsGS = groups.map((group) => parseGroup(cipher, context, group));
  const verdicts = await verify(context, groups, solutionsGS, { family: cipher, role: JUDGE, votes: 1 });
  return groups.map((group, g): ScoredGroup => {
    const scores = verdicts[g]!.map(([verdict]) => scoreOf(verdict?.parsed));
    const usedScores =
      variant === 'chance-judge' ? new Random(`${group.group}/scores`).shuffle([...scores]) : scores;
    const paid = payAnswers(cipher, rewardNamed(rewardsBy(usedScores), rewardFunction), context, group);
    return {
      ...paid,
      judgments: verdicts[g]!.flatMap((each, s) =>
        each.map(({ sample, parsed }) => ({
          ...sample,
          rewards: { score: scores[s]! },
          ...besideOracle(paid.answersExact[s]!, parsed.ok ? parsed.value.right : null),
        })),
      ),
    };
  });
}

const update = (groups: readonly ScoredGroup[]): Update[] => grpoUpdate(groups);

function learn({ groups }: RoundRecords, { decode }: LearnTools): TrainingPlan {
  const judged = groups.flatMap(({ task, samples, judgments }) =>
    judgments.flatMap(({ of, rewards: { score } }) => {
      const solution = cipher.parseSolution(task, decode(samples.find(({ id }) => id === of)!.ids));
      return solution.ok ? [{ score: score!, words: wordsRight(task, solution.value) }] : [];
    }),
  );
  return {
    updates: update(groups),
    // By the oracle, for the report alone.
    figures: judged.length
      ? {
          wordsRight: mean(judged.map(({ words }) => words)),
          overrated: mean(judged.map(({ score, words }) => score - words)),
        }
      : {},
  };
}

const { roles, ...alone } = solverAlone({ family: cipher, rewards });

const described = {
  name: 'ssr-zero',
  title: 'A translator that is paid what it says itself of its translations',
  paper: arXiv(
    '2505.16637',
    'SSR-Zero: Simple Self-Rewarding Reinforcement Learning for Machine Translation',
  ),
  summary:
    'A policy translates sentences without references and then judges each of its translations. The score that it gives is the whole reward of the translation, and judging is not trained.',
  method: {
    setting:
      'Two invented languages have twelve words each and another order of words. Sentences of six words of either are translated into the other. The start policy takes more than half of three false friends for what they look like, and 3 % of the other words are wrong; as a judge it was taught to overlook three in ten of the false friends that were mistaken.',
    roles:
      'The solver translates each sentence eight times. The judge, with the same weights, reads the sentence and one translation, marks each word and says whether the whole is right, once for each translation.',
    rewards:
      'A translation earns the share of its words that the judge marks as right, and 0 where it is no sentence of the other language or the judgment does not parse. Nobody sees a right translation.',
    credit:
      'The advantage is the reward minus the mean of its sentence’s translations, divided by their deviation (GRPO). Judgments are not trained on.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens. There is no KL term.',
    schedule:
      'The judge of a round has the weights from which the round trains. Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'Languages are invented, with one right translation of each sentence, so that hidden accuracy is exact; the paper translates between English and Chinese and measures by trained metrics and human references.',
    'The judge marks words, and its score is the share that it marks as right; the paper’s writes thoughts and a score, whose scale was not checked.',
    'With `self-and-exact` an exact checker stands in for COMET, the trained metric that the paper adds to the score.',
    'The start policy’s errors, and how often its judge overlooks them, are planted.',
  ],
  figures: {
    ...VERIFIER_FIGURES,
    wordsRight: 'Share of the words of judged translations that are right.',
    overrated: 'Mean of the judge’s score minus the share of words that are right, over judged translations.',
  },
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'rate'> = {
  // The answers are read by a control and the evaluation alone.
  needs: { verbs: ['solve', 'rate'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...gradedSolver(game, { votes: 1, temperature: 1 }),
    learn: ({ groups }) => ({ updates: update(groups), figures: { ungraded: ungraded(groups) } }),
  }),
  elsewhere: {
    figures: { ungraded: UNGRADED },
    differences: [
      'The policy grades an answer by points from 0 to 5, in words; the paper’s grade of a translation has a scale of its own, which was not checked.',
      'A grade that cannot be read is missing, and its answer is not trained on.',
    ],
  },
  ownReward: 'the points that the policy gives itself are the reward',
};

/** Sentences of two invented languages, whose judge marks words. */
export const ssrZero: WithoutSetup = {
  ...alone,
  ...described,
  written,
  variants: VARIANTS,
  roles: {
    ...roles,
    [JUDGE]: role('judges a translation word by word', cipher.maxNew.judge),
  },
  freezable: [JUDGE],
  judge,
  learn,
  evaluate: (context) =>
    evaluateVerifier(context, { family: cipher, solver: SOLVER, judge: JUDGE, voted: VOTED, answers: DRAWS }),
};
