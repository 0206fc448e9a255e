/** How a warm start goes on. */
import type { Random } from '../core/random.ts';
import type { Demonstration } from './demonstration.ts';
import type { AskedPolicy } from './gate.ts';

/** A part of a warm start that is taught before the next one, with an optimiser of its own. */
export interface Stage {
  /** With `until`: the most steps. */
  readonly steps: number;
  /** Ends the stage after every so many steps if it holds of the policy as it is then. */
  readonly until?: { readonly every: number; readonly holds: (policy: AskedPolicy) => Promise<boolean> };
  readonly learningRate: number;
  /** The step after which the step size begins to fall, and the one at which it would come to nothing. */
  readonly decay: readonly [from: number, to: number];
  /** All demonstrations of a step. */
  readonly demonstrate: (random: Random) => readonly Demonstration[];
}
