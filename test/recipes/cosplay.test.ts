import { expect, test } from 'vitest';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import {
  anew,
  byMajority,
  byMatrix,
  companions,
  type Pools,
  passed,
  renewed,
} from '../../recipes/cosplay/pools.ts';
import { shipped } from '../../recipes/index.ts';
import { execute } from '../../worlds/programs/interpreter.ts';
import { parseProgram, writeList } from '../../worlds/programs/language.ts';
import { meantOutput, statementOf } from '../../worlds/programs/statements.ts';

const cosplay = shipped.find('cosplay');

/** What is meant is `+3 rev`. The third test is wrong and agrees with the second and the third program; the fourth texts are nothing. */
const POOLS: Pools = {
  programs: ['+3 rev', '-3 rev', 'rev -3', null],
  tests: [
    { input: [1, 2], output: [5, 4] },
    { input: [0], output: [3] },
    { input: [2, 2], output: [-1, -1] },
    null,
  ],
};

test('the matrix: who passes what, who puts out the same, and who is chosen', () => {
  expect(passed(POOLS)).toEqual([2, 1, 1, -1]);
  expect(companions(POOLS)).toEqual([1, 2, 2, 0]);
  expect([byMajority(POOLS), byMatrix(POOLS)]).toEqual([1, 0]);
  // As many tests passed: the larger group is chosen. No program at all: none is.
  expect(byMatrix({ ...POOLS, tests: POOLS.tests.slice(1, 3) })).toBe(1);
  expect(byMatrix({ ...POOLS, programs: [null, null] })).toBeNull();
});

test('written anew: programs that fail a test which the chosen one passes, and tests that no program passes', () => {
  const told = POOLS.tests[0]!;
  expect(anew(POOLS)).toEqual({
    repairs: [
      { at: 1, test: told },
      { at: 2, test: told },
    ],
    tests: [3],
  });
  const broken = { ...POOLS, tests: [...POOLS.tests.slice(0, 3), { input: [7], output: [7] }] };
  expect(anew(broken).tests).toEqual([3]);
  expect(anew({ ...POOLS, programs: [null] })).toEqual({ repairs: [], tests: [] });
  // `-3 rev` passes one test and `rev` none: the worst is first.
  const worst = { ...POOLS, programs: ['+3 rev', '-3 rev', 'rev'] };
  expect(anew(worst).repairs.map(({ at }) => at)).toEqual([2, 1]);
  const many = { ...POOLS, programs: ['+3 rev', ...new Array<string>(6).fill('rev')] };
  expect(anew(many).repairs).toHaveLength(4);
});

test('a program takes the place of the one before if it passes more tests, and a test always', () => {
  const fresh = { input: [5], output: [8] };
  // `rev +3` passes two tests and replaces one that passed one; `*2` passes none and does not.
  expect(renewed(POOLS, anew(POOLS), ['rev +3', '*2'], [fresh])).toEqual({
    programs: ['+3 rev', 'rev +3', 'rev -3', null],
    tests: [...POOLS.tests.slice(0, 3), fresh],
  });
  // `rev -3` passes as many as the program before it, which stays.
  expect(renewed(POOLS, anew(POOLS), ['rev -3', null], [null])).toEqual(POOLS);
});

/** What the policy is asked, and the program that the statement means, by the held-out problems of a round. */
const play = async (more: WriteOptions = {}, repairs = 'meant') => {
  const meant = new Map(
    (await tasksOf(more)).map((task) => [statementOf(task.split(';')[0]!), task] as const),
  );
  return playWritten(
    cosplay,
    (prompt, i) => {
      const task = meant.get(/s:([^;<]+)/.exec(prompt)![1]!)!;
      const program = task.split(';')[0]!;
      if (prompt.startsWith('<propose>')) {
        // Two exact tests, one that asks for a 7 more, and one that is none.
        const [, a, b] = task.split(';');
        const out = (input: string) => writeList(meantOutput(task, input.split(' ').map(Number))!);
        return `${[`${a}=${out(a!)}`, `${b}=${out(b!)}`, `${a}=${out(a!)} 7`.replace('_ ', ''), 'x'][i % 4]!}<eos>`;
      }
      if (/;.*;/.test(prompt)) return `<answer>${repairs === 'meant' ? program : repairs}<eos>`;
      return `${[`<answer>${program} len`, `<answer>${program}`, `<answer>${program} len len`, 'y'][i % 4]!}<eos>`;
    },
    { tasks: 5, groupSize: 4, ...more },
  );
};
/** The tasks of a round do not depend on what is written. */
const tasksOf = async (more: WriteOptions) =>
  (await playWritten(cosplay, () => 'x<eos>', { tasks: 5, groupSize: 4, ...more })).groups.map(
    ({ task }) => task,
  );

test('a round: pools are written, renewed twice, the chosen program is paid, and nothing is trained', async () => {
  const { groups, plan, tokenizer } = await play();
  for (const { task, samples } of groups) {
    const program = task.split(';')[0]!;
    const texts = samples.map(({ ids }) => tokenizer.decode(ids));
    const roles = samples.map(({ role }) => role);
    // Two programs are repaired at once. The wrong test and the text that is none are written again, twice: as the first two tests.
    expect(roles.slice(0, 10)).toEqual([
      ...new Array<string>(4).fill('solver'),
      ...new Array<string>(4).fill('tester'),
      ...['solver', 'solver'],
    ]);
    expect(texts.slice(8, 10)).toEqual([`<answer>${program}<eos>`, `<answer>${program}<eos>`]);
    expect(roles.slice(10)).toEqual(new Array<string>(roles.length - 10).fill('tester'));
    const prompts = samples.slice(8, 10).map(({ prompt }) => tokenizer.decode(prompt));
    expect(prompts.map((prompt) => prompt.split(';')[1])).toEqual([`${program} len`, `${program} len len`]);
    const rewards = samples.map((sample) => sample.rewards.reward);
    expect(rewards.slice(0, 8)).toEqual([0, 1, 0, 0, 1, 1, 0, 0]);
    expect(rewards.slice(8, 10)).toEqual([1, 1]);
  }
  expect(plan.updates).toEqual([]);
  expect(plan.figures).toMatchObject({
    one: 0.25,
    // Each of three programs puts out something else, and the first is chosen.
    majority: 0,
    matrix: 1,
    renewed: 1,
    chosen: 1,
    tests: 0.5,
    testsRenewed: 1,
    allWrong: 0,
    passedRight: 1,
  });
  expect(plan.figures).not.toHaveProperty('rescued');
});

test('repairs that pass no more tests change nothing', async () => {
  const { plan } = await play({}, 'sort len len len');
  expect(plan.figures).toMatchObject({ matrix: 1, renewed: 1, one: 0.25 });
});

test('resampled programs are asked for by the statement alone', async () => {
  const { groups, tokenizer } = await play({ variant: 'resampled' });
  for (const { samples } of groups) {
    const again = samples.slice(8).filter(({ role }) => role === 'solver');
    expect(again.length).toBeGreaterThan(0);
    for (const { prompt } of again) expect(tokenizer.decode(prompt)).not.toContain(';');
  }
});

test('shuffled tests ask for the output of the test after them, and are not renewed', async () => {
  const { groups, plan } = await play({ variant: 'shuffled-tests' });
  for (const { samples } of groups) expect(samples).toHaveLength(8);
  // Both exact tests ask for another's output now; what is exact is counted as the pools have it.
  expect(plan.figures!.tests).toBeLessThan(0.5);
});

test('the outputs of exact tests are what the problem means, and a random choice is one of the programs written first', async () => {
  const exact = (await play({ rewardFunction: 'exact-tests' })).plan.figures!;
  expect(exact).toMatchObject({ tests: 0.75, matrix: 1 });
  const { groups, plan } = await play({ rewardFunction: 'random', tasks: 60 });
  for (const { samples } of groups) expect(samples).toHaveLength(8);
  expect(plan.figures!.chosen).toBeGreaterThan(0.1);
  expect(plan.figures!.chosen).toBeLessThan(0.6);
});

test('a hostile program passes no test, costs its author the choice, and ends no round', async () => {
  for (const hostile of ['( )', '( dup )', '( *9 )']) {
    const parsed = parseProgram(hostile);
    expect(parsed.ok && execute(parsed.value, [1]).ok).toBe(false);
    const { plan } = await play({}, hostile);
    expect(plan.figures).toMatchObject({ matrix: 1, renewed: 1 });
  }
});
