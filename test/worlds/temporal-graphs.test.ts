/** Links of temporal graphs and what their warm start is shown: who is linked to next, which neighbourhood is chosen, and what a solution says. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { demonstrateTemporalGraph } from '../../worlds/temporal-graphs/demonstrations.ts';
import {
  isAligned,
  isFaithful,
  linksF1,
  parseQuery,
  renamed,
  temporalGraphs,
} from '../../worlds/temporal-graphs/family.ts';
import { contextOf, linksAt, nextTime, type Query, walkEnds } from '../../worlds/temporal-graphs/graph.ts';

/** a links to b at 1, 3 and 5, to d at 2 and 4, to e once; c’s links are not asked about. */
const TASK = 'ab1cd1ad2ab3ad4ae4cb5ab5:a7';
const read = (text: string) => {
  const parsed = temporalGraphs.parseSolution(TASK, `${text}<eos>`);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
};

test('a link comes again after the last gap, and one alone foretells nothing', () => {
  expect(nextTime([1, 3, 5])).toBe(7);
  expect(nextTime([1, 2, 5])).toBe(8);
  expect(nextTime([4])).toBeNull();
  expect(linksAt(parseQuery(TASK)!)).toEqual(['b']);
  // At time 8 nobody would be linked to, so that it is no task.
  expect(parseQuery(TASK.replace('a7', 'a8'))).toBeNull();
  // d would come at 6: with links at 1 and 4 it comes at 7 as well.
  expect(linksAt(parseQuery(TASK.replace('ad2', 'ad1'))!)).toEqual(['b', 'd']);
});

test('F1 by hand', () => {
  const both = TASK.replace('ad2', 'ad1');
  expect(linksF1(both, 'db')).toBe(1);
  // One hit of one named and two right; one of three named and two right; none.
  expect(linksF1(both, 'b')).toBeCloseTo(2 / 3, 12);
  expect(linksF1(both, 'bce')).toBeCloseTo(2 / 5, 12);
  expect(linksF1(both, 'e')).toBe(0);
  expect(linksF1('no task', 'b')).toBe(0);
});

test('an explanation is faithful to the graph, and an answer follows from it or does not', () => {
  const exact = read('<step>b135:7<step>d24:6<step>e4:?<answer>b');
  expect(temporalGraphs.exactJudgment(TASK, exact)).toEqual({ steps: [true, true, true], right: true });
  const hasty = read('<step>b135:6<step>d14:7<answer>d');
  expect(hasty.steps.map((step) => isFaithful(TASK, step))).toEqual([true, false]);
  expect(temporalGraphs.exactJudgment(TASK, hasty)).toEqual({ steps: [false, false], right: false });
  expect([isAligned(TASK, exact), isAligned(TASK, hasty), isAligned(TASK, read('<answer>b'))]).toEqual([
    true,
    true,
    false,
  ]);
  expect(isAligned(TASK, read('<step>b135:7<answer>bd'))).toBe(false);
  for (const text of ['<answer>bb', '<answer>', '<step>b1:x<answer>b', '<answer>b7'])
    expect(temporalGraphs.parseSolution(TASK, `${text}<eos>`).ok).toBe(false);
});

test('other names change neither answers nor the side of the split', () => {
  const random = new Random('renamed');
  for (let i = 0; i < 50; i++) {
    const task = temporalGraphs.random(random);
    const [query, other] = [parseQuery(task)!, parseQuery(renamed(task))!];
    expect(linksAt(other)).toEqual(linksAt(query).map(renamed));
    expect(task).toMatch(/^[a-m1-9:]+$/);
    expect(renamed(task)).toMatch(/^[n-z1-9:]+$/);
    expect(renamed(renamed(task))).toBe(task);
    expect(temporalGraphs.isHeldOut(renamed(task))).toBe(false);
  }
  for (const task of temporalGraphs.heldOut().slice(0, 20))
    expect(temporalGraphs.isHeldOut(renamed(task))).toBe(true);
});

/** a–b at 3, a–c at 1, b–d at 2, and e–b at 4, which no walk that came to b at 3 can take. */
const GRAPH: Query = {
  links: [
    { from: 'a', to: 'c', time: 1 },
    { from: 'b', to: 'd', time: 2 },
    { from: 'a', to: 'b', time: 3 },
    { from: 'e', to: 'b', time: 4 },
  ],
  node: 'a',
  time: 9,
};

test('walks go back in time, and rather along recent links', () => {
  const ends = walkEnds(GRAPH);
  // From a to b with 1/1.8 and to c with 0.8/1.8; 0.3 of each ends there. From b at 3 only d, at 2; from c at 1 nothing is earlier.
  expect(ends.get('b')).toBeCloseTo(0.3 / 1.8, 12);
  expect(ends.get('c')).toBeCloseTo((0.3 * 0.8) / 1.8, 12);
  expect(ends.get('d')).toBeCloseTo(0.7 / 1.8, 12);
  expect(ends.has('e')).toBe(false);
  // The node itself, d and b are kept, and the links among them.
  expect(contextOf(GRAPH, 3).links.map(({ from, to }) => from + to)).toEqual(['bd', 'ab']);
});

const random = new Random('temporal graph demonstrations');
const drawn = Array.from({ length: 1500 }, () => demonstrateTemporalGraph(random)).map(
  ({ prompt, completion }) => ({ prompt, completion, task: prompt.slice('<solve>'.length, -'<sep>'.length) }),
);

test('demonstrations are in grammar, in their tokens, faithful and not held out', () => {
  const tokenizer = openTokenizer(characterTokenizer().json);
  const unknown = tokenizer.id('<unk>');
  for (const { prompt, completion, task } of drawn) {
    expect(temporalGraphs.isHeldOut(task)).toBe(false);
    const parsed = temporalGraphs.parseSolution(task, completion);
    if (!parsed.ok) throw new Error(completion);
    expect(parsed.value.steps.every((step) => isFaithful(task, step))).toBe(true);
    const ids = tokenizer.encode(completion);
    expect(ids.length).toBeLessThanOrEqual(temporalGraphs.maxNew.solver);
    expect([...tokenizer.encode(prompt), ...ids]).not.toContain(unknown);
  }
});

test('six solvers in ten look at the last link alone, and are worse for it', () => {
  const rated = drawn.map(({ task, completion }) => {
    const parsed = temporalGraphs.parseSolution(task, completion);
    if (!parsed.ok) throw new Error(completion);
    const exact = temporalGraphs.exactJudgment(task, parsed.value).steps.every(Boolean);
    return { exact, f1: linksF1(task, parsed.value.answer) };
  });
  const of = (exact: boolean) => rated.filter((one) => one.exact === exact).map(({ f1 }) => f1);
  expect(of(false).length / rated.length).toBeCloseTo(0.6, 1);
  expect(mean(of(true))).toBe(1);
  expect(mean(of(false))).toBeLessThan(0.7);
});
