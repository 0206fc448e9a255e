/**
 * Held-out evaluation by the oracle, apart from every reward. Greedy accuracy alone is misleading, because much of a small policy's gain is the
 * choice to write its steps. Therefore sampled accuracy, the share of worked answers, and the accuracy with forced steps are reported as well.
 */
import { balancedAccuracy } from '../../core/monitor/monitors.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import type { ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import type { Evaluation } from '../../core/schema/evaluation.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { asked } from '../evaluate/asked.ts';
import { heldOutAnswers, heldOutFigures } from '../evaluate/solver.ts';

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
  context: RoundContext,
  items: readonly JudgeItem[],
): Promise<{ readonly right: boolean; readonly hit: boolean }[]> {
  const said = await asked(context, 'judge', items, {
    prompt: ({ task, solution }) => family.judgePrompt(task, solution),
    key: (_, i) => ['judge', i],
    temperature: 0,
  });
  return items.map(({ task, solution }, i) => {
    const right = family.exactJudgment(task, solution).right;
    const parsed = family.parseJudgment(solution, said[i]![0]!.text);
    return { right, hit: parsed.ok && parsed.value.right === right };
  });
}

/** What the judge is worth: on answers of version 0, which are the same for every version, and on those of its own version, `sampled`. */
async function judgeFigures(
  family: TaskFamily,
  context: EvaluationContext,
  sampled: readonly ParseResult<Solution>[],
): Promise<Pick<Evaluation, 'judge' | 'tallies'>> {
  const fixed = await context.once('natural', async () =>
    wellFormed(family, context, await naturalAnswers(family, context.atStart)),
  );
  const hits = await judgeHits(family, context, fixed);
  return {
    judge: {
      fixed: balancedAccuracy(hits),
      own: balancedAccuracy(await judgeHits(family, context, wellFormed(family, context, sampled))),
    },
    tallies: { judge: tallyOf(hits.map(({ hit }) => hit)) },
  };
}

interface Asked {
  /** What else is reported of the greedy answers. */
  readonly figures?: (
    tasks: readonly string[],
    answers: readonly ParseResult<Solution>[],
  ) => Record<string, number>;
  /** Whether the judge is asked; default yes. */
  readonly judged?: boolean;
}

/** What the solver and the judge can do. */
export async function evaluate(
  family: TaskFamily,
  context: EvaluationContext,
  { figures, judged = true }: Asked = {},
): Promise<Evaluation> {
  const tasks = family.heldOut(context.evaluationTasks);
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
  const { judge, tallies: ofJudge } = judged
    ? await judgeFigures(family, context, sampled)
    : { judge: { fixed: null, own: null }, tallies: {} };
  return {
    heldOut,
    judge,
    ...(figures ? { figures: figures(tasks, greedy) } : {}),
    tallies: { ...tallies, ...ofJudge },
  };
}
