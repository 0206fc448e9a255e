/**
 * Best-of-N: what a verifier is worth to a solver that is not trained. Once a run, version 0 samples N answers to each held-out task. The examined
 * version scores them, and the oracle checks the best answer to each task.
 */
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import type { Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { tallyOf, tallyOfShares } from '../../core/statistics/change.ts';
import { asked } from './asked.ts';

export interface Candidates {
  readonly task: string;
  /** Answers that parse, each with the oracle's verdict on it. */
  readonly solutions: readonly Solution[];
  readonly exact: readonly boolean[];
}

type Speaker = Pick<RoundContext, 'tokenizer' | 'generate'>;

/** N answers to each of the first `tasks` held-out tasks; a task without an answer that parses keeps an empty list. */
export async function candidatesOf(
  context: Speaker & Pick<RoundContext, 'evaluationTasks'>,
  family: TaskFamily,
  role: string,
  { tasks, n }: { readonly tasks: number; readonly n: number },
): Promise<Candidates[]> {
  const heldOut = family.heldOut(context.evaluationTasks).slice(0, tasks);
  const said = await asked(context, role, heldOut, {
    prompt: (task) => family.solverPrompt(task),
    key: (task) => ['candidate', task],
    samples: n,
    temperature: 1,
  });
  return heldOut.map((task, t) => {
    const solutions = said[t]!.flatMap(({ text }) => {
      const parsed = family.parseSolution(task, text);
      return parsed.ok ? [parsed.value] : [];
    });
    return { task, solutions, exact: solutions.map((solution) => family.answerIsExact(task, solution)) };
  });
}

/**
 * P(right) of every candidate by each of K verdicts: the probability of the verdict's mark where it says right, and 1 minus that probability where it
 * says wrong; 0.5 where the verdict does not parse. -> [tasks][candidates][K]
 */
export async function verdictProbabilities(
  context: Speaker,
  role: string,
  candidates: readonly Candidates[],
  how: {
    readonly prompt: (task: string, solution: Solution) => string;
    readonly votes: number;
    readonly temperature: number;
  },
): Promise<number[][][]> {
  const [right, wrong] = ['<right>', '<wrong>'].map((tag) => context.tokenizer.id(tag));
  const scored = candidates.flatMap(({ task, solutions }, t) =>
    solutions.map((solution, s) => ({ task, solution, at: [t, s] })),
  );
  const said = await asked(context, role, scored, {
    prompt: ({ task, solution }) => how.prompt(task, solution),
    key: ({ at }) => ['score', ...at],
    samples: how.votes,
    temperature: how.temperature,
  });
  const each = said.map((votes) =>
    votes.map(({ ids, logprobs }) => {
      const at = ids.findIndex((id) => id === right || id === wrong);
      if (at < 0) return 0.5;
      const p = Math.exp(logprobs[at]!);
      return ids[at] === right ? p : 1 - p;
    }),
  );
  return candidates.map(({ solutions }) => each.splice(0, solutions.length));
}

const bestHits = (
  candidates: readonly Pick<Candidates, 'exact'>[],
  scores: readonly (readonly number[])[],
): boolean[] => candidates.map(({ exact }, t) => exact[scores[t]!.indexOf(Math.max(...scores[t]!))] ?? false);

/** Share of tasks whose highest-scored candidate is exact; the first of equal scores is chosen. scores [tasks][candidates]. */
export const bestOf = (...asked: Parameters<typeof bestHits>): number => mean(bestHits(...asked).map(Number));

/** What the figures of `withoutVerifier` mean. */
export const BEST_OF_N_FIGURES = {
  one: 'Share of exact answers among those that version 0 sampled on held-out tasks: accuracy without any choice.',
  vote: 'Share of held-out tasks at which the answer that most of the samples give is exact.',
  oracle:
    'Share of held-out tasks at which any of the sampled answers is exact: the most that a choice among them can reach.',
} as const;

/** Accuracies without a verifier: of a random answer, of the majority vote, and of an ideal choice, which is right wherever any answer is. */
export function withoutVerifier(candidates: readonly Candidates[]) {
  const answered = (solutions: readonly Solution[]) => solutions.map(({ answer }) => answer);
  return {
    one: mean(candidates.map(({ exact }) => mean(exact.map(Number)))),
    vote: mean(
      candidates.map(({ solutions, exact }) => {
        const winner = majority(answered(solutions))?.answer;
        return Number(exact[answered(solutions).indexOf(winner ?? '')] ?? false);
      }),
    ),
    oracle: mean(candidates.map(({ exact }) => Number(exact.some(Boolean)))),
  };
}

export interface BestOfN {
  readonly family: TaskFamily;
  readonly solver: string;
  /** The first held-out tasks and the answers to each, which version 0 samples once a run. */
  readonly tasks: number;
  readonly n: number;
  /** Absent where no verifier can be asked. */
  readonly verifier?: {
    readonly role: string;
    readonly prompt: (task: string, solution: Solution) => string;
    readonly temperature: number;
    /** How many verdicts are averaged, ascending. */
    readonly votes: readonly number[];
  };
}

/** `accuracy` is Best-of-N by the largest number of verdicts, `best<K>` by K of them; without a verifier `accuracy` is that of one answer. */
export async function evaluateBestOfN(
  context: EvaluationContext,
  { family, solver, tasks, n, verifier }: BestOfN,
): Promise<Evaluation> {
  const candidates = await context.once('candidates', () =>
    candidatesOf(context.atStart, family, solver, { tasks, n }),
  );
  const without = withoutVerifier(candidates);
  if (!verifier) {
    const accuracy = tallyOfShares(candidates.map(({ exact }) => mean(exact.map(Number))));
    return evaluation({ n: tasks, accuracy: without.one, tallies: { accuracy } }, without);
  }
  const { role, prompt, temperature, votes: counts } = verifier;
  const votes = counts.at(-1)!;
  const probabilities = await verdictProbabilities(context, role, candidates, { prompt, votes, temperature });
  const hits = counts.map((count) =>
    bestHits(
      candidates,
      probabilities.map((task) => task.map((each) => mean(each.slice(0, count)))),
    ),
  );
  const best = hits.map((of) => mean(of.map(Number)));
  const figures = Object.fromEntries(counts.map((count, i) => [`best${count}`, best[i]!]));
  return evaluation(
    { n: tasks, accuracy: best.at(-1)!, tallies: { accuracy: tallyOf(hits.at(-1)!) } },
    { ...without, ...figures },
  );
}
