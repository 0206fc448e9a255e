/** Answers of question files: reading them from a completion, and deciding whether they are right. Strict, and total. */

/** A question with its reference answer; `metadata` may say how several answers can be right. */
export interface Question {
  readonly question: string;
  readonly answer: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a completion says: its answer, and the text before it. */
export interface GivenAnswer {
  readonly before: string;
  readonly answer: string;
}

const TAG = /<[a-z]+>/;

/** The text between the last `<answer>` and the end tag. null where there is none, or where a tag stands in it: that is no answer. */
export function extractAnswer(text: string, stop = '<eos>'): GivenAnswer | null {
  if (!text.endsWith(stop)) return null;
  const at = text.lastIndexOf('<answer>');
  if (at < 0) return null;
  const answer = text.slice(at + '<answer>'.length, -stop.length).trim();
  return answer === '' || TAG.test(answer) ? null : { before: text.slice(0, at), answer };
}

const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;

/** Equal as texts, or as plain decimal numbers. */
export function sameAnswer(given: string, expected: string): boolean {
  if (given === expected.trim()) return true;
  return NUMBER.test(given) && NUMBER.test(expected.trim()) && Number(given) === Number(expected);
}

/** Countdown: an expression over the given numbers, each used at most once, whose value is the target. */
export function meetsTarget(expression: string, numbers: readonly number[], target: number): boolean {
  const parsed = evaluateExpression(expression);
  if (!parsed || Math.abs(parsed.value - target) > 1e-9) return false;
  const left = [...numbers];
  return parsed.numbers.every((number) => {
    const at = left.indexOf(number);
    if (at < 0) return false;
    left.splice(at, 1);
    return true;
  });
}

export function isRight({ answer, metadata }: Question, given: string): boolean {
  const { target, numbers } = metadata ?? {};
  if (typeof target === 'number' && Array.isArray(numbers) && numbers.every((n) => typeof n === 'number'))
    return meetsTarget(given, numbers, target);
  return sameAnswer(given, answer);
}

/** Longest expression that is read; nesting cannot be deeper. */
const MAX_EXPRESSION = 200;

/** Value of `+ - * /` with parentheses over whole numbers, and the numbers used. null where it is no expression. */
export function evaluateExpression(text: string): { value: number; numbers: number[] } | null {
  if (text.length > MAX_EXPRESSION) return null;
  const tokens = text.match(/\d+|[-+*/()]|\S/g) ?? [];
  const numbers: number[] = [];
  let at = 0;
  const take = (...wanted: string[]) => (wanted.includes(tokens[at] ?? '') ? tokens[at++] : undefined);

  const factor = (): number => {
    if (take('-')) return -factor();
    if (take('(')) {
      const value = sum();
      return take(')') ? value : Number.NaN;
    }
    const token = tokens[at++] ?? '';
    if (!/^\d+$/.test(token)) return Number.NaN;
    numbers.push(Number(token));
    return Number(token);
  };
  const product = (): number => {
    let value = factor();
    for (let operator = take('*', '/'); operator; operator = take('*', '/'))
      value = operator === '*' ? value * factor() : value / factor();
    return value;
  };
  const sum = (): number => {
    let value = product();
    for (let operator = take('+', '-'); operator; operator = take('+', '-'))
      value = operator === '+' ? value + product() : value - product();
    return value;
  };

  const value = sum();
  return at === tokens.length && Number.isFinite(value) ? { value, numbers } : null;
}
