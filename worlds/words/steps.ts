/**
 * Calculations as a small policy writes them: `43*22` is computed as `43*20=860`, `43*2=86`, `860+86=946`. Every step is one line without spaces. All
 * numbers are whole; a division whose quotient is not whole has no result.
 */

export type Operator = '+' | '-' | '*' | '/';

/** A calculation of two numbers, which a step states. */
export interface Fact {
  readonly left: number;
  readonly operator: Operator;
  readonly right: number;
}

export interface Worked {
  /** null where a quotient is no whole number. */
  readonly value: number | null;
  readonly steps: readonly string[];
  readonly facts: readonly Fact[];
}

export function calculate(left: number, operator: Operator, right: number): number | null {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      // Not -0.
      return left * right || 0;
    case '/':
      return right !== 0 && left % right === 0 ? left / right || 0 : null;
  }
}

/** One step. */
const step = (left: number, operator: Operator, right: number): Worked => {
  const value = calculate(left, operator, right);
  return {
    value,
    steps: value === null ? [] : [`${left}${operator}${right}=${value}`],
    facts: [{ left, operator, right }],
  };
};

const joined = (parts: readonly Worked[], value: number | null): Worked => ({
  value,
  steps: parts.flatMap(({ steps }) => steps),
  facts: parts.flatMap(({ facts }) => facts),
});

/** Parts of a number by place, the largest first: 407 is 400 and 7. */
const places = (number: number): number[] =>
  [...String(number)].map((digit, i, all) => Number(digit) * 10 ** (all.length - 1 - i)).filter(Boolean);

function product(left: number, right: number): Worked {
  const [long, short] = [
    Math.max(Math.abs(left), Math.abs(right)),
    Math.min(Math.abs(left), Math.abs(right)),
  ];
  const parts = places(short);
  if (short < 10 || parts.length === 1) return step(left, '*', right);
  const lines: Worked[] = [];
  let sum: number | null = null;
  for (const part of parts) {
    const partial = long * part;
    lines.push(step(long, '*', part));
    if (sum !== null) lines.push(step(sum, '+', partial));
    sum = (sum ?? 0) + partial;
  }
  // With signs the product of the magnitudes is not the result yet.
  if (left < 0 || right < 0) lines.push(step(left, '*', right));
  return joined(lines, left * right);
}

export const work = (left: number, operator: Operator, right: number): Worked =>
  operator === '*' ? product(left, right) : step(left, operator, right);

/** A number, a part in parentheses with or without a minus before it, or an operation. */
export type Expression =
  | number
  | { readonly of: Expression; readonly negated: boolean }
  | { readonly left: Expression; readonly operator: Operator; readonly right: Expression };

/** As reasoning-gym writes it: `-( 3 + -4 ) * 2`. */
export function expressionText(expression: Expression): string {
  if (typeof expression === 'number') return String(expression);
  if ('of' in expression) return `${expression.negated ? '-' : ''}( ${expressionText(expression.of)} )`;
  return `${expressionText(expression.left)} ${expression.operator} ${expressionText(expression.right)}`;
}

/** The operations from the inside out. */
export function workExpression(expression: Expression): Worked {
  if (typeof expression === 'number') return { value: expression, steps: [], facts: [] };
  if ('of' in expression) {
    const inner = workExpression(expression.of);
    if (inner.value === null || !expression.negated) return inner;
    const value = -inner.value || 0;
    return { ...inner, value, steps: [...inner.steps, `-(${inner.value})=${value}`] };
  }
  const [left, right] = [workExpression(expression.left), workExpression(expression.right)];
  if (left.value === null || right.value === null) return joined([left, right], null);
  const last = work(left.value, expression.operator, right.value);
  return joined([left, right, last], last.value);
}
