/**
 * The rollout and the judge stage: attempts at every task; where some succeed and half or more fail, the writer turns a right solution into variations
 * of the task, each of which the solver attempts. What a right answer to a variation is follows from the solution that it was written from.
 */
import type { Game, Speaker } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { rendered, type Solution, solutionOf } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { exactAndControls, payAnswers } from '../../protocols/answer-rewards.ts';
import { type TaskRequest, writeTasks } from '../../protocols/proposals.ts';
import { paidEarly } from '../../protocols/reward-first-stage.ts';
import { answer, rollOut, rolloutIds } from '../../protocols/roll-out.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';

export type VariedGame = Game<'solve' | 'derive'>;

/** The role that writes variations of tasks. */
export const WRITER = 'writer';

export const VARIANTS = {
  rlvr: 'nobody writes variations: reinforcement learning on the tasks alone',
  'no-upper-band': 'a variation is paid also where the solver always answers it as expected',
  'random-answers': 'the answer that is expected of a variation is that of a chain that is drawn',
} as const;

/** Variations of a task. */
const VARIATIONS = 4;

/** A range of shares, both ends included. */
interface Band {
  readonly low: number;
  readonly high: number;
}
/** The solve rates of tasks of which variations are written. */
const UNDERPERFORMING: Band = { low: 0.125, high: 0.5 };
/** The solve rates of variations that are paid. */
const PAID: Band = { low: 0.125, high: 0.625 };
const inBand = (share: number, { low, high }: Band) => share >= low && share <= high;

/** The reward of a variation by the share of attempts at it that were paid. */
export const variationReward = (solveRate: number, variant?: string): number =>
  Number(inBand(solveRate, variant === 'no-upper-band' ? { ...PAID, high: 1 } : PAID));

/** What texts of samples are read with. */
export type Reader = Speaker & { readonly tokenizer: Pick<Tokenizer, 'decode'> };

/** The task that a solver's sample answers: that of its group, or a variation. */
export const attemptedTask = (group: Pick<RolloutGroup, 'task'>, { about = group.task }: Sample): string =>
  about;

interface VariationRequest extends TaskRequest<'derive'> {
  readonly task: AdmittedTask;
}

/** The solution of the first attempt at a task that was paid 1, with what each attempt was paid [attempts]; null where there is none. */
function rightSolution(
  { family }: VariedGame,
  task: string,
  attempts: readonly Sample[],
  paid: readonly (number | null)[],
  reader: Reader,
): Solution | null {
  const right = attempts.find(({ outcome }, i) => paid[i] === 1 && outcome === 'ok');
  const solution = right && solutionOf(rendered(family, reader), task, right, reader.tokenizer);
  return solution?.ok ? solution.value : null;
}

/** The same in a group whose attempts have their rewards. */
const solutionIn = (game: VariedGame, group: RolloutGroup, reader: Reader): Solution | null => {
  const attempts = group.samples.filter(
    (sample) => sample.role === SOLVER && attemptedTask(group, sample) === group.task,
  );
  const paid = attempts.map(({ rewards: { reward } }) => reward ?? null);
  return rightSolution(game, group.task, attempts, paid, reader);
};

/** The variations that a writer's samples of a group propose; null where a sample was not admitted. -> [samples] */
export function variationsIn(game: VariedGame, group: RolloutGroup, reader: Reader): (string | null)[] {
  const solution = solutionIn(game, group, reader);
  return group.samples.map(({ role, outcome, ids }) => {
    if (role !== WRITER || outcome !== 'ok' || !solution) return null;
    const about = { task: group.task, solution };
    const read = game.words.derive.read(reader.tokenizer.decode(ids), about, reader);
    return read.ok ? read.value : null;
  });
}

/** The request to the writer for a task whose attempts were paid so; null where none is to be written. */
function requestFor(
  game: VariedGame,
  task: AdmittedTask,
  attempts: readonly Sample[],
  paid: readonly (number | null)[],
  context: RoundContext,
): VariationRequest | null {
  const known = paid.flatMap((one) => one ?? []);
  if (known.length === 0 || !inBand(mean(known), UNDERPERFORMING)) return null;
  const solution = rightSolution(game, task.task, attempts, paid, context);
  if (!solution) return null;
  return { task, on: { task: task.task, solution }, sampleIds: rolloutIds(task.group, WRITER, VARIATIONS) };
}

export async function solveAndVary(
  game: VariedGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { family } = game;
  const { variant, groupSize } = context.round.settings;
  const groups = await rollOut({ family }, context, tasks);
  if (variant === 'rlvr') return groups;
  const requests = groups.flatMap(({ samples }, t) => {
    const task = tasks[t]!;
    return (
      requestFor(game, task, samples, paidEarly(family, exactAndControls, context, task, samples), context) ??
      []
    );
  });
  const written = await writeTasks(game, context, WRITER, 'derive', requests);
  const wanted = requests.flatMap((request) => {
    const admitted = written.filter(
      (one) => one.request.task === request.task && one.sample.outcome === 'ok',
    );
    return [...new Set(admitted.map(({ task }) => task))].map((task, v) => ({
      group: request.task.group,
      task,
      about: task,
      count: groupSize,
      from: (1 + v) * groupSize,
    }));
  });
  const attempts = await answer(family, context, SOLVER, wanted);
  return groups.map((group, t) => ({
    ...group,
    samples: [
      ...group.samples,
      ...written.filter(({ request }) => request.task === tasks[t]).map(({ sample }) => sample),
      ...attempts.filter((_, w) => wanted[w]!.group === group.group).flat(),
    ],
  }));
}

/** The answer that is expected of the variations of a group; null where there is no right attempt to take it from. */
function expectedAnswer(game: VariedGame, group: ScoredGroup, context: RoundContext): string | null {
  if (context.round.settings.variant !== 'random-answers')
    return solutionIn(game, group, context)?.answer ?? null;
  const { family, reference } = game;
  return reference?.(family.random(new Random(`answer/${group.group}`))).answer ?? null;
}

export async function payVariations(
  game: VariedGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { tokenizer, round } = context;
  const { rewardFunction, variant } = round.settings;
  const reward = rewardNamed(exactAndControls, rewardFunction);
  const family = rendered(game.family, context);
  return groups.map((group) => {
    const taskOf = group.samples.map((sample) => attemptedTask(group, sample));
    const paid = payAnswers(family, reward, context, group, (i) => taskOf[i]!);
    const expected = expectedAnswer(game, paid, context);
    const variations = variationsIn(game, paid, context);
    /** Attempts at variations are paid for the expected answer, where answers are what is paid for. */
    const rewardOf = (sample: Sample, i: number): number | null => {
      if (rewardFunction !== 'exact' || taskOf[i] === group.task) return sample.rewards.reward ?? null;
      const solution = solutionOf(family, taskOf[i]!, sample, tokenizer);
      return Number(solution.ok && solution.value.answer === expected);
    };
    const paidS = paid.samples.map((sample, i) => (sample.role === SOLVER ? rewardOf(sample, i) : null));
    const rewardOfVariation = ({ outcome }: Sample, i: number): number | null => {
      if (outcome !== 'ok') return outcome === 'held-out' ? null : 0;
      const rated = paidS.flatMap((one, a) =>
        paid.samples[a]!.role === SOLVER && taskOf[a] === variations[i] ? (one ?? []) : [],
      );
      return rated.length ? variationReward(mean(rated), variant) : null;
    };
    return {
      ...paid,
      samples: paid.samples.map((sample, i) => ({
        ...sample,
        rewards: sample.role === WRITER ? { variation: rewardOfVariation(sample, i) } : { reward: paidS[i]! },
      })),
    };
  });
}
