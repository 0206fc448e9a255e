/**
 * The warm start of provers that analyse their own proofs, of verifiers and of meta-verifiers. It leaves what training is about untaught: provers
 * mostly report that their proofs have no wrong line; verifiers give the score that their sums imply, but often name lines that their sums did not
 * find wrong; and all of them sometimes copy sums instead of computing them.
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
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
/** Shares of wrong lines: in a prover’s proofs, and in proofs that are analysed, for each of which one of three shares is drawn. */
const PROVER_SLIPS = 0.25;
const CHECKED_SLIPS = [0, 0.25, 0.5] as const;
/** Share of a prover’s analyses in which the sums are computed; in the others they are copied, and no line is found wrong. */
const HONEST_SHARE = 0.3;
/** Share of the analyses of a verifier, and of the verdicts of a meta-verifier, in which the sums are copied. */
const LAZY_SHARE = 0.15;
/** Share of a verifier’s reports whose named lines are drawn at random, as many as its sums found wrong. */
const INVENTED_SHARE = 0.45;
/** Shares of the reports that a meta-verifier reads: exact ones, ones that name lines drawn at random, ones whose score does not follow from their issues. */
const SEEN = [0.4, 0.45, 0.15];

const wrongBy = ({ steps }: Solution, found: readonly string[]): number[] =>
  steps.flatMap((step, i) => (step === found[i] ? [] : [i + 1]));

/** `count` lines of a proof, drawn at random. */
const drawnLines = (random: Random, { steps }: Solution, count: number): number[] =>
  random
    .shuffle(steps.map((_, i) => i + 1))
    .slice(0, count)
    .sort((a, b) => a - b);

function seenReport(random: Random, solution: Solution, wrong: readonly number[]): Analysis {
  const kind = random.weighted(SEEN);
  if (kind === 0) return reportOf(wrong);
  // For a sound proof: a line that is named although it is right.
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
