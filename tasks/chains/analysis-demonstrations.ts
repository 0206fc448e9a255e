/**
 * The warm start of provers who analyse what they write, of verifiers and of meta-verifiers. It leaves to training what training is to
 * bring about: provers mostly call their proofs flawless, verifiers give the score that their sums justify and often name lines that they
 * did not find wrong, and all of them now and then copy sums instead of doing them.
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/task-family.ts';
import { slippingSolution } from '../arithmetic/step-slips.ts';
import type { Demonstration } from '../demonstration.ts';
import {
  type Analysis,
  exactSums,
  freshProofTask,
  metaPrompt,
  metaVerdictOf,
  reportOf,
  writeAnalysedProof,
  writeAnalysis,
  writeMetaVerdict,
} from './analysis.ts';
import { chains } from './family.ts';

const SHARES = { solver: 0.36, judge: 0.32, 'meta-judge': 0.32 } as const;
/** Shares of lines with a slip: in a prover's proofs, and in proofs that are analysed, each of which has one of three shares. */
const PROVER_SLIPS = 0.25;
const CHECKED_SLIPS = [0, 0.25, 0.5] as const;
/** Share of a prover's analyses in which the sums are done; in the others they are copied, and nothing is found wrong. */
const HONEST_SHARE = 0.3;
/** Share of the analyses of a verifier, and of the verdicts of a meta-verifier, in which the sums are copied. */
const LAZY_SHARE = 0.15;
/** Share of a verifier's reports in which the lines it names are drawn at random, as many as it found wrong. */
const INVENTED_SHARE = 0.45;
/** Shares of the reports that a meta-verifier reads: exact ones, ones that name lines drawn at random, ones whose score does not follow from their issues. */
const SEEN = [0.4, 0.45, 0.15];

const wrongBy = ({ steps }: Solution, found: readonly string[]): number[] =>
  steps.flatMap((step, i) => (step === found[i] ? [] : [i + 1]));

/** `count` lines of a proof, drawn by lot. */
const drawnLines = (random: Random, { steps }: Solution, count: number): number[] =>
  random
    .shuffle(steps.map((_, i) => i + 1))
    .slice(0, count)
    .sort((a, b) => a - b);

function seenReport(random: Random, solution: Solution, wrong: readonly number[]): Analysis {
  const kind = random.weighted(SEEN);
  if (kind === 0) return reportOf(wrong);
  // Of a sound proof, a wrong line that there is not.
  if (kind === 1) return reportOf(drawnLines(random, solution, Math.max(1, wrong.length)));
  const exact = reportOf(wrong);
  return { ...exact, score: random.pick(([0, 0.5, 1] as const).filter((score) => score !== exact.score)) };
}

export function demonstrateAnalyses(random: Random): Demonstration {
  const role = (Object.keys(SHARES) as (keyof typeof SHARES)[])[random.weighted(Object.values(SHARES))]!;
  const task = freshProofTask(random);
  const solution = slippingSolution(
    random,
    task,
    role === 'solver' ? PROVER_SLIPS : random.pick(CHECKED_SLIPS),
  );
  const exact = exactSums(task, solution);
  const copied = role === 'solver' ? !random.bool(HONEST_SHARE) : random.bool(LAZY_SHARE);
  const found = copied ? solution.steps : exact;
  const wrong = wrongBy(solution, found);
  if (role === 'solver')
    return {
      role,
      prompt: chains.solverPrompt(task),
      completion: writeAnalysedProof(solution, found, reportOf(wrong)),
    };
  if (role === 'judge') {
    const named = random.bool(INVENTED_SHARE) ? drawnLines(random, solution, wrong.length) : wrong;
    return {
      role,
      prompt: chains.judgePrompt(task, solution),
      completion: writeAnalysis(solution, found, reportOf(named)),
    };
  }
  const analysis = seenReport(random, solution, wrongBy(solution, exact));
  return {
    role,
    prompt: metaPrompt(task, solution, analysis),
    completion: writeMetaVerdict(solution, found, metaVerdictOf(wrong, analysis)),
  };
}
