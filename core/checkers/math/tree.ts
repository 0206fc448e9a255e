/** What a mathematical answer is read as: expressions, and the answers that hold them. */
import type Fraction from 'fraction.js';
import type { FunctionName } from './names.ts';

/**
 * `unit`: it stands behind a number as a unit would, 10 s or 10 m^2, and may be one. `measure`: the unit that is left out behind the value, or the one
 * that such letters may be; `conversions` reads it.
 */
export type Expression =
  /** `decimals`: digits that are written after the point, where it is written so. */
  (
    | { readonly op: 'number'; readonly value: Fraction; readonly decimals?: number }
    | { readonly op: 'symbol'; readonly name: string }
    | { readonly op: BinaryOperation; readonly left: Expression; readonly right: Expression }
    | { readonly op: 'call'; readonly name: FunctionName; readonly of: Expression }
    | { readonly op: 'negate' | 'percent'; readonly of: Expression }
  ) & { readonly unit?: true; readonly measure?: string };
/** `root`: the right side’s root of the left one, as `\sqrt[3]{8}` writes it. */
export type BinaryOperation = 'add' | 'subtract' | 'multiply' | 'divide' | 'power' | 'binomial' | 'root';

export type Relation = '=' | '<' | '≤' | '>' | '≥' | '≠' | '≈' | '≡';

/** One side of a relation: what it says, and the name that it may be of something, such as `f(x)`, `AB` or `Area`. */
export interface Side {
  readonly answer: MathAnswer | null;
  readonly label: string | null;
}

export type MathAnswer =
  | { readonly kind: 'value'; readonly node: Expression }
  | { readonly kind: 'relation'; readonly relations: readonly Relation[]; readonly sides: readonly Side[] }
  /** `joined`: the word between the last two elements of a bare list. */
  | {
      readonly kind: 'list';
      readonly brackets: string;
      readonly items: readonly MathAnswer[];
      readonly joined: ',' | 'or' | 'and';
    }
  | { readonly kind: 'sets'; readonly op: '∪' | '∩' | '∖'; readonly parts: readonly MathAnswer[] }
  | { readonly kind: 'matrix'; readonly fence: string; readonly rows: readonly (readonly MathAnswer[])[] }
  | { readonly kind: 'ratio'; readonly parts: readonly Expression[]; readonly clock: string | null }
  /** Digits in a base of their own, which is part of the answer. */
  | { readonly kind: 'based'; readonly digits: string; readonly base: string }
  /** Words, dates, and what else is compared as a text; `amount`: the value that quantities come to, in the unit of the last. */
  | { readonly kind: 'text'; readonly text: string; readonly amount?: Expression };

/** Thrown to end parsing, with the reason. */
export class ParseFailure extends Error {}
export const fail = (reason = 'no-expression'): never => {
  throw new ParseFailure(reason);
};

export const number = (value: Fraction): Expression => ({ op: 'number', value });
export const negated = (of: Expression): Expression => ({ op: 'negate', of });
export const binary = (op: BinaryOperation, left: Expression, right: Expression): Expression => ({
  op,
  left,
  right,
});
