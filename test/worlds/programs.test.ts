import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { drawProgram, isHeldOutProgram } from '../../worlds/programs/generate.ts';
import { behaviourOf, execute, LIMITS } from '../../worlds/programs/interpreter.ts';
import { type List, PLAIN, parseList, parseProgram, writeProgram } from '../../worlds/programs/language.ts';
import { abduction, deduction, induction, randomQuestion } from '../../worlds/programs/questions.ts';

const parsed = (text: string) => {
  const parsed = parseProgram(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`);
  return parsed.value;
};
const run = (text: string, input: List) => {
  const result = execute(parsed(text), input);
  return result.ok ? result.value.output : result.reason;
};

test.each<[string, List, List | string]>([
  ['+3', [1, 2], [4, 5]],
  ['-2', [1, 2], [-1, 0]],
  ['*0', [-1, 2], [0, 0]],
  ['>1', [1, 2, 3], [2, 3]],
  ['<2', [1, 2, 3], [1]],
  ['rev', [1, 2, 3], [3, 2, 1]],
  ['sort', [10, 9, -1], [-1, 9, 10]],
  ['dup', [1, 2], [1, 2, 2]],
  ['drop', [1, 2], [1]],
  ['swap', [1, 2, 3], [1, 3, 2]],
  ['add', [1, 2, 3], [1, 5]],
  ['sub', [7, 2], [5]],
  ['mul', [4, -3], [-12]],
  ['sum', [1, 2, 3], [6]],
  ['sum', [], [0]],
  ['len', [4, 4], [4, 4, 2]],
  ['rev +3', [1, 2, 3], [6, 5, 4]],
  // 5 -> 3 -> 1 -> -1: three rounds.
  ['( -2 )', [9, 5], [3, -1]],
  ['( drop )', [-1, 3, 2], [-1]],
  ['( drop )', [3, 2], []],
  ['( -2 )', [-1], [-1]],
  // Lowers to [0, 2]; the inner loop drops the 2; the top is 0: both loops end.
  ['( -1 ( drop ) )', [1, 3], [0]],
  ['swap', [1], 'underflow'],
  ['dup', [], 'underflow'],
  ['drop drop', [1], 'underflow'],
  ['dup mul dup mul', [99], 'overflow'],
  ['( )', [1], 'fuel'],
  ['( +1 -1 )', [1], 'fuel'],
  ['( dup )', [1], 'memory'],
  ['( +9 )', [1], 'fuel'],
  ['( dup mul )', [9], 'overflow'],
])('%s on %j gives %j', (text, input, expected) => {
  expect(run(text, input)).toEqual(expected);
});

test.each([
  ['( ( rev )', 'unbalanced'],
  [') rev (', 'unbalanced'],
  ['+10', 'off-grammar'],
  ['+', 'off-grammar'],
  ['rev  rev', 'off-grammar'],
  ['', 'off-grammar'],
  [' rev', 'off-grammar'],
  ['process.exit', 'off-grammar'],
  ['constructor', 'off-grammar'],
  ['__proto__', 'off-grammar'],
  ['rev rev rev rev rev rev rev rev rev', 'too-long'],
])('refuses the program %s', (text, reason) => {
  expect(parseProgram(text)).toEqual({ ok: false, reason });
});

test('text of any length is refused at once', () => {
  expect(parseProgram('( '.repeat(100_000))).toEqual({ ok: false, reason: 'too-long' });
  expect(parseList('1 '.repeat(100_000)).ok).toBe(false);
});

const word = fc.oneof(
  fc.constantFrom<string>(...PLAIN, '(', ')'),
  fc.tuple(fc.constantFrom('+', '-', '*', '>', '<'), fc.nat(9)).map(([op, k]) => `${op}${k}`),
);
const programText = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '));
const list = fc.array(fc.integer({ min: -99, max: 99 }), { maxLength: 8 });

/** A second interpreter: rewrites the text of what is left to do, and holds its list as text. Errors are null. */
function interpretText(program: string, input: List): string | null {
  let todo = program.split(' ');
  let values = input.map(String);
  for (let fuel = 0; todo.length > 0; fuel++) {
    if (fuel > 3000) return null;
    const [now = '', ...rest] = todo;
    const n = values.map(Number);
    const [x, y] = n.slice(-2);
    todo = rest;
    if (now === '(') {
      let depth = 1;
      const end = rest.findIndex((other) => {
        depth += other === '(' ? 1 : other === ')' ? -1 : 0;
        return depth === 0;
      });
      todo = rest.slice(end + 1);
      // One round, then the loop once more.
      if (Number(values.at(-1) ?? 0) > 0) todo = [...rest.slice(0, end), '(', ...rest];
      continue;
    }
    if ('add sub mul swap'.includes(now) && n.length < 2) return null;
    if ('dup drop'.includes(now) && n.length < 1) return null;
    const k = Number(now.slice(1));
    const short = n.slice(0, -2);
    const table: Record<string, () => number[]> = {
      '+': () => n.map((v) => v + k),
      '-': () => n.map((v) => v - k),
      '*': () => n.map((v) => v * k),
      '>': () => n.filter((v) => v > k),
      '<': () => n.filter((v) => v < k),
      rev: () => n.toReversed(),
      sort: () => n.toSorted((a, b) => a - b),
      dup: () => n.concat(n.slice(-1)),
      drop: () => n.slice(0, -1),
      swap: () => short.concat(y!, x!),
      add: () => short.concat(x! + y!),
      sub: () => short.concat(x! - y!),
      mul: () => short.concat(x! * y!),
      sum: () => [n.reduce((a, b) => a + b, 0)],
      len: () => n.concat(n.length),
    };
    const next = (table[now] ?? table[now[0]!]!)();
    if (next.length > 16 || next.some((v) => Math.abs(v) > 9999)) return null;
    values = next.map(String);
  }
  return values.join(' ');
}

test('agrees with a second interpreter, within its fuel, and the same twice', () => {
  let compared = 0;
  fc.assert(
    fc.property(programText, list, (text, input) => {
      const parsed = parseProgram(text);
      if (!parsed.ok) return;
      expect(writeProgram(parsed.value)).toBe(text);
      const before = [...input];
      const result = execute(parsed.value, input);
      expect(execute(parsed.value, input)).toEqual(result);
      expect(input).toEqual(before);
      if (!result.ok) {
        if (result.reason !== 'fuel') expect(interpretText(text, input)).toBeNull();
        return;
      }
      compared++;
      expect(result.value.steps).toBeLessThanOrEqual(LIMITS.fuel);
      expect(interpretText(text, input)).toBe(result.value.output.join(' '));
      for (const state of result.value.trace) expect(state.length).toBeLessThanOrEqual(LIMITS.memory);
    }),
    { numRuns: 1500 },
  );
  expect(compared).toBeGreaterThan(200);
});

test('lists are read strictly', () => {
  expect(parseList('1 -2 30')).toEqual({ ok: true, value: [1, -2, 30] });
  expect(parseList('_')).toEqual({ ok: true, value: [] });
  for (const bad of ['', '01', '-0', '1  2', '1,2', '1 2 3 4 5 6 7 8 9', '10000', '1e3', ' 1'])
    expect(parseList(bad).ok, bad).toBe(false);
});

test('the split is by behaviour: another text of the same program is on the same side', () => {
  expect(behaviourOf(parsed('rev rev +2'))).toBe(behaviourOf(parsed('+1 +1')));
  const random = new Random('programs/split');
  for (let i = 0; i < 20; i++) {
    const { program, text } = drawProgram(random, 1, true);
    expect(isHeldOutProgram(program)).toBe(true);
    if (text.split(' ').length <= 6) expect(isHeldOutProgram(parsed(`rev rev ${text}`))).toBe(true);
  }
});

test('deduction: the output, with the list after each instruction', () => {
  const task = 'rev +3;1 2 3';
  expect(deduction.solverPrompt(task)).toBe('<solve>d:rev +3;1 2 3<sep>');
  const judge = (text: string) => {
    const parsed = deduction.parseSolution(task, text);
    return parsed.ok ? deduction.exactJudgment(task, parsed.value) : parsed.reason;
  };
  expect(judge('<step>3 2 1<step>6 5 4<answer>6 5 4<eos>')).toEqual({ steps: [true, true], right: true });
  expect(judge('<step>3 2<step>6 5 4<answer>6 5 4<eos>')).toEqual({ steps: [false, true], right: false });
  expect(judge('<answer>6 5 4<eos>')).toEqual({ steps: [], right: true });
  expect(judge('<step>3 2 1<answer>6 5 4<eos>')).toBe('partial-steps');
});

test('abduction: any input with the output is right, and the true one is not shown', () => {
  const task = 'sort;3 1 2';
  expect(abduction.solverPrompt(task)).toBe('<solve>a:sort;1 2 3<sep>');
  const gold = (answer: string) => abduction.answerIsExact(task, { steps: [], answer });
  expect(['3 1 2', '1 2 3', '2 3 1'].map(gold)).toEqual([true, true, true]);
  expect(['1 2', '1 2 4', 'sort', ''].map(gold)).toEqual([false, false, false, false]);
});

test('induction: examples are shown, the hidden ones decide', () => {
  // On the shown lists all is positive; a hidden one has a negative element.
  const task = '>0 +1;1;2;3;4 5;-1 2;6;7;8';
  expect(induction.solverPrompt(task)).toBe('<solve>i:1=2;2=3;3=4;4 5=5 6<sep>');
  const gold = (answer: string) => induction.answerIsExact(task, { steps: [], answer });
  expect(gold('>0 +1')).toBe(true);
  expect(gold('+1 >1')).toBe(true);
  expect(gold('+1')).toBe(false);
  expect(gold('( )')).toBe(false);
  expect(induction.parseProposal('>0;1;2;3;4;5;6;7;7<eos>')).toEqual({ ok: false, reason: 'repeated-input' });
  expect(induction.parseProposal('add;1;2;3;4;5;6;7;8<eos>')).toEqual({ ok: false, reason: 'undefined' });
});

test('the true program and the true input are right answers to what is drawn', () => {
  const random = new Random('programs/own');
  for (let i = 0; i < 40; i++) {
    const [program = '', ...inputs] = randomQuestion('induction', random).split(';');
    expect(induction.answerIsExact([program, ...inputs].join(';'), { steps: [], answer: program })).toBe(
      true,
    );
    expect(abduction.answerIsExact(`${program};${inputs[0]}`, { steps: [], answer: inputs[0]! })).toBe(true);
  }
});
