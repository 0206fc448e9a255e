/**
 * Held-out evaluation by the oracle, apart from every reward. Greedy accuracy alone misleads: much of a small policy's
 * gain is the choice to write its steps. So accuracy when sampled, the share of worked answers, and accuracy when steps
 * are forced stand beside it.
 */
import type { Policy } from '../policy.ts';
import { deriveId } from '../random.ts';
import type { Recipe } from '../recipe.ts';
import type { Reading, Solution } from '../tasks/family.ts';
import { refuse } from '../tasks/family.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';
import { balancedAccuracy, mean } from './monitors.ts';

export interface JudgeItem {
  readonly task: string;
  readonly solution: Solution;
}

export interface HeldOut {
  readonly n: number;
  /** Shares of exact answers: greedy, sampled at the recipe's temperature, and greedy with the steps forced. */
  readonly accuracy: number;
  readonly sampled: number;
  readonly forcedWorked: number;
  /** Share of greedy answers that write their steps, and that keep to the grammar. */
  readonly worked: number;
  readonly formatRate: number;
}

export interface JudgeAccuracy {
  /** Balanced accuracy of greedy verdicts on a fixed set: what version 0 samples on the held-out tasks. */
  readonly fixed: number | null;
  /** The same on what the evaluated policy itself samples. */
  readonly own: number | null;
}

type Read = readonly Reading<Solution>[];

async function answers(
  recipe: Recipe,
  policy: Policy,
  tokenizer: Tokenizer,
  settings: { readonly seed: string; readonly temperature: number; readonly prefix?: string },
): Promise<Read> {
  const { family } = recipe;
  const { prefix = '', seed, temperature } = settings;
  const tasks = family.heldOut();
  const completions = await policy.generate(
    tasks.map((task) => ({
      ids: tokenizer.encode(family.solverPrompt(task) + prefix),
      sampleIds: [deriveId('evaluate', seed, task)],
    })),
    { maxNew: family.maxNew.solver, temperature, stop: [tokenizer.id(family.stop)] },
  );
  return tasks.map((task, i) => {
    const completion = completions[i]![0]!;
    if (!completion.stopped) return refuse('cut-off');
    return family.readSolution(task, prefix + tokenizer.decode(completion.ids));
  });
}

function accuracy(recipe: Recipe, readings: Read): number {
  const tasks = recipe.family.heldOut();
  return mean(readings.map((r, i) => (r.ok && recipe.family.gold(tasks[i]!, r.value) ? 1 : 0))) ?? 0;
}

const readable = (recipe: Recipe, readings: Read): JudgeItem[] => {
  const tasks = recipe.family.heldOut();
  return readings.flatMap((reading, i) => (reading.ok ? [{ task: tasks[i]!, solution: reading.value }] : []));
};

/** Readable solutions that a policy samples on the held-out tasks: natural right and wrong answers to judge. */
export async function naturalSolutions(
  recipe: Recipe,
  policy: Policy,
  tokenizer: Tokenizer,
): Promise<JudgeItem[]> {
  const { temperature } = recipe;
  return readable(recipe, await answers(recipe, policy, tokenizer, { seed: 'natural', temperature }));
}

/** Balanced accuracy of greedy judgments against the oracle. */
export async function judgeAccuracy(
  recipe: Recipe,
  policy: Policy,
  tokenizer: Tokenizer,
  items: readonly JudgeItem[],
): Promise<number | null> {
  const { family } = recipe;
  const completions = await policy.generate(
    items.map(({ task, solution }, i) => ({
      ids: tokenizer.encode(family.judgePrompt(task, solution)),
      sampleIds: [deriveId('evaluate', 'judge', i)],
    })),
    { maxNew: family.maxNew.judge, temperature: 0, stop: [tokenizer.id(family.stop)] },
  );
  return balancedAccuracy(
    items.map(({ task, solution }, i) => {
      const truth = family.truth(task, solution).right;
      const reading = family.readJudgment(solution, tokenizer.decode(completions[i]![0]!.ids));
      return { truth, hit: reading.ok && reading.value.right === truth };
    }),
  );
}

export async function evaluate(
  recipe: Recipe,
  policy: Policy,
  tokenizer: Tokenizer,
  fixed: readonly JudgeItem[],
): Promise<{ heldOut: HeldOut; judge: JudgeAccuracy }> {
  const { family, temperature } = recipe;
  const greedy = await answers(recipe, policy, tokenizer, { seed: 'greedy', temperature: 0 });
  const sampled = await answers(recipe, policy, tokenizer, { seed: 'natural', temperature });
  const forced = await answers(recipe, policy, tokenizer, {
    seed: 'forced',
    temperature: 0,
    prefix: family.workedPrefix,
  });
  return {
    heldOut: {
      n: greedy.length,
      accuracy: accuracy(recipe, greedy),
      sampled: accuracy(recipe, sampled),
      forcedWorked: accuracy(recipe, forced),
      worked: mean(greedy.map((r) => (r.ok && r.value.steps.length > 0 ? 1 : 0))) ?? 0,
      formatRate: mean(greedy.map((r) => (r.ok ? 1 : 0))) ?? 0,
    },
    judge: {
      fixed: await judgeAccuracy(recipe, policy, tokenizer, fixed),
      own: await judgeAccuracy(recipe, policy, tokenizer, readable(recipe, sampled)),
    },
  };
}
