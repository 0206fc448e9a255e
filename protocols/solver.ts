/**
 * A solver that plays alone over a task family: the shape of round that reinforcement learning with a checkable answer shares. Tasks are drawn, a
 * group of rollouts answers each, and a reward function pays the answers; there is neither a proposer nor a judge. The recipe decides which tasks are
 * drawn, what is paid, and what a round trains.
 */
import { wrongInput } from '../core/errors.ts';
import type { Wording } from '../core/game/game.ts';
import type { OptimizerSettings, PolicyItem, PolicyPart, Update } from '../core/plan/training-plan.ts';
import type { Recipe, RoundShape } from '../core/recipe/recipe.ts';
import type { Placement, RoundDescription } from '../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../core/recipe/round-context.ts';
import type { EvaluationTasks } from '../core/recipe/split.ts';
import type { TaskFamily } from '../core/recipe/task-family.ts';
import type { Key, Maybe } from '../core/rl/types.ts';
import { evaluation } from '../core/schema/evaluation.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { Proposals, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { familyTasks } from '../worlds/drawn-tasks.ts';
import { type AnswerReward, exactAndControls, payAnswers } from './answer-rewards.ts';
import { evaluateSolver } from './evaluate/solver.ts';
import { rollOut } from './roll-out.ts';

export const SOLVER = 'solver';

export interface SolverGame {
  readonly family: TaskFamily;
  /** The temperature of rollouts and of the sampled evaluation; default 1. */
  readonly temperature?: number;
  /** Longest answer in tokens, stop included; default that of the words, or else the family's. */
  readonly maxNew?: number;
  /** What a game says. */
  readonly words?: { readonly solve: Pick<Wording<'solve'>, 'maxNew'> };
  /** The first is the default; left out: exact answers, and the controls. */
  readonly rewards?: Readonly<Record<string, AnswerReward>>;
  /** A round's tasks; default: drawn by the family, none twice, none held out. */
  readonly tasks?: (context: RoundContext) => Proposals | Promise<Proposals>;
  /** Tasks of the evaluation; default: all that the family holds out. */
  readonly tests?: (asked: EvaluationTasks) => readonly string[];
  /** Samples of each of these tasks, over which the sampled accuracy is a mean; default 1. */
  readonly draws?: number;
  /** Whether the evaluation asks once more with the steps forced; default where the family has a form with steps. */
  readonly force?: boolean;
  /** The tokens on which the solver's rewards are placed; default the whole answer. */
  readonly placement?: Placement;
  /** Further figures of the evaluation. */
  readonly examine?: (context: EvaluationContext) => Promise<Readonly<Record<string, number>>>;
}

/** The fields of a recipe that follow from the family that it plays, where the recipe does not say otherwise. */
export const ofFamily = (
  family: TaskFamily,
): Pick<RoundShape, 'taskName' | 'stop' | 'freezable' | 'describe'> => ({
  taskName: family.name,
  ...(family.stop ? { stop: family.stop } : {}),
  describe: describedBy(family),
});

export function solverAlone({
  family,
  temperature = 1,
  words,
  maxNew = words?.solve.maxNew ?? family.maxNew.solver,
  rewards = exactAndControls,
  tasks = familyTasks(family),
  tests = (asked) => family.heldOut(asked),
  draws = 1,
  force = family.workedPrefix !== '',
  placement = 'sequence',
  examine,
}: SolverGame): RoundShape {
  return {
    ...ofFamily(family),
    rewards,
    roles: { [SOLVER]: { description: 'solves tasks', sampling: { maxNew, temperature }, placement } },
    propose: async (context) => tasks(context),
    rollOut: (context, admitted) => rollOut({ family }, context, admitted),
    judge: async (context, groups) => {
      const reward = rewardNamed(rewards, context.round.settings.rewardFunction);
      return groups.map((group) => payAnswers(family, reward, context, group));
    },
    evaluate: async (context) =>
      evaluation(
        await evaluateSolver(context, {
          family,
          role: SOLVER,
          temperature,
          draws,
          force,
          tasks: tests(context.evaluationTasks),
        }),
        await examine?.(context),
      ),
  };
}

/** What monitors can say about the tasks and answers of a family. */
export const describedBy = (family: TaskFamily): RoundDescription => ({
  difficulty: (task) => family.difficulty(task),
  ...(family.workedPrefix ? { worked: (text: string) => text.startsWith(family.workedPrefix) } : {}),
});

/** The entry of a recipe's table. Throws `recipe.reward` or `recipe.variant` where there is none of that name. */
export function entryNamed<T>(
  kind: 'reward' | 'variant',
  entries: Readonly<Record<string, T>>,
  name: string,
): T {
  if (Object.hasOwn(entries, name)) return entries[name]!;
  throw wrongInput(`recipe.${kind}`, `There is no ${kind} ${JSON.stringify(name)}.`, {
    expected: `one of ${Object.keys(entries).join(', ')}`,
  });
}

export const rewardNamed = <T>(rewards: Readonly<Record<string, T>>, name: string): T =>
  entryNamed('reward', rewards, name);

/** The optimiser of small policies, with a step size at which they keep their skill. */
export const smallSteps = (change: Partial<OptimizerSettings> = {}): OptimizerSettings => ({
  learningRate: 1e-4,
  warmup: 20,
  betas: [0.9, 0.95],
  weightDecay: 0.01,
  clipNorm: 1,
  minibatches: 4,
  ...change,
});

/** The main set, trained as every small solver is unless a recipe says otherwise. */
export const trainedSolver = (change?: Partial<OptimizerSettings>): Recipe['sets'] => ({
  [MAIN_SET]: { optimizer: smallSteps(change) },
});

/** A policy objective on samples of a role, as a part of an update. */
export const policyPart = (
  role: string,
  items: readonly PolicyItem[],
  how: Omit<PolicyPart, 'kind' | 'role' | 'weight' | 'items'>,
): PolicyPart => ({ kind: 'policy', role, weight: 1, items, ...how });

/** One update of a set by a policy objective on the samples of a role; no update where no sample carries a signal. */
export const policyUpdate = (
  role: string,
  items: readonly PolicyItem[],
  how: Omit<PolicyPart, 'kind' | 'role' | 'weight' | 'items'>,
  set: string = MAIN_SET,
): Update[] => (items.length ? [{ set, parts: [policyPart(role, items, how)] }] : []);

/** The same on the solver's samples. */
export const solverUpdate = (
  items: readonly PolicyItem[],
  how: Omit<PolicyPart, 'kind' | 'role' | 'weight' | 'items'>,
): Update[] => policyUpdate(SOLVER, items, how);

/** Samples with their advantages, without those that have none. samples [n], advantages [n] -> at most n. */
export const withAdvantages = (samples: readonly Sample[], advantages: readonly Maybe[]): PolicyItem[] =>
  samples.flatMap((sample, i) => {
    const advantage = advantages[i] ?? null;
    return advantage === null ? [] : [{ sample, advantage }];
  });

/** Advantages [n] from rewards [n] that are compared within groups [n]. */
export type GroupEstimator = (rewards: Maybe[], groups: Key[]) => Maybe[];

/** Samples [n] with advantages by an estimator over their rewards [n] and groups [n]. One without a reward has no advantage, and is left out. */
export function creditedItems(
  samples: readonly Sample[],
  rewards: readonly Maybe[],
  groups: readonly Key[],
  estimator: GroupEstimator,
): PolicyItem[] {
  const of = { rewards, groups, lengths: samples.map(({ ids }) => ids.length) };
  const advantages = estimator([...rewards], [...groups]);
  return samples.flatMap((sample, at) => {
    const advantage = advantages[at] ?? null;
    return advantage === null ? [] : [{ sample, advantage, credit: { of, at } }];
  });
}

/** The reward that a sample has for its whole text; null = missing, which is never 0. */
export const rewardOf = ({ rewards: { reward } }: Pick<Sample, 'rewards'>): Maybe => reward ?? null;

/** The training items of some groups, with advantages by an estimator over their rewards [n] and groups [n]. */
export function groupItems(
  groups: readonly Pick<ScoredGroup, 'group' | 'samples'>[],
  estimator: GroupEstimator,
): PolicyItem[] {
  const samples = groups.flatMap((group) => group.samples);
  const groupOf = groups.flatMap((group) => group.samples.map(() => group.group));
  return creditedItems(samples, samples.map(rewardOf), groupOf, estimator);
}
