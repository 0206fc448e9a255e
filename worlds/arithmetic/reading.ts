/**
 * Arithmetic chains for a larger solver that reads whatever may stand beside its task: a draft or a hint (aided.ts), or an attempt and whether it is
 * right (revising.ts). It is shown as many demonstrations of the one warm start as of the other.
 */
import type { Random } from '../../core/random.ts';
import { demonstrateAided } from './aided.ts';
import type { Demonstration } from './demonstrations.ts';
import { demonstrateRevising } from './revising.ts';

export const demonstrateReading = (random: Random): Demonstration =>
  random.bool() ? demonstrateAided(random) : demonstrateRevising(random);
