/**
 * The functions of the world `composition`: sixteen rules on strings of four letters, with names that say nothing of the rule. After arXiv:2509.25123,
 * "From f(x) and g(x) to f(g(x))": each is learnt alone, so that a policy which composes them has gained a skill and not a fact.
 */
export const LETTERS = 'abcdefgh';
/** Letters of a string. */
export const LENGTH = 4;

const shift = (letter: string, by: number) =>
  LETTERS[(LETTERS.indexOf(letter) + by + LETTERS.length) % LETTERS.length]!;

/** A string of the letters at these places. */
const places =
  (...order: readonly number[]) =>
  (text: string) =>
    order.map((i) => text[i]!).join('');

type Rule = (text: string) => string;

/** By number: `f00`, `f01`, … The first half are those that a warm start nests in tasks that a proposer writes; the other half it never nests so. */
const RULES: readonly Rule[] = [
  places(2, 3, 0, 1),
  (text) => [...text].map((letter) => shift(letter, -1)).join(''),
  places(3, 1, 2, 0),
  places(0, 0, 1, 2),
  (text) => [...text].map((letter) => shift(letter, 1)).join(''),
  places(0, 1, 1, 0),
  places(1, 0, 2, 3),
  places(0, 1, 3, 2),
  places(0, 1, 0, 1),
  places(1, 3, 0, 2),
  places(1, 2, 3, 0),
  places(3, 2, 1, 0),
  (text) => shift(text[0]!, 1) + text.slice(1, -1) + shift(text.at(-1)!, 1),
  places(1, 0, 3, 2),
  places(3, 0, 1, 2),
  places(1, 2, 3, 3),
];

export const FUNCTIONS: readonly string[] = RULES.map((_, i) => `f${String(i).padStart(2, '0')}`);
/** Functions that the proposals of a warm start nest, and functions that they never do. */
export const NESTED = FUNCTIONS.slice(0, FUNCTIONS.length / 2);
export const ALONE = FUNCTIONS.slice(FUNCTIONS.length / 2);

const ruleOf: ReadonlyMap<string, Rule> = new Map(FUNCTIONS.map((name, i) => [name, RULES[i]!]));

export const apply = (name: string, text: string): string => ruleOf.get(name)!(text);
