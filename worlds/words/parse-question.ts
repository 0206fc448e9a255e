/**
 * Reads a question in the wordings of the six families, whoever wrote it: its answer, and whether it is held out. What a policy writes in
 * other words, or what has no whole answer, is no question of these families.
 */
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { chainKey, equationKey, isReserved, setKey, statesReserved } from './reserved.ts';
import { calculate, type Expression, type Fact, type Operator, work, workExpression } from './steps.ts';

export interface ParsedQuestion {
  readonly answer: string;
  /** What the checker needs beside it. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Has an evaluation question the same operands, or does working it out state what one asks? */
  readonly isHeldOut: boolean;
}

/** The largest magnitude of an answer, and the most digits of a number in a question. */
const LARGEST = 10 ** 6;
const NUMBER = /^-?\d{1,6}$/;

const read = (
  answer: number | string,
  key: string,
  facts: readonly Fact[],
  metadata: ParsedQuestion['metadata'] = {},
): ParseResult<ParsedQuestion> =>
  typeof answer === 'number' && Math.abs(answer) >= LARGEST
    ? invalid('too-large')
    : ok({ answer: String(answer), metadata, isHeldOut: isReserved(key) || statesReserved(facts) });

interface Chain {
  readonly expression: Expression;
  /** From left to right, with the operations between them. */
  readonly numbers: readonly number[];
  readonly operators: readonly Operator[];
}

/** An expression as `expressionText` writes it; null where the text is none. */
function parseExpression(text: string): Chain | null {
  const tokens = text.split(' ');
  const numbers: number[] = [];
  const operators: Operator[] = [];
  let at = 0;
  const operator = (among: string): Operator | null => {
    const token = tokens[at] ?? '';
    if (token.length !== 1 || !among.includes(token)) return null;
    at++;
    operators.push(token as Operator);
    return token as Operator;
  };
  const factor = (): Expression | null => {
    const token = tokens[at++] ?? '';
    if (NUMBER.test(token)) {
      numbers.push(Number(token));
      return Number(token);
    }
    if (token !== '(' && token !== '-(') return null;
    const of = sum();
    return of !== null && tokens[at++] === ')' ? { of, negated: token === '-(' } : null;
  };
  const chained = (part: () => Expression | null, among: string): Expression | null => {
    let left = part();
    while (left !== null) {
      const next = operator(among);
      if (next === null) return left;
      const right = part();
      left = right === null ? null : { left, operator: next, right };
    }
    return null;
  };
  const sum = (): Expression | null => chained(() => chained(factor, '*/'), '+-');
  const expression = sum();
  return expression !== null && at === tokens.length && operators.length > 0
    ? { expression, numbers, operators }
    : null;
}

/** A question for the value of an expression whose operations are among these. */
function parseChain(text: string, among: string): ParseResult<ParsedQuestion> {
  const chain = parseExpression(text);
  if (!chain?.operators.every((operator) => among.includes(operator))) return invalid('no-kind');
  const { value, facts } = workExpression(chain.expression);
  return value === null ? invalid('no-kind') : read(value, chainKey(chain.numbers, chain.operators), facts);
}

function parseGcd(list: string): ParseResult<ParsedQuestion> {
  const numbers = list.split(', ').map(Number);
  if (numbers.some((number) => number === 0)) return invalid('no-kind');
  const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
  return read(numbers.reduce(gcd), setKey('gcd', numbers), []);
}

/** `a*x + b`, `a*x - b`, `b - a*x`, each a whole number; signs, `a` and `b` may be absent. */
const EQUATION =
  /^(?:(?<from>\d{1,6}) - )?(?<sign>-?)(?:(?<factor>\d{1,6})\*)?(?<variable>[a-z])(?: (?<operator>[-+]) (?<added>\d{1,6}))? = (?<value>-?\d{1,6})$/;

function parseEquation(variable: string, text: string): ParseResult<ParsedQuestion> {
  const parts = EQUATION.exec(text)?.groups;
  if (!parts || parts.variable !== variable) return invalid('no-kind');
  const { from, sign, factor = '1', operator, added, value } = parts;
  if (from !== undefined && (sign || operator)) return invalid('no-kind');
  const slope = (from !== undefined || sign ? -1 : 1) * Number(factor);
  const constant = from !== undefined ? Number(from) : operator === '-' ? -Number(added) : Number(added ?? 0);
  const root = calculate(Number(value) - constant, '/', slope);
  if (root === null) return invalid('no-whole-root');
  const moved: Fact[] =
    from !== undefined
      ? work(Number(from), '-', Number(value)).facts.slice()
      : operator === undefined
        ? []
        : work(Number(value), operator === '-' ? '+' : '-', Number(added)).facts.slice();
  const divided = Math.abs(slope) === 1 ? [] : work(Number(value) - constant, '/', slope).facts;
  return read(root, equationKey(slope, constant, root), [...moved, ...divided]);
}

/** An expression that uses all of the numbers and has this value; null where there is none. */
function solveCountdown(
  terms: readonly { readonly text: string; readonly value: number }[],
  target: number,
): string | null {
  if (terms.length === 1) return terms[0]!.value === target ? terms[0]!.text : null;
  for (const [i, left] of terms.entries())
    for (const [j, right] of terms.entries()) {
      if (i === j) continue;
      const rest = terms.filter((_, at) => at !== i && at !== j);
      for (const operator of ['+', '-', '*', '/'] as const) {
        const value = calculate(left.value, operator, right.value);
        if (value === null) continue;
        const found = solveCountdown(
          [...rest, { text: `(${left.text} ${operator} ${right.text})`, value }],
          target,
        );
        if (found !== null) return found;
      }
    }
  return null;
}

/** As many as the family's questions have: what is searched grows fast with them. */
const COUNTDOWN_NUMBERS = 3;

function parseCountdown(list: string, of: string): ParseResult<ParsedQuestion> {
  const [numbers, target] = [list.split(', ').map(Number), Number(of)];
  if (numbers.length !== COUNTDOWN_NUMBERS) return invalid('no-kind');
  const answer = solveCountdown(
    numbers.map((value) => ({ text: String(value), value })),
    target,
  );
  return answer === null ? invalid('no-kind') : read(answer, setKey('cd', numbers), [], { numbers, target });
}

const LIST = String.raw`(\d{1,6}(?:, \d{1,6})+)`;
const FORMAT = String.raw`\n\nFinal answer format instructions:\n1\. Provide[^]*formatting\.`;
const COUNTDOWN = [
  new RegExp(
    `^Using all the numbers ${LIST}, create an expression that equals (\\d{1,6})\\.\nYou can only use each number once\\.${FORMAT}$`,
  ),
  new RegExp(
    `^Find a way to make (\\d{1,6}) using all of these numbers: ${LIST}\\.\nEach number can only be used once\\.${FORMAT}$`,
  ),
  new RegExp(
    `^Calculate (\\d{1,6}) using all of these numbers: ${LIST}\\.\nEach number may be used at most once\\.${FORMAT}$`,
  ),
] as const;

/** Each wording with what reads it. A later one takes what those before it leave. */
const WORDINGS: readonly (readonly [RegExp, (...parts: string[]) => ParseResult<ParsedQuestion>])[] = [
  [COUNTDOWN[0], (list, target) => parseCountdown(list!, target!)],
  [COUNTDOWN[1], (target, list) => parseCountdown(list!, target!)],
  [COUNTDOWN[2], (target, list) => parseCountdown(list!, target!)],
  [/^Calculate (.+)\.$/, (text) => parseChain(text!, '+-*/')],
  [/^State the final answer to the following arithmetic problem: (.+) =$/, (text) => parseChain(text!, '+-')],
  [
    /^Solve the following multiplication: (.+)\. Give only the result as your final answer\.$/,
    (text) => parseChain(text!, '*'),
  ],
  [
    new RegExp(
      `^Find the Greatest Common Divisor \\(GCD\\) of these numbers: ${LIST}\\. Give only the GCD as your final answer\\.$`,
    ),
    (list) => parseGcd(list!),
  ],
  [/^Solve for ([a-z]): (.+)$/, (variable, text) => parseEquation(variable!, text!)],
  [
    /^Determine the value of ([a-z]) that satisfies: (.+)$/,
    (variable, text) => parseEquation(variable!, text!),
  ],
  [/^Find the value of ([a-z]) in the equation: (.+)$/, (variable, text) => parseEquation(variable!, text!)],
];

/** Reasons: no-kind, no-whole-root, too-large. */
export function parseQuestion(text: string): ParseResult<ParsedQuestion> {
  const written = text.trim();
  for (const [wording, reader] of WORDINGS) {
    const found = wording.exec(written);
    if (found) return reader(...found.slice(1));
  }
  return invalid('no-kind');
}
