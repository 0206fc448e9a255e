/**
 * Held-out evaluation by the oracle, apart from every reward. Greedy accuracy alone is misleading, because much of a small policy's gain is the
 * choice to write its steps. Therefore sampled accuracy, the share of worked answers, and the accuracy with forced steps are reported as well.
 */
import { balancedAccuracy } from '../../core/monitor/monitors.ts';
import { deriveId } from '../../core/random.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import type { ParseResult, Solution } from '../../core/recipe/task-family.ts';
import type { Evaluation } from '../../core/schema/evaluation.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { heldOutAnswers, heldOutFigures } from '../../protocols/evaluate/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';

interface JudgeItem {
  readonly task: string;
  readonly solution: Solution;
}

const asSolver = { family: arithmetic, role: 'solver' };

const wellFormed = (
  { evaluationTasks }: Pick<RoundContext, 'evaluationTasks'>,
  answers: readonly ParseResult<Solution>[],
): JudgeItem[] => {
  const tasks = arithmetic.heldOut(evaluationTasks);
  return answers.flatMap((parsed, i) => (parsed.ok ? [{ task: tasks[i]!, solution: parsed.value }] : []));
};

/** The solver's answers to the held-out tasks, sampled as in training, which are natural right and wrong answers. */
const naturalAnswers = (context: RoundContext) =>
  heldOutAnswers(asSolver, context, { seed: 'natural', temperature: 1 });

/** Whether greedy judgments agree with the oracle. */
async function judgeHits(
  { tokenizer, generate }: RoundContext,
  items: readonly JudgeItem[],
): Promise<{ readonly right: boolean; readonly hit: boolean }[]> {
  const completions = await generate(
    'judge',
    items.map(({ task, solution }, i) => ({
      ids: tokenizer.encode(arithmetic.judgePrompt(task, solution)),
      sampleIds: [deriveId('evaluate', 'judge', i)],
    })),
    { temperature: 0 },
  );
  return items.map(({ task, solution }, i) => {
    const right = arithmetic.exactJudgment(task, solution).right;
    const parsed = arithmetic.parseJudgment(solution, tokenizer.decode(completions[i]![0]!.ids));
    return { right, hit: parsed.ok && parsed.value.right === right };
  });
}

/** The judge is asked about answers of version 0, which are the same for every version, and about those of its own version. */
export async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const fixed = await context.once('natural', async () =>
    wellFormed(context, await naturalAnswers(context.atStart)),
  );
  const greedily = (seed: string, prefix = '') =>
    heldOutAnswers(asSolver, context, { seed, temperature: 0, prefix });
  const greedy = await greedily('greedy');
  const sampled = await naturalAnswers(context);
  const forced = await greedily('forced', arithmetic.workedPrefix);
  const { tallies, ...heldOut } = heldOutFigures(arithmetic, arithmetic.heldOut(context.evaluationTasks), {
    greedy,
    sampled,
    forced,
  });
  const hits = await judgeHits(context, fixed);
  return {
    heldOut,
    judge: {
      fixed: balancedAccuracy(hits),
      own: balancedAccuracy(await judgeHits(context, wellFormed(context, sampled))),
    },
    tallies: { ...tallies, judge: tallyOf(hits.map(({ hit }) => hit)) },
  };
}
