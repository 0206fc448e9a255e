/** The generated questions: right by oracles that share no code with their generators, and none with the operands of an evaluation question. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '../../../core/checkers/expression.ts';
import { Random } from '../../../core/random.ts';
import { drawQuestion, FAMILIES, type WordQuestion } from '../../../worlds/words/questions.ts';
import { chainKey, equationKey, setKey } from '../../../worlds/words/reserved.ts';
import { RESERVED_KEYS } from '../../../worlds/words/reserved-keys.ts';
import type { Operator } from '../../../worlds/words/steps.ts';
import { wordsTaskSet } from '../../../worlds/words/task-set.ts';

const drawn = (family: (typeof FAMILIES)[number], count = 300): WordQuestion[] => {
  const random = new Random(`test/${family}`);
  return Array.from({ length: count }, () => drawQuestion(random, family));
};

/** Exact value of an arithmetic text, by the checker's own parser. */
const exactValue = (text: string): string => {
  const parsed = evaluateExpression(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`);
  return parsed.value.value.toFraction();
};

const divides = (a: number, b: number) => b % a === 0;
function gcdBySearch(a: number, b: number): number {
  for (let d = Math.min(a, b); d > 1; d--) if (divides(d, a) && divides(d, b)) return d;
  return 1;
}

const numbersOf = (text: string) => (text.match(/\d+/g) ?? []).map(Number);

/** The answer to a question, from its text alone. */
const ORACLES: Record<(typeof FAMILIES)[number], (question: WordQuestion) => void> = {
  basic_arithmetic: ({ question, answer }) =>
    expect(exactValue(/^Calculate (.*)\.$/.exec(question)![1]!)).toBe(answer),
  chain_sum: ({ question, answer }) =>
    expect(
      exactValue(/^State the final answer to the following arithmetic problem: (.*) =$/.exec(question)![1]!),
    ).toBe(answer),
  products: ({ question, answer }) =>
    expect(exactValue(/multiplication: (.*)\. Give only/.exec(question)![1]!)).toBe(answer),
  gcd: ({ question, answer }) => {
    const [a, b] = numbersOf(question) as [number, number];
    expect(String(gcdBySearch(a, b))).toBe(answer);
  },
  simple_equations: ({ question, answer }) => {
    const [, variable, left, right] = /(\w)(?: that satisfies| in the equation)?: (.*) = (-?\d+)$/.exec(
      question,
    )!;
    const put = left!.replace(new RegExp(`\\b${variable}\\b`), answer).replace(/^-(\d+)\*/, '(0-$1)*');
    expect(exactValue(put)).toBe(right);
  },
  countdown: ({ answer, metadata }) => {
    const parsed = evaluateExpression(answer);
    if (!parsed.ok) throw new Error(answer);
    expect(parsed.value.value.toFraction()).toBe(String(metadata.target));
    expect([...parsed.value.numbers].sort()).toEqual([...(metadata.numbers as number[])].sort());
  },
};

describe.each(FAMILIES)('%s', (family) => {
  const questions = drawn(family);

  test('the answers are right', () => {
    for (const question of questions) ORACLES[family](question);
  });

  test('every step is true, and the last one leads to the answer', () => {
    for (const { steps } of questions)
      for (const step of steps.flatMap((line) => line.split(','))) {
        const [, left, right] = /^(.*)=(-?\d+)$/.exec(step)!;
        const mod = /^(\d+) mod (\d+)$/.exec(left!);
        if (mod) expect(Number(mod[1]) % Number(mod[2])).toBe(Number(right));
        else expect(exactValue(left!)).toBe(right);
      }
  });

  test('questions follow from the seed alone', () => {
    expect(drawn(family, 20)).toEqual(questions.slice(0, 20));
  });
});

interface Line {
  readonly question: string;
  readonly answer: string;
  readonly metadata: {
    readonly expression?: string;
    readonly numbers?: number[];
    readonly variable?: string;
  };
}
const evaluation = (family: string): Line[] =>
  readFileSync(`examples/reasoning-gym/${family}.easy.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

/** The key of an evaluation question, from its text. */
function keyOf(family: string, { question, answer, metadata }: Line): string {
  if (family === 'gcd') return setKey('gcd', metadata.numbers!);
  if (family === 'countdown') return setKey('cd', metadata.numbers!);
  if (family === 'simple_equations') {
    const left = question.replace(/^.*?: /, '').split(' = ')[0]!;
    const withVariable = new RegExp(`(?:(\\d+)\\*)?\\b${metadata.variable}\\b`).exec(left)!;
    const constant = numbersOf(left.replace(withVariable[0], ''))[0] ?? 0;
    return equationKey(Number(withVariable[1] ?? 1), constant, Number(answer));
  }
  const words = metadata
    .expression!.replace(/-\(|[()]/g, ' ')
    .trim()
    .split(/\s+/);
  return chainKey(
    words.filter((word) => /\d/.test(word)).map(Number),
    words.filter((word) => !/\d/.test(word)) as Operator[],
  );
}

test('the reserved keys are those of the 1800 evaluation questions', () => {
  const keys = FAMILIES.flatMap((family) => evaluation(family).map((line) => keyOf(family, line)));
  expect(keys).toHaveLength(1800);
  expect([...new Set(keys)].sort()).toEqual([...RESERVED_KEYS].sort());
});

test('no generated question is an evaluation question, nor has the operands of one', () => {
  const texts = new Set(FAMILIES.flatMap((family) => evaluation(family).map(({ question }) => question)));
  const reserved = new Set(RESERVED_KEYS);
  const { sources, heldOut } = wordsTaskSet();
  for (const { messages, file, answer, metadata } of [...sources.flatMap(({ tasks }) => tasks), ...heldOut]) {
    const question = messages[0]!.content;
    expect(texts.has(question)).toBe(false);
    const expression = /(?:Calculate|problem:|multiplication:) (.*?)(?:\.| =)/.exec(question)?.[1];
    const numbers = file === 'gcd' ? numbersOf(question) : (metadata.numbers as number[] | undefined);
    const variable = /(\w)(?: that satisfies| in the equation)?: /.exec(question)?.[1];
    const line = { question, answer, metadata: { expression, numbers, variable } } as Line;
    expect(reserved.has(keyOf(file, line))).toBe(false);
  }
});

test('the key of a question leaves out wording, signs and the order that does not matter', () => {
  expect(chainKey([14, -79], ['*'])).toBe(chainKey([79, 14], ['*']));
  expect(chainKey([14, 79], ['-'])).not.toBe(chainKey([79, 14], ['-']));
  expect(setKey('gcd', [54, 45])).toBe('gcd:45,54');
  expect(equationKey(-3, 8, 9)).toBe('eq:3,8,9');
});
