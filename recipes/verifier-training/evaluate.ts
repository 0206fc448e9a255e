/** What the verifier finds of flaws, of the kinds that it was taught on and of others, and what the generator gets past it, on held-out chains. */
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Evaluation } from '../../core/schema/evaluation.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { detected } from '../../protocols/evaluate/detection.ts';
import {
  GENERATOR,
  isExact,
  LINE_ENDS,
  parseRewrite,
  rewritePrompt,
} from '../../protocols/rewritten-lines.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { isUnseenSlip, rewrittenLine } from '../../worlds/chains/slips.ts';

/** Lines of each held-out task. */
const LINES = 2;

interface Wrong {
  readonly task: string;
  readonly solution: Solution;
}

/** Wrong lines that a generator writes in held-out tasks, as the solutions that they make, and how many it wrote in all. */
async function wrongLines(context: RoundContext, seed: string) {
  const tasks = plainProofs.heldOut(context.evaluationTasks);
  const said = await asked(context, GENERATOR, tasks, {
    prompt: (task) => rewritePrompt(task),
    key: (task) => [seed, task],
    samples: LINES,
    stop: LINE_ENDS.map((tag) => context.tokenizer.id(tag)),
  });
  const wrong = tasks.flatMap((task, t) =>
    said[t]!.flatMap(({ text, stopped }): Wrong[] => {
      const parsed = parseRewrite(task, text);
      return stopped && parsed.ok && !isExact(task, parsed.value) ? [{ task, solution: parsed.value }] : [];
    }),
  );
  return { wrong, written: LINES * tasks.length };
}

/** For each of these wrong solutions, whether a sampled verdict lets the rewritten line pass; a verdict that does not parse does not. */
async function passed(context: RoundContext, seed: string, items: readonly Wrong[]): Promise<boolean[]> {
  const said = await asked(context, JUDGE, items, {
    prompt: ({ task, solution }) => plainProofs.judgePrompt(task, solution),
    key: ({ task }, i) => [seed, task, i],
  });
  return items.map(({ task, solution }, i) => {
    const { text, stopped } = said[i]![0]!;
    const verdict = plainProofs.parseJudgment(solution, text);
    return stopped && verdict.ok && verdict.value.steps[rewrittenLine(task) - 1] === true;
  });
}

const share = (values: readonly boolean[]) => mean(values.map(Number));

async function examine(context: EvaluationContext): Promise<Record<string, number>> {
  const careless = await context.once('careless', () => wrongLines(context.atStart, 'careless'));
  const taught = careless.wrong.filter(({ task, solution }) => {
    const line = rewrittenLine(task);
    return !isUnseenSlip(task, line, solution.steps[line - 1]!);
  });
  const now = await wrongLines(context, 'attack');
  const through = await passed(context, 'through', now.wrong);
  return {
    foundTaught: 1 - share(await passed(context, 'taught', taught)),
    corrupted: now.wrong.length / now.written,
    breached: through.filter(Boolean).length / now.written,
  };
}

export const evaluate = (context: EvaluationContext): Promise<Evaluation> =>
  detected(context, () => examine(context));
