/** When r-zero trains its challenger, collects questions and trains its solver. */
import { cycleOf, phaseAt, type Schedule } from '../../core/round/phases.ts';

const SCHEDULE: Schedule<'challenge' | 'collect' | 'train'> = {
  cycle: [
    { phase: 'challenge', rounds: 7 },
    { phase: 'collect', rounds: 1 },
    { phase: 'train', rounds: 5 },
  ],
};
/** Rounds of an iteration. */
export const ITERATION = cycleOf(SCHEDULE);

export const phaseOf = (index: number) => phaseAt(SCHEDULE, index).phase;
