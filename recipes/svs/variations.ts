/**
 * The rollout and the judge stage: attempts at every task; where some succeed and half or more fail, the writer turns a right solution into variations
 * of the task, each of which the solver attempts. What a right answer to a variation is follows from the solution that it was written from.
 */
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { invalid, type Solution, solutionOf } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { exactReward, formatReward, payAnswers, randomReward } from '../../protocols/answer-rewards.ts';
import { paidEarly } from '../../protocols/paid-early.ts';
import { proposeThrough, type Request } from '../../protocols/proposals.ts';
import { answer, rollOut, rolloutIds } from '../../protocols/roll-out.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { variationPrompt } from '../../worlds/arithmetic/variations.ts';

/** The role that writes variations of tasks. */
export const WRITER = 'writer';

export const rewards = { exact: exactReward, format: formatReward, random: randomReward };

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

/** The task that a solver's sample answers: that of its group, or a variation. */
export const attemptedTask = (
  { prompt }: Pick<Sample, 'prompt'>,
  { decode }: Pick<Tokenizer, 'decode'>,
): string => /^<solve>(.*)<sep>$/.exec(decode(prompt))?.[1] ?? '';

/** The variation that a writer's sample proposes. */
export const variationIn = ({ ids }: Pick<Sample, 'ids'>, { decode }: Pick<Tokenizer, 'decode'>): string =>
  decode(ids).slice(0, -arithmetic.stop!.length);

interface VariationRequest extends Request {
  readonly task: AdmittedTask;
}

/** The solution of the first attempt at a task that was paid 1, with what each attempt was paid [attempts]; null where there is none. */
function rightSolution(
  task: string,
  attempts: readonly Sample[],
  paid: readonly (number | null)[],
  { tokenizer }: Pick<RoundContext, 'tokenizer'>,
): Solution | null {
  const right = attempts.find(({ outcome }, i) => paid[i] === 1 && outcome === 'ok');
  const solution = right && solutionOf(arithmetic, task, right, tokenizer);
  return solution?.ok ? solution.value : null;
}

/** The request to the writer for a task whose attempts were paid so; null where none is to be written. */
function requestFor(
  task: AdmittedTask,
  attempts: readonly Sample[],
  paid: readonly (number | null)[],
  context: Pick<RoundContext, 'tokenizer'>,
): VariationRequest | null {
  if (!inBand(mean(paid.flatMap((one) => one ?? [])), UNDERPERFORMING)) return null;
  const solution = rightSolution(task.task, attempts, paid, context);
  if (!solution) return null;
  return {
    task,
    prompt: variationPrompt(solution, task.task),
    sampleIds: rolloutIds(task.group, WRITER, VARIATIONS),
  };
}

export async function solveAndVary(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round } = context;
  const { variant, groupSize } = round.settings;
  const groups = await rollOut({ family: arithmetic }, context, tasks);
  if (variant === 'rlvr') return groups;
  const requests = groups.flatMap(({ samples }, t) => {
    const task = tasks[t]!;
    return requestFor(task, samples, paidEarly(arithmetic, rewards, context, task, samples), context) ?? [];
  });
  const written = await proposeThrough(context, WRITER, requests, {
    parse: (text, { task }) => {
      const parsed = arithmetic.parseProposal(text);
      return parsed.ok && parsed.value === task.task ? invalid('duplicate') : parsed;
    },
    isHeldOut: (task) => arithmetic.isHeldOut(task),
  });
  const wanted = requests.flatMap((request) => {
    const admitted = written.filter((one) => one.request === request && one.sample.outcome === 'ok');
    return [...new Set(admitted.map(({ task }) => task))].map((task, v) => ({
      group: request.task.group,
      task,
      count: groupSize,
      from: (1 + v) * groupSize,
    }));
  });
  const attempts = await answer(arithmetic, context, SOLVER, wanted);
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
function expectedAnswer({ group, task, samples }: ScoredGroup, context: RoundContext): string | null {
  const { tokenizer, round } = context;
  if (round.settings.variant === 'random-answers')
    return String(runningTotals(arithmetic.random(new Random(`answer/${group}`))).at(-1));
  const attempts = samples.filter((sample) => attemptedTask(sample, tokenizer) === task);
  const paid = attempts.map(({ rewards: { reward } }) => reward ?? null);
  return rightSolution(task, attempts, paid, context)?.answer ?? null;
}

export async function payVariations(
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { tokenizer, round } = context;
  const { rewardFunction, variant } = round.settings;
  const reward = rewardNamed(rewards, rewardFunction);
  return groups.map((group) => {
    const taskOf = group.samples.map((sample) => attemptedTask(sample, tokenizer));
    const paid = payAnswers(arithmetic, reward, context, group, (i) => taskOf[i]!);
    const expected = expectedAnswer(paid, context);
    /** Attempts at variations are paid for the expected answer, where answers are what is paid for. */
    const rewardOf = (sample: Sample, i: number): number | null => {
      if (rewardFunction !== 'exact' || taskOf[i] === group.task) return sample.rewards.reward ?? null;
      const solution = solutionOf(arithmetic, taskOf[i]!, sample, tokenizer);
      return Number(solution.ok && solution.value.answer === expected);
    };
    const paidS = paid.samples.map(rewardOf);
    const rewardOfVariation = (sample: Sample): number | null => {
      if (sample.outcome !== 'ok') return sample.outcome === 'held-out' ? null : 0;
      const variation = variationIn(sample, tokenizer);
      const rated = paidS.flatMap((one, i) => (taskOf[i] === variation ? (one ?? []) : []));
      return rated.length ? variationReward(mean(rated), variant) : null;
    };
    return {
      ...paid,
      samples: paid.samples.map((sample, i) => ({
        ...sample,
        rewards: sample.role === WRITER ? { variation: rewardOfVariation(sample) } : { reward: paidS[i]! },
      })),
    };
  });
}
