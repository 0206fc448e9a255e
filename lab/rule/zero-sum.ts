/** What stands for skill and for the reward's gap to gold in claims about self-play in zero-sum games. */
import type { Claim } from './claim.ts';

export const IN_ZERO_SUM_GAMES = {
  columns: {
    label: 'score in games',
    meaning:
      'The score of sampled games against version 0: 1 for a win, and a half for a draw. Greedy play is not measured, since a player that never varies loses in poker.',
  },
  gap: {
    figures: [],
    label: 'zero-sum',
    meaning:
      'There is none. What one seat wins the other loses, so that the mean reward is 0 whatever is learned.',
  },
} as const satisfies Pick<Claim, 'columns' | 'gap'>;
