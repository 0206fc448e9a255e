/** How often the verifier finds kinds of errors that it was not trained on, and what it is worth to a solver that is not trained. */
import { deriveId, Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { EvaluationContext } from '../../core/round-context.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import type { Solution } from '../../core/task-family.ts';
import { bestOf, candidatesOf, verdictProbabilities } from '../../protocols/evaluate/best-of-n.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { plainProofs } from '../../tasks/chains/analysis.ts';
import { chainWith, flawed, UNSEEN } from './slips.ts';

/** How many held-out tasks Best-of-N uses, and how many answers each has. */
const CHOSEN = { tasks: 60, n: 4 };

const KINDS = ['right', ...UNSEEN] as const;
type Kind = (typeof KINDS)[number];

interface Examined {
  readonly task: string;
  readonly kind: Kind;
  readonly solution: Solution;
}

/** For each task, the right solution and one solution with a wrong line of each kind. */
export const examined = (tasks: readonly string[]): Examined[] =>
  tasks.flatMap((task) =>
    KINDS.map((kind) => ({
      task,
      kind,
      solution:
        kind === 'right' ? chainWith(task) : flawed(new Random(`examined/${kind}/${task}`), kind, task),
    })),
  );

/** How often right solutions are accepted, and how often errors of each kind are found; a verdict that does not parse does neither. */
async function verdicts({ tokenizer, generate, evaluationTasks }: EvaluationContext, temperature: number) {
  const items = examined(plainProofs.heldOut(evaluationTasks));
  const completions = await generate(
    JUDGE,
    items.map(({ task, solution, kind }) => ({
      ids: tokenizer.encode(plainProofs.judgePrompt(task, solution)),
      sampleIds: [deriveId('evaluate', 'verdict', String(temperature), task, kind)],
    })),
    { temperature },
  );
  const hits = items.map(({ solution, kind }, i) => {
    const { ids, stopped } = completions[i]![0]!;
    const verdict = plainProofs.parseJudgment(solution, tokenizer.decode(ids));
    const read = stopped && verdict.ok;
    return { kind, read, hit: read && verdict.value.right === (kind === 'right') };
  });
  const of = (kind: Kind) => mean(hits.filter((item) => item.kind === kind).map(({ hit }) => Number(hit)));
  const found = mean(UNSEEN.map(of));
  return { of, found, balanced: (of('right') + found) / 2, read: mean(hits.map(({ read }) => Number(read))) };
}

export async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const greedy = await verdicts(context, 0);
  const sampled = await verdicts(context, 1);
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
      formatRate: greedy.read,
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
