/** How often the verifier finds kinds of errors that it was not trained on, and what it is worth to a solver that is not trained. */

import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { bestOf, candidatesOf, verdictProbabilities } from '../../protocols/evaluate/best-of-n.ts';
import { detection } from '../../protocols/evaluate/detection.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { UNSEEN } from '../../worlds/chains/slips.ts';

/** Held-out tasks for Best-of-N, and answers to each. */
const CHOSEN = { tasks: 60, n: 4 };

export async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const greedy = await detection(context, 0);
  const sampled = await detection(context, 1);
  const candidates = await context.once('candidates', () =>
    candidatesOf(context.atStart, plainProofs, SOLVER, CHOSEN),
  );
  const probabilities = await verdictProbabilities(context, JUDGE, candidates, {
    prompt: plainProofs.judgePrompt,
    votes: 1,
    temperature: 0,
  });
  return evaluation(
    {
      n: plainProofs.heldOut(context.evaluationTasks).length,
      accuracy: greedy.balanced,
      sampled: sampled.balanced,
      formatRate: greedy.formatRate,
      tallies: { accuracy: greedy.tally, sampled: sampled.tally, judge: greedy.tally },
    },
    {
      found: sampled.found,
      accepted: sampled.of('right'),
      ...Object.fromEntries(UNSEEN.map((kind) => [kind, sampled.of(kind)])),
      bestOfFour: bestOf(
        candidates,
        probabilities.map((task) => task.map((each) => mean(each))),
      ),
    },
    { fixed: greedy.balanced },
  );
}
