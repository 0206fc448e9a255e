/**
 * Held-out evaluation by the oracle, apart from every reward. Greedy accuracy alone is misleading, because much of a small policy's gain is the
 * choice to write its steps. Therefore sampled accuracy, the share of worked answers, and the accuracy with forced steps are reported as well.
 */
import { balancedAccuracy } from '../../core/monitor/monitors.ts';
import { deriveId } from '../../core/random.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import type { ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Evaluation } from '../../core/schema/evaluation.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { heldOutAnswers, heldOutFigures } from '../../protocols/evaluate/solver.ts';

interface JudgeItem {
  readonly task: string;
  readonly solution: Solution;
}

const wellFormed = (
  family: TaskFamily,
  { evaluationTasks }: Pick<RoundContext, 'evaluationTasks'>,
  answers: readonly ParseResult<Solution>[],
): JudgeItem[] => {
  const tasks = family.heldOut(evaluationTasks);
  return answers.flatMap((parsed, i) => (parsed.ok ? [{ task: tasks[i]!, solution: parsed.value }] : []));
};

/** The solver's answers to the held-out tasks, sampled as in training, which are natural right and wrong answers. */
const naturalAnswers = (family: TaskFamily, context: RoundContext) =>
  heldOutAnswers({ family, role: 'solver' }, context, { seed: 'natural', temperature: 1 });

/** Whether greedy judgments agree with the oracle. */
async function judgeHits(
  family: TaskFamily,
  { tokenizer, generate }: RoundContext,
  items: readonly JudgeItem[],
): Promise<{ readonly right: boolean; readonly hit: boolean }[]> {
  const completions = await generate(
    'judge',
    items.map(({ task, solution }, i) => ({
      ids: tokenizer.encode(family.judgePrompt(task, solution)),
      sampleIds: [deriveId('evaluate', 'judge', i)],
    })),
    { temperature: 0 },
  );
  return items.map(({ task, solution }, i) => {
    const right = family.exactJudgment(task, solution).right;
    const parsed = family.parseJudgment(solution, tokenizer.decode(completions[i]![0]!.ids));
    return { right, hit: parsed.ok && parsed.value.right === right };
  });
}

/** Share of tasks with every step right by difficulty, as `solved.1`, `solved.2`, … */
function solvedBy(
  family: TaskFamily,
  tasks: readonly string[],
  answers: readonly ParseResult<Solution>[],
): Record<string, number> {
  const levelOf = tasks.map((task) => family.difficulty(task));
  const right = answers.map((answer, t) =>
    Number(answer.ok && family.exactJudgment(tasks[t]!, answer.value).right),
  );
  return Object.fromEntries(
    [...new Set(levelOf)]
      .sort((a, b) => a - b)
      .map((level) => [`solved.${level}`, mean(right.filter((_, t) => levelOf[t] === level))]),
  );
}

/**
 * The judge is asked about answers of version 0, which are the same for every version, and about those of its own version. `byLevel`: whether greedy
 * accuracy is reported for each difficulty, too, with every step right.
 */
export async function evaluate(
  family: TaskFamily,
  context: EvaluationContext,
  byLevel = false,
): Promise<Evaluation> {
  const tasks = family.heldOut(context.evaluationTasks);
  const fixed = await context.once('natural', async () =>
    wellFormed(family, context, await naturalAnswers(family, context.atStart)),
  );
  const greedily = (seed: string, prefix = '') =>
    heldOutAnswers({ family, role: 'solver' }, context, { seed, temperature: 0, prefix });
  const greedy = await greedily('greedy');
  const sampled = await naturalAnswers(family, context);
  const forced = family.workedPrefix && (await greedily('forced', family.workedPrefix));
  const { tallies, ...heldOut } = heldOutFigures(family, tasks, {
    greedy,
    sampled,
    ...(forced ? { forced } : {}),
  });
  const hits = await judgeHits(family, context, fixed);
  return {
    heldOut,
    judge: {
      fixed: balancedAccuracy(hits),
      own: balancedAccuracy(await judgeHits(family, context, wellFormed(family, context, sampled))),
    },
    ...(byLevel ? { figures: solvedBy(family, tasks, greedy) } : {}),
    tallies: { ...tallies, judge: tallyOf(hits.map(({ hit }) => hit)) },
  };
}
