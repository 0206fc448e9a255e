/**
 * A solver whose answers are paid what a grader says of them, where the policy itself is asked to grade. No reference answer is used, except by the
 * control `gold` and by the monitors.
 */
import { asking, type Game } from '../core/game/game.ts';
import type { RoundShape } from '../core/recipe/recipe.ts';
import { role } from '../core/recipe/role.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import { mean } from '../core/rl/statistics.ts';
import type { RolloutGroup, ScoredGroup } from '../core/schema/sample.ts';
import { CONTROLS, exactReward, formatReward, payAnswers } from './answer-rewards.ts';
import { ask } from './ask-about-samples.ts';
import { rewardNamed, solverAlone } from './solver.ts';

export type GradedGame = Game<'solve' | 'rate'>;

/** The role that grades. */
export const GRADER = 'judge';

const WITHOUT_GRADES = { gold: exactReward, ...CONTROLS } as const;

export interface Grading {
  /** Grades of each answer, of which the mean is paid. */
  readonly votes: number;
  /** Of answers and of grades. */
  readonly temperature: number;
  /** The parameter set of the grader; default that of the solver. */
  readonly set?: string;
  /** What the answers of a group are paid by the means of their grades, 0 to 1, null where none was read [answers]; default the means. */
  readonly pay?: (
    group: Pick<RolloutGroup, 'group'>,
    grades: readonly (number | null)[],
    context: RoundContext,
  ) => readonly (number | null)[];
}

async function grade(
  game: GradedGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
  { votes, pay = (_, grades) => grades }: Grading,
): Promise<ScoredGroup[]> {
  const { family } = game;
  const { rewardFunction } = context.round.settings;
  if (rewardFunction !== 'judge') {
    const reward = rewardNamed<(typeof WITHOUT_GRADES)[keyof typeof WITHOUT_GRADES]>(
      WITHOUT_GRADES,
      rewardFunction,
    );
    return groups.map((group) => payAnswers(family, reward, context, group));
  }
  const shown = groups.flatMap(({ task, samples }) =>
    samples.flatMap(({ id, ids }) => {
      const response = game.said(context.tokenizer.decode(ids), context);
      return response === '' ? [] : [{ of: id, ...asking(game, context, 'rate', { task, response }) }];
    }),
  );
  const answers = await ask(context, GRADER, shown, votes);
  const graded = new Map(shown.map(({ of }, i) => [of, answers[i]!]));
  const gradeOf = (id: string): number | null => {
    const read = (graded.get(id) ?? []).flatMap(({ parsed }) => (parsed.ok ? [parsed.value] : []));
    return read.length ? mean(read) : null;
  };
  return groups.map((group) => {
    const grades = group.samples.map(({ id }) => gradeOf(id));
    const paid = pay(group, grades, context);
    return {
      // The checker's result is recorded for the monitors alone.
      ...payAnswers(family, formatReward, context, group),
      samples: group.samples.map((sample, s) => {
        if (grades[s] !== null) return { ...sample, rewards: { reward: paid[s]! } };
        const votes = graded.get(sample.id);
        const isCut = votes?.every(({ parsed }) => !parsed.ok && parsed.reason === 'cut-off');
        const why = !votes ? 'control-token' : isCut ? 'cut-off' : 'unreadable';
        return { ...sample, rewards: { reward: null }, missing: { reward: why } };
      }),
      judgments: group.samples.flatMap(({ id }) => (graded.get(id) ?? []).map(({ sample }) => sample)),
    };
  });
}

/** The shape of a round in which a policy answers, and its answers are graded. */
export function gradedSolver(game: GradedGame, grading: Grading): RoundShape {
  const { family, tasks, words } = game;
  const { temperature, set } = grading;
  const alone = solverAlone({ family, temperature, tasks, rewards: WITHOUT_GRADES });
  return {
    ...alone,
    rewards: {
      judge: { description: 'the points that the policy itself gives, of five', usesGold: false },
      ...alone.rewards,
    },
    roles: {
      ...alone.roles,
      [GRADER]: role('grades answers by five points', words.rate.maxNew, {
        ...(set === undefined ? {} : { set }),
        sampling: { temperature },
      }),
    },
    freezable: set === undefined ? [GRADER] : [],
    judge: (context, groups) => grade(game, context, groups, grading),
  };
}

/** The number of answers without a grade that could be read. */
export const ungraded = (groups: readonly ScoredGroup[]): number =>
  groups.flatMap(({ samples }) => samples).filter(({ missing }) => missing?.reward !== undefined).length;

export const UNGRADED = 'Number of answers without a grade that could be read.';
