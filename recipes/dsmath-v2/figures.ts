/** What the oracle says of analyses, for reports and claims alone; no reward reads it. */
import type { ParseResult, Solution } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import {
  type AnalysedProof,
  type Analysis,
  exactAnalysis,
  exactMetaVerdict,
  type MetaVerdict,
  wrongLines,
} from '../../worlds/chains/analysis.ts';

export interface Analysed {
  readonly task: string;
  readonly solution: Solution;
  readonly parsed: ParseResult<Analysis>;
}

export interface AnalysisFigures {
  /** Mean of 1 - |score - exact score|; an analysis that does not parse counts 0. */
  readonly scoreAccuracy: number;
  /** The share of the named issues that are real, and the share of the wrong lines that are named; 0 where there are none to count. */
  readonly issuePrecision: number;
  readonly issueRecall: number;
  /** Mean exact quality, which the paper’s meta-verification raises; an analysis that does not parse counts 0. */
  readonly analysisQuality: number;
}

export function analysisFigures(items: readonly Analysed[]): AnalysisFigures {
  let [named, real, wrong] = [0, 0, 0];
  for (const { task, solution, parsed } of items) {
    const lines = wrongLines(task, solution);
    wrong += lines.length;
    if (!parsed.ok) continue;
    named += parsed.value.issues.length;
    real += parsed.value.issues.filter((line) => lines.includes(line)).length;
  }
  const each = (worth: (item: Analysed, analysis: Analysis) => number) =>
    mean(items.map((item) => (item.parsed.ok ? worth(item, item.parsed.value) : 0)));
  return {
    scoreAccuracy: each(
      ({ task, solution }, { score }) => 1 - Math.abs(score - exactAnalysis(task, solution).score),
    ),
    issuePrecision: named === 0 ? 0 : real / named,
    issueRecall: wrong === 0 ? 0 : real / wrong,
    analysisQuality: each(({ task, solution }, analysis) => exactMetaVerdict(task, solution, analysis).score),
  };
}

/** Mean of 1 - |score - exact quality| of verdicts on analyses; a verdict that does not parse counts 0. */
export const metaAccuracy = (
  items: readonly { readonly exact: MetaVerdict; readonly parsed: ParseResult<MetaVerdict> }[],
): number =>
  mean(items.map(({ exact, parsed }) => (parsed.ok ? 1 - Math.abs(parsed.value.score - exact.score) : 0)));

/** Mean of |own score - exact score| of proofs; a proof that does not parse counts 1. */
export const selfError = (
  items: readonly { readonly task: string; readonly parsed: ParseResult<AnalysedProof> }[],
): number =>
  mean(
    items.map(({ task, parsed }) =>
      parsed.ok
        ? Math.abs(parsed.value.analysis.score - exactAnalysis(task, parsed.value.solution).score)
        : 1,
    ),
  );
