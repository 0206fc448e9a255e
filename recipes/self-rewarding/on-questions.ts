/**
 * self-rewarding on questions of files, for any policy. The policy grades its own answers by a rubric of points, as in the paper. No reference answer
 * is used, except by a control.
 */
import * as v from 'valibot';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { rubric as rubricSchema } from '../../core/recipe/rubric.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { exactReward, formatReward, payAnswers, randomReward } from '../../protocols/answer-rewards.ts';
import { onQuestions, type QuestionGame, type RecipeOnQuestions } from '../../protocols/questions/game.ts';
import { judgeByRubrics, judgeRole, type RubricAsked } from '../../protocols/questions/judged-reward.ts';
import { rewardNamed, SOLVER, solverAlone } from '../../protocols/solver.ts';
import { pairsOf, selfRewarding } from './recipe.ts';

const CONTROLS = { gold: exactReward, random: randomReward, format: formatReward } as const;

/** Five points, as in the paper; a judgment may give its reasons before the grade. */
const SELF: RubricAsked = {
  name: 'self',
  rubric: v.parse(rubricSchema, {
    messages: [
      {
        role: 'user',
        content:
          'Grade an answer to a question.\n\nQuestion:\n{{question}}\n\nAnswer:\n{{response}}\n\nGive it one point for each of these: it is about the question; it answers most of it; it answers all of it; its steps are sound; its result is right. Say briefly why, then write the points, from 0 to 5, as <grade>POINTS</grade>.',
      },
    ],
    grade: { tag: 'grade', from: 0, to: 5 },
    maxNew: 128,
    temperature: 0.7,
  }),
};
const JUDGE = judgeRole(SELF.name);

async function judge(
  { family }: QuestionGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { rewardFunction } = context.round.settings;
  if (rewardFunction !== 'judge') {
    const reward = rewardNamed<(typeof CONTROLS)[keyof typeof CONTROLS]>(CONTROLS, rewardFunction);
    return groups.map((group) => payAnswers(family, reward, context, group));
  }
  const renderer = context.renderer();
  const texts = groups.map(({ samples }) => samples.map(({ prompt, ids }) => renderer.read(prompt, ids)));
  const judged = await judgeByRubrics(context, [SELF], groups, texts);
  return groups.map((group, g) => {
    const { judgments, scores } = judged[g]!;
    // The checker's result is recorded for the monitors alone.
    const checked = payAnswers(family, formatReward, context, group);
    return {
      ...checked,
      samples: group.samples.map((sample, i) => {
        const score = scores[SELF.name]![i]!;
        return typeof score === 'number'
          ? { ...sample, rewards: { reward: score } }
          : { ...sample, rewards: { reward: null }, missing: { reward: score } };
      }),
      judgments: [...judgments],
    };
  });
}

/** DPO on the best and the worst answer of each group, with the version that wrote them as the reference. */
export function planPairs({ round, groups }: Pick<RoundRecords, 'round' | 'groups'>): TrainingPlan {
  const pairs = pairsOf(groups);
  const reference = { set: MAIN_SET, version: round.roles[SOLVER]!.version };
  const objective = { kind: 'dpo', beta: 0.1 } as const;
  const part = { kind: 'preference', role: SOLVER, weight: 1, pairs, objective, reference } as const;
  const missing = groups.flatMap(({ samples }) => samples).filter(({ rewards }) => rewards.reward === null);
  return {
    updates: pairs.length ? [{ set: MAIN_SET, parts: [part], epochs: 2 }] : [],
    figures: { pairs: pairs.length, ungraded: missing.length },
  };
}

function selfRewardingOn(game: QuestionGame): Recipe {
  const { family, maxNew, tasks } = game;
  const shape = solverAlone({ family, maxNew, temperature: 0.7, tasks, rewards: CONTROLS });
  const { maxNew: longest, temperature } = SELF.rubric;
  return {
    ...onQuestions(selfRewarding, shape),
    differences: [
      'The judge grades each answer once, where the paper takes the mean of three grades; a grade that does not parse is missing, and its answer is in no pair.',
      'Questions come from files, where the paper has a fixed few-shot model write them.',
      'The policy is not fine-tuned to judge beforehand: how well it grades is how well the checkpoint does.',
    ],
    variants: {},
    tasks: 32,
    rewards: {
      judge: { description: 'the points that the policy itself gives, by a rubric of five', usesGold: false },
      ...shape.rewards,
    },
    roles: {
      ...shape.roles,
      [JUDGE]: {
        description: 'grades answers by a rubric of five points',
        sampling: { maxNew: longest, temperature },
      },
    },
    freezable: [JUDGE],
    judge: (context, groups) => judge(game, context, groups),
    learn: planPairs,
  };
}

/** The recipe on questions of files, for any policy. */
export const selfRewardingOnQuestions: RecipeOnQuestions = {
  make: selfRewardingOn,
  ownReward: 'the points that the policy gives itself are the reward',
};
