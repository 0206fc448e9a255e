/** What a start must be able to do before rewards can teach it anything. */
import type { Policy } from '../core/policy/policy.ts';
import type { Tokenizer } from '../core/text/tokenizer-port.ts';

/** A policy that can be asked, with its tokenizer. */
export interface AskedPolicy extends Pick<Policy, 'generate'> {
  readonly tokenizer: Tokenizer;
}

/** A share that was measured, and between what it has to lie. */
export interface Gate {
  readonly description: string;
  /** From 0 to 1. */
  readonly value: number;
  readonly least?: number;
  /** What its training goes on for, as long as it may, where that is more than the least. */
  readonly aim?: number;
  readonly most?: number;
}

export const isMet = ({ value, least = 0, most = 1 }: Gate): boolean => value >= least && value <= most;
