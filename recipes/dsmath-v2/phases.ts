/** Which role is trained in which rounds, and how many completions each role samples in a round. */
import { phaseAt, type Schedule } from '../../core/round/phases.ts';
import type { RoundSpec } from '../../core/schema/round.ts';

/**
 * `score`: the verifier is trained on exact scores alone. `meta`: the meta-verifier is trained on the exact quality of analyses. `verify`: the
 * verifier is paid for both. `prove`: the prover is trained, paid by a verifier that is not trained. `label`: new proofs are labelled by many
 * analyses each, and the verifier is trained on these labels.
 */
export type Phase = 'score' | 'meta' | 'verify' | 'prove' | 'label';

const SCHEDULE: Schedule<Phase> = {
  first: [
    { phase: 'score', rounds: 1 },
    { phase: 'meta', rounds: 2 },
    { phase: 'verify', rounds: 3 },
  ],
  cycle: [
    { phase: 'prove', rounds: 3 },
    { phase: 'label', rounds: 1 },
  ],
};

export const VARIANTS = {
  'score-only': 'R_meta is 1: analyses are paid for their score alone, whatever issues they name',
  'coin-meta': 'R_meta is a coin',
  'no-honesty': 'the prover is paid the verifier’s score alone',
  'no-labels': 'the verifier rests after its first phases: no proof is labelled by analyses',
  imitation: 'the verifier is fine-tuned on its analyses that earn 1, instead of being reinforced',
} as const;

export const phaseOf = ({ index }: Pick<RoundSpec, 'index'>): Phase => phaseAt(SCHEDULE, index).phase;

export interface Shape {
  /** Proofs of each task. */
  readonly proofs: number;
  /** Analyses of each proof by the verifier. */
  readonly analyses: number;
  /** Meta-verdicts on each analysis: on the verifier's or, in `prove`, on the prover's own. */
  readonly metaVerdicts: number;
}

export function shapeOf(round: RoundSpec): Shape {
  const { groupSize, variant } = round.settings;
  // A meta-verifier whose verdict changes no reward is not asked.
  const checks = variant === 'score-only' || variant === 'coin-meta' ? 0 : 1;
  switch (phaseOf(round)) {
    case 'score':
      return { proofs: 1, analyses: groupSize, metaVerdicts: 0 };
    case 'meta':
      return { proofs: 1, analyses: 2, metaVerdicts: groupSize * checks };
    case 'verify':
      return { proofs: 1, analyses: groupSize, metaVerdicts: checks };
    case 'prove':
      return { proofs: groupSize, analyses: 2, metaVerdicts: checks };
    case 'label':
      return { proofs: 1, analyses: groupSize, metaVerdicts: 3 * checks };
  }
}
