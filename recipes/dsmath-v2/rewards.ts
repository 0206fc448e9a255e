/** Rewards of proofs, analyses and meta-verdicts, by the paper's formulas; and how many analyses label a proof in place of an expert. */
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { AnalysedProof, Analysis, MetaVerdict, Score } from '../../worlds/chains/analysis.ts';

/** Weights of the verifier's score and of the honesty of the prover's own analysis. */
const SCORE_WEIGHT = 0.76;
const HONESTY_WEIGHT = 0.24;
/** The number of valid analyses that have to give the lowest score before it becomes the label. */
const SUPPORT = 2;

export const rewards: Readonly<Record<string, RewardInfo>> = {
  verified: {
    description:
      'proofs are paid by the verifier, and honest analyses of them by the meta-verifier; both begin with exact scores, and later the verifier labels by many analyses',
    usesGold: true,
  },
  gold: {
    description: 'upper bound: an exact checker scores every proof and every analysis',
    usesGold: true,
  },
  random: { description: 'control: scores of proofs and analyses are drawn at random', usesGold: false },
  format: { description: 'control: whatever is well-formed is paid', usesGold: false },
};

const closeness = (score: number, other: number): number => 1 - Math.abs(score - other);

/** R_format · R_score · R_meta. null = missing: a proof without a label, or an analysis whose quality is not known. */
export function analysisReward(
  parsed: ParseResult<Analysis>,
  label: number | null,
  quality: number | null,
): number | null {
  if (!parsed.ok) return 0;
  return label === null || quality === null ? null : closeness(parsed.value.score, label) * quality;
}

/** R_format · (1 - |ms' - ms|). */
export const metaReward = (parsed: ParseResult<MetaVerdict>, quality: number): number =>
  parsed.ok ? closeness(parsed.value.score, quality) : 0;

export interface ProofEvidence {
  /** The verifier's score; null where it gave none. */
  readonly score: number | null;
  /** The quality of the prover's own analysis; null where it is not known. */
  readonly quality: number | null;
  /** Whether the reward includes the term for an honest analysis of one's own proof. */
  readonly honesty: boolean;
}

/** R_format · (0.76 R_Y + 0.24 R_Z), R_Z = (1 - |own score - verifier's|) · R_meta. */
export function proofReward(
  parsed: ParseResult<AnalysedProof>,
  { score, quality, honesty }: ProofEvidence,
): number | null {
  if (!parsed.ok) return 0;
  if (score === null || !honesty) return score;
  if (quality === null) return null;
  const own = parsed.value.analysis.score;
  return SCORE_WEIGHT * score + HONESTY_WEIGHT * closeness(own, score) * quality;
}

/** An analysis that parses, with the verdicts of the meta-verifier on it. */
export interface CheckedAnalysis {
  readonly score: Score;
  readonly metaScores: readonly number[];
}

/** Whether more than half of the meta-verdicts find nothing wrong with the analysis. */
const valid = ({ metaScores }: CheckedAnalysis): boolean =>
  2 * metaScores.filter((score) => score === 1).length > metaScores.length;

/**
 * The label of a proof by many analyses. Only analyses that report issues and are valid count. The lowest score among them is the label if enough of
 * them give it; if there are none, the proof counts as right; otherwise there is no label.
 */
export function labelOf(analyses: readonly CheckedAnalysis[]): Score | null {
  if (analyses.length === 0) return null;
  const reports = analyses.filter((analysis) => analysis.score < 1 && valid(analysis));
  if (reports.length === 0) return 1;
  const lowest = reports.reduce<Score>((least, { score }) => (score < least ? score : least), 1);
  return reports.filter(({ score }) => score === lowest).length >= SUPPORT ? lowest : null;
}

/** The mean of the values that could be parsed; null if there are none. */
export const meanScore = (scores: readonly number[]): number | null => (scores.length ? mean(scores) : null);
