import type Fraction from 'fraction.js';

/** A piece of a mathematical text. */
export interface Token {
  readonly kind: 'number' | 'letter' | 'word' | 'function' | 'command' | 'mark';
  /** Digits, a symbol’s name, a word in lower case, a function’s name, a command without its backslash, or a mark. */
  readonly text: string;
  /** Does white space stand before it? */
  readonly space: boolean;
  /** Of a number: its value. */
  readonly value?: Fraction;
  /** Of a number: is it written with digits alone? Of a letter: is it in upright type, as units are? */
  readonly bare?: boolean;
  /** Of a number: the sign of money beside it. */
  readonly money?: string;
  /** Of a word: as it is written. Of a degree sign: the letter of its scale. */
  readonly written?: string;
}
