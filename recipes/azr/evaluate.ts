/** Evaluation of a solver on held-out programs: greedy and sampled, by kind of question. */
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { tallyOfDraws } from '../../core/statistics/change.ts';
import { heldOutAnswers } from '../../protocols/evaluate/solver.ts';
import { KINDS, kindOf, programs } from '../../worlds/programs/family.ts';

/** Samples of each task behind the sampled accuracy, which are many because arms differ by a few points. */
const DRAWS = 4;

export async function evaluatePrograms(context: EvaluationContext): Promise<Evaluation> {
  const tasks = programs.heldOut(context.evaluationTasks);
  const solver = { family: programs, role: 'solver' };
  const right = async (seed: string, temperature: number) =>
    (await heldOutAnswers(solver, context, { seed, temperature })).map((answer, i) => ({
      kind: kindOf(tasks[i]!),
      wellFormed: Number(answer.ok),
      right: Number(answer.ok && programs.answerIsExact(tasks[i]!, answer.value)),
    }));
  const share = (answers: readonly { right: number }[]) => mean(answers.map((answer) => answer.right));
  const tally = (answers: readonly { right: number }[]) =>
    tallyOfDraws(
      answers.map((answer) => answer.right),
      tasks.length,
    );
  const greedy = await right('greedy', 0);
  const sampled: Awaited<ReturnType<typeof right>> = [];
  for (let draw = 0; draw < DRAWS; draw++)
    sampled.push(...(await right(draw ? `natural/${draw}` : 'natural', 1)));
  return evaluation(
    {
      n: tasks.length,
      accuracy: share(greedy),
      sampled: share(sampled),
      formatRate: mean(greedy.map(({ wellFormed }) => wellFormed)),
      tallies: { accuracy: tally(greedy), sampled: tally(sampled) },
    },
    Object.fromEntries(
      KINDS.flatMap((kind) => [
        [kind, share(greedy.filter((answer) => answer.kind === kind))],
        [`${kind}Sampled`, share(sampled.filter((answer) => answer.kind === kind))],
      ]),
    ),
  );
}
