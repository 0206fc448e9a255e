/** How a warm start goes on. */
import type { Random } from '../core/random.ts';
import type { Demonstration } from './demonstration.ts';
import type { AskedPolicy } from './gate.ts';

/** What was seen of a policy in the course of a stage. */
export interface Seen {
  /** Can it do all that the stage is for? */
  readonly done: boolean;
  /** One line for whoever waits. */
  readonly said: string;
  /** Share of faults in each thing that it is taught, from 0 to 1: what is known is shown less. */
  readonly faults: Readonly<Record<string, number>>;
}

/** A part of a warm start that is taught before the next one, with an optimiser of its own. */
export interface Stage {
  /** With `looks`: the most steps, once through. */
  readonly steps: number;
  /** With `looks`: how many times it goes through its steps and their step sizes again while not all is done; default 0. */
  readonly again?: number;
  /** It is taken only where the stage before it came to its last step and was not done. */
  readonly ifMissed?: boolean;
  /** The policy is looked at after every so many steps, and the stage ends where all is done. */
  readonly looks?: { readonly every: number; readonly at: (policy: AskedPolicy) => Promise<Seen> };
  readonly learningRate: number;
  /** The step after which the step size begins to fall, and the one at which it would come to nothing. */
  readonly decay: readonly [from: number, to: number];
  /** All demonstrations of a step, by the faults that were seen last. */
  readonly demonstrate: (random: Random, faults: Seen['faults']) => readonly Demonstration[];
}
