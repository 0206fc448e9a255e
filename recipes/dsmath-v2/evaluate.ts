/**
 * Evaluation on held-out tasks by the oracle, apart from every reward: how good proofs are, how honest provers are about them, what a loop of proving
 * and self-verification is worth, and what analyses and meta-verdicts are worth on proofs of version 0, which are the same for every version.
 */
import { balancedAccuracy } from '../../core/monitor/monitors.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { invalid, type ParseResult } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import {
  type AnalysedProof,
  analysedProofs,
  exactMetaVerdict,
  metaPrompt,
  parseAnalysedProof,
  parseAnalysis,
  parseMetaVerdict,
} from '../../worlds/chains/analysis.ts';
import { chains } from '../../worlds/chains/family.ts';
import { type Analysed, analysisFigures, metaAccuracy, selfError } from './figures.ts';
import { META_JUDGE } from './proof-groups.ts';

/** The largest number of rounds of proving and self-verification. */
const ROUNDS = 8;
/** Proofs of each task that the verifier is asked about. */
const VERIFIED = 2;

type Speaker = Pick<RoundContext, 'tokenizer' | 'generate' | 'evaluationTasks'>;

interface Attempt {
  readonly task: string;
  readonly parsed: ParseResult<AnalysedProof>;
}

/** A proof is as good as its lines: an exact answer after lines that do not follow proves nothing. */
const isExact = ({ task, parsed }: Attempt): boolean =>
  parsed.ok && analysedProofs.exactJudgment(task, parsed.value.solution).right;

/** Proofs of each held-out task [tasks][count]. */
async function attempts(
  context: Speaker,
  seed: string,
  count: number,
  temperature: number,
): Promise<Attempt[][]> {
  const tasks = analysedProofs.heldOut(context.evaluationTasks);
  const said = await asked(context, SOLVER, tasks, {
    prompt: (task) => analysedProofs.solverPrompt(task),
    key: (task) => [seed, task],
    samples: count,
    temperature,
  });
  return tasks.map((task, t) =>
    said[t]!.map(({ text, stopped }) => ({
      task,
      parsed: stopped ? parseAnalysedProof(task, text) : invalid('cut-off'),
    })),
  );
}

/** One sampled analysis by the verifier of each proof that parses. */
async function analysed(context: Speaker, seed: string, proofs: readonly Attempt[]): Promise<Analysed[]> {
  const read = proofs.flatMap(({ task, parsed }) =>
    parsed.ok ? [{ task, solution: parsed.value.solution }] : [],
  );
  const said = await asked(context, JUDGE, read, {
    prompt: ({ task, solution }) => chains.judgePrompt(task, solution),
    key: (_, i) => [seed, i],
    temperature: 1,
  });
  return read.map((item, i) => {
    const { text, stopped } = said[i]![0]!;
    return { ...item, parsed: stopped ? parseAnalysis(item.solution, text) : invalid('cut-off') };
  });
}

/** One sampled meta-verdict on each analysis that parses. */
async function metaVerdicts(context: Speaker, items: readonly Analysed[]) {
  const read = items.flatMap(({ task, solution, parsed }) =>
    parsed.ok ? [{ task, solution, analysis: parsed.value }] : [],
  );
  const said = await asked(context, META_JUDGE, read, {
    prompt: ({ task, solution, analysis }) => metaPrompt(task, solution, analysis),
    key: (_, i) => ['meta', i],
    temperature: 1,
  });
  return read.map(({ task, solution, analysis }, i) => ({
    exact: exactMetaVerdict(task, solution, analysis),
    parsed: parseMetaVerdict(solution, analysis, said[i]![0]!.text),
  }));
}

/** The proof that is handed in after so many rounds: the first that its prover scores 1, otherwise the first of those with the highest score. */
export function settled(proofs: readonly Attempt[]): Attempt | undefined {
  const own = ({ parsed }: Attempt) => (parsed.ok ? parsed.value.analysis.score : -1);
  const best = Math.max(...proofs.map(own));
  return proofs.find((proof) => own(proof) === best);
}

/**
 * How often the verifier's score is 1 for right proofs and less than 1 for wrong ones, balanced over the two kinds; null where only one kind occurs.
 */
const verdictAccuracy = (items: readonly Analysed[]): number | null =>
  balancedAccuracy(
    items.map(({ task, solution, parsed }) => {
      const { right } = analysedProofs.exactJudgment(task, solution);
      return { right, hit: parsed.ok && (parsed.value.score === 1) === right };
    }),
  );

export async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const greedy = (await attempts(context, 'greedy', 1, 0)).flat();
  const sampled = await attempts(context, 'sequential', ROUNDS, 1);
  const fixedProofs = await context.once('proofs', async () =>
    (await attempts(context.atStart, 'fixed', VERIFIED, 1)).flat(),
  );
  const fixedAnalyses = await context.once('analyses', () =>
    analysed(context.atStart, 'fixed analysis', fixedProofs),
  );
  const fixed = await analysed(context, 'analysis', fixedProofs);
  const own = await analysed(
    context,
    'own analysis',
    sampled.flatMap((proofs) => proofs.slice(0, VERIFIED)),
  );
  const share = (proofs: readonly Attempt[]) => mean(proofs.map((proof) => Number(isExact(proof))));
  const after = (rounds: number) =>
    share(sampled.flatMap((proofs) => settled(proofs.slice(0, rounds)) ?? []));
  return evaluation(
    {
      n: greedy.length,
      accuracy: share(greedy),
      sampled: share(sampled.flat()),
      formatRate: mean(greedy.map(({ parsed }) => Number(parsed.ok))),
      tallies: {
        accuracy: tallyOf(greedy.map(isExact)),
        sampled: tallyOf(
          sampled.map((proofs) => proofs.filter(isExact).length),
          ROUNDS,
        ),
      },
    },
    {
      ...analysisFigures(fixed),
      ownScoreAccuracy: analysisFigures(own).scoreAccuracy,
      metaAccuracy: metaAccuracy(await metaVerdicts(context, fixedAnalyses)),
      selfError: selfError(sampled.flat()),
      sequential1: after(1),
      sequential2: after(2),
      sequential4: after(4),
      sequential8: after(ROUNDS),
    },
    { fixed: verdictAccuracy(fixed), own: verdictAccuracy(own) },
  );
}
