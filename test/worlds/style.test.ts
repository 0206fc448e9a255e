import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import {
  exemplar,
  isHeldOutStyle,
  ORDERS,
  POINTS,
  type Point,
  parseResponse,
  parseScore,
  parseStyleTask,
  pointsOf,
  randomStyleTask,
  type StyleTask,
  scoreOf,
  styleDifficulty,
  styleScore,
  writeStyleTask,
} from '../../worlds/style/family.ts';
import { flawedResponse, mixedResponse } from '../../worlds/style/flaws.ts';
import { anyText } from './any-text.ts';

const taskOf = (text: string): StyleTask => {
  const parsed = parseStyleTask(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`);
  return parsed.value;
};
const TASK = 'az 2-3:tok bel ana tok dim';
const missed = (response: string) => {
  const points = pointsOf(taskOf(TASK), response);
  return POINTS.filter((point) => !points[point]);
};

test.each<[string, Point[]]>([
  ['ana bel tok', []],
  ['bel dim', []],
  ['bel ana', ['order']],
  ['ana zzz', ['source']],
  ['tok tok', ['distinct']],
  ['ana bel dim tok', ['length']],
  ['ana', ['order', 'length']],
  ['ana ana zzz zzz', ['source', 'distinct', 'length']],
  ['', ['form', 'order', 'source', 'distinct', 'length']],
  ['ana  bel', ['form', 'order', 'source', 'distinct', 'length']],
  ['Ana bel', ['form', 'order', 'source', 'distinct', 'length']],
])('"%s" misses %j', (response, points) => {
  expect(missed(response)).toEqual(points);
  expect(styleScore(TASK, response)).toBe(5 - points.length);
});

test('orders by length admit words of equal length in any order', () => {
  expect(styleScore('up 2-3:bb a cc ddd', 'a cc bb')).toBe(5);
  expect(styleScore('down 2-3:bb a cc ddd', 'ddd bb cc')).toBe(5);
  expect(styleScore('down 2-3:bb a cc ddd', 'a ddd')).toBe(4);
  expect(styleScore('za 2-3:bb a cc ddd', 'ddd cc a')).toBe(5);
});

test.each([
  'az 1-3:aa bb',
  'az 3-2:aa bb cc',
  'az 2-3:aa aa',
  'zz 2-3:aa bb',
  'az 2-3:Aa bb',
  'az 2-3:',
  'az 2-3:aa  bb',
])('is no task: %s', (text) => {
  expect(parseStyleTask(text).ok).toBe(false);
  expect(styleScore(text, 'aa bb')).toBe(0);
});

test('parsers are total and strict', () => {
  expect(parseScore('4<eos>')).toEqual({ ok: true, value: 4 });
  for (const bad of ['6<eos>', '4', '4 <eos>', '44<eos>', '-1<eos>', '<eos>'])
    expect(parseScore(bad).ok, bad).toBe(false);
  expect(parseResponse('<answer>ana bel<eos>')).toEqual({ ok: true, value: 'ana bel' });
  expect(parseResponse('<answer>ana<answer>bel<eos>').ok).toBe(false);
  fc.assert(
    fc.property(anyText, (text) => {
      parseScore(text);
      parseResponse(text);
      styleDifficulty(text);
      isHeldOutStyle(text);
      const parsed = parseStyleTask(text);
      if (parsed.ok) expect(writeStyleTask(parsed.value)).toBe(text);
      const score = styleScore(TASK, text);
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(5);
    }),
  );
});

/** Second opinion on a perfect response: sorting its keys changes nothing, and sets do not grow. */
function isPerfect({ order, least, most, words }: StyleTask, response: string): boolean {
  const given = response.split(' ');
  const sorted = [...given].sort();
  const keys = given.map((word) => (order === 'az' || order === 'za' ? sorted.indexOf(word) : word.length));
  const rising = order === 'az' || order === 'up';
  return (
    given.length >= least &&
    given.length <= most &&
    new Set(given).size === given.length &&
    new Set([...words, ...given]).size === new Set(words).size &&
    String(keys) === String([...keys].sort((a, b) => (rising ? a - b : b - a)))
  );
}

test('exemplars are perfect, tasks are on their side of the split', () => {
  const random = new Random('style/exemplars');
  const orders = new Set<string>();
  for (let i = 0; i < 80; i++) {
    const heldOut = i % 2 === 0;
    const text = randomStyleTask(random, 3 + (i % 8), heldOut);
    expect(isHeldOutStyle(text)).toBe(heldOut);
    const task = taskOf(text);
    orders.add(task.order);
    const response = exemplar(random, task);
    expect(isPerfect(task, response), `${text} -> ${response}`).toBe(true);
    expect(styleScore(text, response)).toBe(5);
    // The source's order and the instruction do not change the side.
    const other = { ...task, order: 'za' as const, words: [...task.words].reverse() };
    expect(isHeldOutStyle(writeStyleTask(other))).toBe(heldOut);
  }
  expect(orders.size).toBe(ORDERS.length);
});

test('flawed responses miss exactly what was asked; mixed ones have all scores', () => {
  const random = new Random('style/flaws');
  const task = taskOf('az 2-4:tok bel ana tok dim kor');
  for (const point of POINTS) {
    const response = flawedResponse(random, task, [point])!;
    const points = pointsOf(task, response);
    expect(POINTS.filter((each) => !points[each])).toEqual(point === 'form' ? [...POINTS] : [point]);
  }
  const scores = new Set(
    Array.from({ length: 150 }, () => scoreOf(pointsOf(task, mixedResponse(random, task)))),
  );
  expect([...scores].sort()).toEqual([0, 2, 3, 4, 5]);
});
