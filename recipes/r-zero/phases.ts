/** When r-zero trains its challenger, collects questions and trains its solver. */
import { cycleOf, phaseAt, type Schedule } from '../../core/round/phases.ts';
import type { Phase } from './challenge-play.ts';

const SCHEDULE: Schedule<Phase> = {
  cycle: [
    { phase: 'challenge', rounds: 7 },
    { phase: 'collect', rounds: 1 },
    { phase: 'train', rounds: 5 },
  ],
};
/** Rounds of an iteration. */
export const ITERATION = cycleOf(SCHEDULE);

export const phaseOf = (index: number): Phase => phaseAt(SCHEDULE, index).phase;
