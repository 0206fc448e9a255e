/** First the verifier is taught, then it rests and a generator learns against it. */
import { phaseAt, type Schedule } from '../../core/round/phases.ts';
import type { RoundSpec } from '../../core/schema/round.ts';

export type Phase = 'teach' | 'attack';

/** Rounds in which the verifier is taught. */
export const TAUGHT = 16;

const SCHEDULE: Schedule<Phase> = {
  first: [{ phase: 'teach', rounds: TAUGHT }],
  cycle: [{ phase: 'attack', rounds: 1 }],
};

export const phaseOf = ({ index }: Pick<RoundSpec, 'index'>): Phase => phaseAt(SCHEDULE, index).phase;
