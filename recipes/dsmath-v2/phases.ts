/** Which role is trained in which rounds. */
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
