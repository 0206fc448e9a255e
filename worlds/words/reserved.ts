/**
 * Which questions of the family are held out: every question of the evaluation files of reasoning-gym, by its operands. The key of a question
 * leaves out wording, signs, parentheses and, where it does not matter, the order; so no question that differs from an evaluation
 * question in these alone is trained on, and no step of a worked solution states a sum, difference, product or quotient of two numbers
 * from 10 that an evaluation question asks for.
 */

import { RESERVED_KEYS } from './reserved-keys.ts';
import type { Fact, Operator } from './steps.ts';

const reserved: ReadonlySet<string> = new Set(RESERVED_KEYS);

/** Key of a chain of operations on numbers. */
export function chainKey(numbers: readonly number[], operators: readonly Operator[]): string {
  const sizes = numbers.map(Math.abs);
  const [operator] = operators;
  if (operators.length === 1 && (operator === '+' || operator === '*')) sizes.sort((a, b) => a - b);
  return sizes.map((size, i) => `${size}${operators[i] ?? ''}`).join('');
}

/** Key of a question about a set of numbers: `gcd`, `cd` (countdown). */
export const setKey = (kind: 'gcd' | 'cd', numbers: readonly number[]): string =>
  `${kind}:${[...numbers].sort((a, b) => a - b).join(',')}`;

/** Key of the equation `a*x + b = …` with the solution `x`, whatever the signs. */
export const equationKey = (a: number, b: number, x: number): string =>
  `eq:${Math.abs(a)},${Math.abs(b)},${Math.abs(x)}`;

export const isReserved = (key: string): boolean => reserved.has(key);

/** Does a step state what an evaluation question asks? The tables of one-digit numbers are in every calculation and do not count. */
export const statesReserved = (facts: readonly Fact[]): boolean =>
  facts.some(
    ({ left, operator, right }) =>
      Math.abs(left) >= 10 && Math.abs(right) >= 10 && isReserved(chainKey([left, right], [operator])),
  );
