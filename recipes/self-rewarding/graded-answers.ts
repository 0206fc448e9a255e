/** The policy grades its own answers by points, as in the paper. No reference answer is used, except by a control. */
import { asking, type Game } from '../../core/game/game.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { exactReward, formatReward, payAnswers, randomReward } from '../../protocols/answer-rewards.ts';
import { ask } from '../../protocols/ask.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
import { pairsOf } from './best-and-worst.ts';

export const CONTROLS = { gold: exactReward, random: randomReward, format: formatReward } as const;

/** The role that grades. */
export const GRADER = 'judge';

export async function grade(
  game: Game<'rate'>,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { family } = game;
  const { rewardFunction } = context.round.settings;
  if (rewardFunction !== 'judge') {
    const reward = rewardNamed<(typeof CONTROLS)[keyof typeof CONTROLS]>(CONTROLS, rewardFunction);
    return groups.map((group) => payAnswers(family, reward, context, group));
  }
  const shown = groups.flatMap(({ task, samples }) =>
    samples.flatMap(({ id, ids }) => {
      const response = game.said(context.tokenizer.decode(ids), context);
      return response === '' ? [] : [{ of: id, ...asking(game, context, 'rate', { task, response }) }];
    }),
  );
  const answers = await ask(context, GRADER, shown, 1);
  const graded = new Map(shown.map(({ of }, i) => [of, answers[i]![0]!]));
  return groups.map((group) => ({
    // The checker's result is recorded for the monitors alone.
    ...payAnswers(family, formatReward, context, group),
    samples: group.samples.map((sample) => {
      const parsed = graded.get(sample.id)?.parsed;
      if (parsed?.ok) return { ...sample, rewards: { reward: parsed.value } };
      const why = !parsed ? 'control-token' : parsed.reason === 'cut-off' ? 'cut-off' : 'unreadable';
      return { ...sample, rewards: { reward: null }, missing: { reward: why } };
    }),
    judgments: group.samples.flatMap(({ id }) => graded.get(id)?.sample ?? []),
  }));
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
