/**
 * Questions in English, in the wordings of six generators of reasoning-gym at small numbers, with worked solutions. Every draw is on the
 * training side: no question whose operands an evaluation question has (reserved.ts).
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { chainKey, equationKey, isReserved, setKey, statesReserved } from './reserved.ts';
import {
  calculate,
  type Expression,
  expressionText,
  type Fact,
  type Operator,
  work,
  workExpression,
} from './steps.ts';

export const FAMILIES = [
  'basic_arithmetic',
  'chain_sum',
  'gcd',
  'products',
  'simple_equations',
  'countdown',
] as const;
export type Family = (typeof FAMILIES)[number];

export interface WordQuestion {
  readonly family: Family;
  /** In reasoning-gym's wording. */
  readonly question: string;
  /** The same in another wording. */
  readonly paraphrase: string;
  readonly answer: string;
  /** Lines of a worked solution. */
  readonly steps: readonly string[];
  /** What the checker needs, and `num_digits`, by which figures are reported apart. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A drawn question with its key and its facts, which decide whether it is admitted; null where its numbers make no question. */
interface Draw extends WordQuestion {
  readonly key: string;
  readonly facts: readonly Fact[];
}

/** Uniform in [low, high]. */
const between = (random: Random, low: number, high: number): number => low + random.int(high - low + 1);
const digits = (random: Random, count: 1 | 2): number =>
  count === 1 ? between(random, 0, 9) : between(random, 10, 99);

/** The most digits of a result. */
const LARGEST = 10 ** 6;

/** Numbers from left to right with the operations between them. */
function flat(expression: Expression): { numbers: number[]; operators: Operator[] } {
  if (typeof expression === 'number') return { numbers: [expression], operators: [] };
  if ('of' in expression) return flat(expression.of);
  const [left, right] = [flat(expression.left), flat(expression.right)];
  return {
    numbers: [...left.numbers, ...right.numbers],
    operators: [...left.operators, expression.operator, ...right.operators],
  };
}

const binds = (operator: Operator) => operator === '*' || operator === '/';

/** An expression as it is read: products before sums, from left to right. */
function chained(numbers: readonly number[], operators: readonly Operator[]): Expression {
  const [a, b, c] = numbers as readonly [number, number, number?];
  const [first, second] = operators as readonly [Operator, Operator?];
  if (c === undefined || second === undefined) return { left: a, operator: first, right: b };
  return binds(second) && !binds(first)
    ? { left: a, operator: first, right: { left: b, operator: second, right: c } }
    : { left: { left: a, operator: first, right: b }, operator: second, right: c };
}

function basicArithmetic(random: Random): Draw | null {
  const size = random.bool() ? 1 : 2;
  const terms = random.bool() ? 2 : 3;
  const numbers = Array.from({ length: terms }, () => digits(random, size) * (random.bool() ? 1 : -1) || 0);
  const operators = Array.from({ length: terms - 1 }, () => random.pick<Operator>(['+', '-', '*', '/']));
  operators.forEach((operator, i) => {
    // Few quotients of randomly drawn numbers are whole.
    if (operator !== '/' || random.bool(0.3)) return;
    const divided = Math.abs(numbers[i]!) || 1;
    const divisors = Array.from({ length: divided }, (_, d) => d + 1).filter((d) => divided % d === 0);
    numbers[i + 1] = random.pick(divisors) * (random.bool(0.1) ? -1 : 1);
  });
  const wrapped = (of: Expression): Expression => ({ of, negated: random.bool() });
  let expression = chained(numbers, operators);
  if (terms === 3 && random.bool(0.35)) {
    const [a, b, c] = numbers as [number, number, number];
    const [first, second] = operators as [Operator, Operator];
    expression = random.bool()
      ? { left: wrapped({ left: a, operator: first, right: b }), operator: second, right: c }
      : { left: a, operator: first, right: wrapped({ left: b, operator: second, right: c }) };
  }
  while (random.bool(0.3)) expression = wrapped(expression);
  const { value, steps, facts } = workExpression(expression);
  if (value === null || Math.abs(value) >= LARGEST) return null;
  const text = expressionText(expression);
  return {
    family: 'basic_arithmetic',
    question: `Calculate ${text}.`,
    paraphrase: random.pick([
      `What is ${text}?`,
      `Work out ${text}.`,
      `Please evaluate ${text}.`,
      `Compute ${text}.`,
    ]),
    answer: String(value),
    steps,
    metadata: { num_digits: size, num_terms: terms },
    key: chainKey(flat(expression).numbers, flat(expression).operators),
    facts,
  };
}

function chainSum(random: Random): Draw {
  const size = random.bool() ? 1 : 2;
  const terms = random.bool() ? 2 : 3;
  const numbers = Array.from({ length: terms }, () => digits(random, size));
  const operators = Array.from({ length: terms - 1 }, () => random.pick<Operator>(['+', '-']));
  const expression = chained(numbers, operators);
  const { value, steps, facts } = workExpression(expression);
  const text = expressionText(expression);
  return {
    family: 'chain_sum',
    question: `State the final answer to the following arithmetic problem: ${text} =`,
    paraphrase: random.pick([
      `What is ${text}?`,
      `Add up: ${text}.`,
      `Work out ${text}.`,
      `How much is ${text}?`,
    ]),
    answer: String(value),
    steps,
    metadata: { num_digits: size, num_terms: terms },
    key: chainKey(numbers, operators),
    facts,
  };
}

/** Weights of drawing both numbers as multiples of 1, 2, 3: common divisors are more frequent than among uniformly drawn numbers. */
const FACTORS = [0.38, 0.3, 0.12];

function gcd(random: Random): Draw {
  const factor = 1 + random.weighted([...FACTORS, ...Array.from({ length: 9 }, () => 0.2 / 9)]);
  const [a, b] = [0, 0].map(() => factor * between(random, 1, Math.floor(60 / factor))) as [number, number];
  const steps: string[] = [];
  let [large, small] = [Math.max(a, b), Math.min(a, b)];
  while (small > 0) {
    steps.push(`${large} mod ${small}=${large % small}`);
    [large, small] = [small, large % small];
  }
  return {
    family: 'gcd',
    question: `Find the Greatest Common Divisor (GCD) of these numbers: ${a}, ${b}. Give only the GCD as your final answer.`,
    paraphrase: random.pick([
      `What is the greatest common divisor of ${a} and ${b}?`,
      `Which is the largest number that divides both ${a} and ${b}?`,
      `Find the GCD of ${a} and ${b}.`,
    ]),
    answer: String(large),
    steps,
    metadata: { num_digits: a < 10 && b < 10 ? 1 : 2 },
    key: setKey('gcd', [a, b]),
    facts: [],
  };
}

function products(random: Random): Draw {
  // Most questions on two one-digit numbers stand in the evaluation files: more would repeat the few that are left.
  const size = random.bool(0.25) ? 1 : 2;
  const [a, b] = [digits(random, size), digits(random, size)];
  const { steps, facts } = work(a, '*', b);
  return {
    family: 'products',
    question: `Solve the following multiplication: ${a} * ${b}. Give only the result as your final answer.`,
    paraphrase: random.pick([`What is ${a} * ${b}?`, `Multiply ${a} by ${b}.`, `What is ${a} times ${b}?`]),
    answer: String(a * b),
    steps,
    metadata: { num_digits: size },
    key: chainKey([a, b], ['*']),
    facts,
  };
}

/** How often an equation has each form. */
const FORMS = [
  ['ax+b', 0.36],
  ['ax-b', 0.19],
  ['b-ax', 0.29],
  ['ax', 0.12],
  ['-ax-b', 0.025],
  ['-ax', 0.015],
] as const;

function simpleEquation(random: Random): Draw {
  const x = between(random, 1, 20);
  // reasoning-gym draws some coefficients as products.
  const coefficient = (often: number) =>
    between(random, 1, 20) * (random.bool(often) ? between(random, 1, 20) : 1);
  const [a, b] = [coefficient(0.3), coefficient(0.2)];
  const [form] = FORMS[random.weighted(FORMS.map(([, share]) => share))]!;
  const variable = random.pick([...'abcdefghijklmnopqrstuvwxyz']);
  const ax = a === 1 ? variable : `${a}*${variable}`;
  const solved = (
    left: string,
    right: number,
    moved: readonly [number, Operator, number] | null,
    by: number,
  ) => {
    const parts = moved ? [work(...moved)] : [];
    if (by !== 1) parts.push(work(by * x, '/', by));
    return {
      text: `${left} = ${right}`,
      steps: parts.flatMap(({ steps }) => steps),
      facts: parts.flatMap(({ facts }) => facts),
    };
  };
  const { text, steps, facts } = {
    'ax+b': () => solved(`${ax} + ${b}`, a * x + b, [a * x + b, '-', b], a),
    'ax-b': () => solved(`${ax} - ${b}`, a * x - b, [a * x - b, '+', b], a),
    'b-ax': () => solved(`${b} - ${ax}`, b - a * x, [b, '-', b - a * x], a),
    ax: () => solved(ax, a * x, null, a),
    '-ax-b': () => solved(`-${ax} - ${b}`, -a * x - b, [-a * x - b, '+', b], -a),
    '-ax': () => solved(`-${ax}`, -a * x, null, -a),
  }[form]();
  const hasConstant = form !== 'ax' && form !== '-ax';
  return {
    family: 'simple_equations',
    question: random.pick([
      `Solve for ${variable}: ${text}`,
      `Determine the value of ${variable} that satisfies: ${text}`,
      `Find the value of ${variable} in the equation: ${text}`,
    ]),
    paraphrase: random.pick([
      `If ${text}, what is ${variable}?`,
      `What must ${variable} be so that ${text}?`,
      `Which number is ${variable} if ${text}?`,
    ]),
    answer: String(x),
    steps,
    metadata: { num_digits: Math.max(a, x, hasConstant ? b : 0) < 10 ? 1 : 2 },
    key: equationKey(a, hasConstant ? b : 0, x),
    facts,
  };
}

const COUNTDOWN_FORMAT = [
  "1. Provide your solution as a arithmetic expression (no '=' sign).",
  '2. Do not include the target number in the expression.',
  "3. Use '*' for multiplication.",
  "4. Use '/' for division.",
  '5. Do not include any other text or formatting.',
];

/** One way to join three numbers by two operations; null where a quotient is not whole or a value is far off. */
function attempt(random: Random, given: readonly number[]) {
  const [a, b, c] = random.shuffle(given) as [number, number, number];
  const operators: readonly Operator[] = ['+', '+', '-', '-', '*', '*', '/'];
  const [first, second] = [random.pick(operators), random.pick(operators)];
  const isLeft = random.bool(0.6);
  const inner = calculate(a, first, b);
  if (inner === null) return null;
  const [left, right] = isLeft ? [inner, c] : [c, inner];
  const value = calculate(left, second, right);
  if (value === null || inner < -99 || inner > 400 || value < -99 || value > 400) return null;
  const pair = `${a} ${first} ${b}`;
  const needsParentheses = isLeft
    ? binds(second) && !binds(first)
    : second === '-' || second === '/' || (second === '*' && !binds(first));
  const part = needsParentheses ? `(${pair})` : pair;
  return {
    line: `${a}${first}${b}=${inner},${left}${second}${right}=${value}`,
    value,
    expression: isLeft ? `${part} ${second} ${c}` : `${c} ${second} ${part}`,
  };
}

/** Failed attempts of a worked solution before the one that hits, and how often there are so many. */
const FAILED = [0.2, 0.3, 0.25, 0.15, 0.1];

function countdown(random: Random): Draw | null {
  const numbers = Array.from({ length: 3 }, () => between(random, 1, 20));
  const hit = attempt(random, numbers);
  if (!hit || hit.value < 5 || hit.value > 60) return null;
  const target = hit.value;
  const failed = Array.from({ length: random.weighted(FAILED) }, () => attempt(random, numbers)).flatMap(
    (each) => (each && each.value !== target ? [each.line] : []),
  );
  const list = numbers.join(', ');
  const opening = random.pick([
    `Using all the numbers ${list}, create an expression that equals ${target}.\nYou can only use each number once.`,
    `Find a way to make ${target} using all of these numbers: ${list}.\nEach number can only be used once.`,
    `Calculate ${target} using all of these numbers: ${list}.\nEach number may be used at most once.`,
  ]);
  return {
    family: 'countdown',
    question: `${opening}\n\nFinal answer format instructions:\n${COUNTDOWN_FORMAT.join('\n')}\n`,
    paraphrase: random.pick([
      `Make ${target} from ${list}, each used once.`,
      `Write an expression with the numbers ${list} that equals ${target}.`,
    ]),
    answer: hit.expression,
    steps: [...failed, hit.line],
    metadata: { numbers, target, num_digits: Math.max(...numbers) < 10 ? 1 : 2 },
    key: setKey('cd', numbers),
    facts: [],
  };
}

const GENERATORS: Readonly<Record<Family, (random: Random) => Draw | null>> = {
  basic_arithmetic: basicArithmetic,
  chain_sum: chainSum,
  gcd,
  products,
  simple_equations: simpleEquation,
  countdown,
};

/** A question of a family on the training side. */
export function drawQuestion(random: Random, family: Family): WordQuestion {
  const drawn = drawUntil(
    () => GENERATORS[family](random),
    (draw) => draw !== null && !isReserved(draw.key) && !statesReserved(draw.facts),
  )!;
  const { key: _key, facts: _facts, ...question } = drawn;
  return question;
}
