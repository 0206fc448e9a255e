/** How often the verifier finds kinds of errors that it was not trained on, and what it is worth to a solver that is not trained. */
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Evaluation } from '../../core/schema/evaluation.ts';
import { bestOf, candidatesOf, verdictProbabilities } from '../../protocols/evaluate/best-of-n.ts';
import { detected } from '../../protocols/evaluate/detection.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';

/** Held-out tasks for Best-of-N, and answers to each. */
const CHOSEN = { tasks: 60, n: 4 };

async function bestOfFour(context: EvaluationContext): Promise<number> {
  const candidates = await context.once('candidates', () =>
    candidatesOf(context.atStart, plainProofs, SOLVER, CHOSEN),
  );
  const probabilities = await verdictProbabilities(context, JUDGE, candidates, {
    prompt: plainProofs.judgePrompt,
    votes: 1,
    temperature: 0,
  });
  return bestOf(
    candidates,
    probabilities.map((task) => task.map((each) => mean(each))),
  );
}

export const evaluate = (context: EvaluationContext): Promise<Evaluation> =>
  detected(context, async () => ({ bestOfFour: await bestOfFour(context) }));
