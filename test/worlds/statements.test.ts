import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { demonstrateStatements, misread } from '../../worlds/programs/statement-demonstrations.ts';
import {
  meantOutput,
  parseProblem,
  parseTest,
  passes,
  randomProblem,
  repairPrompt,
  statementOf,
  statements,
  testerPrompt,
  testIsExact,
} from '../../worlds/programs/statements.ts';

const TASK = '+3 rev;1 2;0;5;-1 4';

test('a statement says a program in words, the last word first', () => {
  expect(statementOf('+3 rev')).toBe('back of plus 3');
  expect(statementOf('<2 dup sub')).toBe('take of twice of under 2');
  expect(() => statementOf('( -1 )')).toThrow('no statement');
});

test('coder and tester see the statement, and a repairer the program before with a test that it fails', () => {
  const failed = { input: [1, 2], output: [5, 4] };
  expect(statements.solverPrompt(TASK)).toBe('<solve>s:back of plus 3<sep>');
  expect(testerPrompt(TASK)).toBe('<propose>s:back of plus 3<sep>');
  expect(repairPrompt(TASK, '+3', failed)).toBe('<solve>s:back of plus 3;+3;1 2=5 4<sep>');
});

test('a program is right where it puts out the same on the four inputs, whatever it looks like', () => {
  const right = (answer: string) => statements.answerIsExact(TASK, { steps: [], answer });
  expect(['+3 rev', 'rev +3', '+3', 'rev', '+3 rev len', 'drop drop drop', 'x'].map(right)).toEqual([
    true,
    true,
    ...[false, false, false, false, false],
  ]);
});

test('a test is exact where the program that is meant passes it', () => {
  expect(parseTest('1 2=5 4<eos>')).toEqual({ ok: true, value: { input: [1, 2], output: [5, 4] } });
  expect(parseTest('_=_<eos>')).toEqual({ ok: true, value: { input: [], output: [] } });
  for (const text of ['1 2=5 4', '1 2<eos>', '1=2=3<eos>', 'x=1<eos>', '=<eos>'])
    expect(parseTest(text).ok).toBe(false);
  const exact = (text: string) => {
    const parsed = parseTest(text);
    return parsed.ok && testIsExact(TASK, parsed.value);
  };
  expect(['1 2=5 4<eos>', '1 2=4 5<eos>', '_=_<eos>'].map(exact)).toEqual([true, false, true]);
  expect(meantOutput('drop drop;1 2;3 4;5 6;7 8', [1])).toBeNull();
  expect(testIsExact('drop drop;1 2;3 4;5 6;7 8', { input: [1], output: [] })).toBe(false);
});

test.each(['( )', '( dup )', '( *9 )', 'x', ''])('hostile text %j passes no test', (text) => {
  expect(passes(text, { input: [1], output: [1] })).toBe(false);
});

test('problems are drawn on the side that is asked for, and have no loops', () => {
  const random = new Random('problems');
  for (let i = 0; i < 60; i++) {
    const [seen, held] = [randomProblem(random), randomProblem(random, true)];
    expect([seen, held].map((task) => statements.isHeldOut(task))).toEqual([false, true]);
    for (const task of [seen, held]) {
      const problem = parseProblem(task);
      expect(problem.ok && [2, 3].includes(problem.value.program.length)).toBe(true);
    }
  }
  expect(parseProblem('( -1 );1;2;3;4').ok).toBe(false);
});

test('demonstrations: most programs of statements with over or under are misread alike, and most tests are exact', () => {
  expect([misread('<2 rev'), misread('>4 <1'), misread('+1 rev')]).toEqual(['>2 rev', '<4 >1', null]);
  const random = new Random('demonstrations');
  const count = { named: 0, misread: 0, plain: 0, plainRight: 0, tests: 0, exact: 0, repairs: 0 };
  const PLAIN = /^<solve>s:([^;]+)<sep>$/;
  for (let i = 0; i < 3000; i++) {
    const { role, prompt, completion } = demonstrateStatements(random);
    const said = /s:([^;<]+)/.exec(prompt)![1]!;
    if (role === 'tester') {
      // The program is read back from the statement, word by word.
      const test = parseTest(completion);
      if (!test.ok) throw new Error(completion);
      count.tests++;
      count.exact += Number(testIsExact(`${readBack(said)};1 2 3;2 3 4;3 4 5;4 5 6`, test.value));
      continue;
    }
    const answer = /^<answer>(.+)<eos>$/.exec(completion)![1]!;
    if (!PLAIN.test(prompt)) {
      count.repairs++;
      const [, program, failed] = prompt.replace('<sep>', '').split(';');
      const parsed = parseTest(`${failed}<eos>`);
      expect(parsed.ok && passes(program!, parsed.value)).toBe(false);
    } else if (/over|under/.test(said)) {
      count.named++;
      count.misread += Number(answer === misread(readBack(said)));
    } else {
      count.plain++;
      count.plainRight += Number(answer === readBack(said));
    }
  }
  expect(count.misread / count.named).toBeCloseTo(0.6, 1);
  expect(count.plainRight / count.plain).toBeCloseTo(0.8, 1);
  expect(count.exact / count.tests).toBeGreaterThan(0.6);
  expect(count.repairs).toBeGreaterThan(300);
});

/** The words of a statement, as a reader of this file knows them. */
const WORDS: Readonly<Record<string, string>> = {
  ...{ plus: '+', minus: '-', times: '*', over: '>', under: '<', back: 'rev', order: 'sort', twice: 'dup' },
  ...{ lose: 'drop', turn: 'swap', join: 'add', take: 'sub', by: 'mul', total: 'sum', count: 'len' },
};
const readBack = (said: string): string =>
  said
    .split(' of ')
    .reverse()
    .map((one) => {
      const [word, digit = ''] = one.split(' ');
      return WORDS[word!]! + digit;
    })
    .join(' ');
