import { expect, test } from 'vitest';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { playSolver, policyPart } from './play-solver.ts';

const right = (task: string) => `<answer>${runningTotals(task).at(-1)}`;
const WRONG = '<answer>99';
/** Right in every second answer, and every third task is always right. */
const mixed = (task: string, i: number) => (i % 2 === 0 || Number(task[0]) % 3 === 0 ? right(task) : WRONG);
const order = { recipe: 'dapo', tasks: 8, groupSize: 4 };

test('half of the tasks have one operator and half five; three times as many are rolled out as are trained on', async () => {
  const { proposals } = await playSolver({ ...order, tasks: 64 }, mixed);
  const operators = proposals.tasks.map(({ task }) => (task.length - 1) / 2);
  expect(operators).toHaveLength(192);
  expect(new Set(operators)).toEqual(new Set([1, 5]));
  expect(operators.filter((n) => n === 1)).toHaveLength(96);
  expect(new Set(proposals.tasks.map(({ task }) => task)).size).toBe(192);
});

test('a round larger than there are easy tasks goes on with hard ones', async () => {
  const { proposals } = await playSolver({ ...order, tasks: 256, groupSize: 2 }, mixed);
  // 10 x 2 x 10 sums of two digits, none of them held out: half of 768 cannot be had.
  expect(new Set(proposals.tasks.map(({ task }) => task)).size).toBe(768);
  expect(proposals.tasks.slice(-10).every(({ task }) => task.length === 11)).toBe(true);
});

test('trains on the first mixed groups, as many as were asked for', async () => {
  const { groups, plan } = await playSolver(order, mixed);
  const some = groups.filter(({ task }) => Number(task[0]) % 3 !== 0).slice(0, 8);
  const { items } = policyPart(plan);
  expect(items.map(({ sample }) => sample.id)).toEqual(
    some.flatMap(({ samples }) => samples.map(({ id }) => id)),
  );
  // Two of four right: rewards +1, -1, +1, -1 have mean 0 and sample deviation sqrt(4/3).
  expect(items.slice(0, 4).map(({ advantage }) => advantage)).toEqual(
    [1, -1, 1, -1].map((sign) => expect.closeTo(sign * Math.sqrt(3 / 4), 5)),
  );
  expect(plan.figures).toMatchObject({ trainedGroups: 8, unanimous: 0 });
});

test('without dynamic sampling unanimous groups stay and teach nothing', async () => {
  const { groups, plan } = await playSolver({ ...order, variant: 'no-dynamic-sampling' }, mixed);
  const unanimous = groups.filter(({ task }) => Number(task[0]) % 3 === 0).length;
  expect(groups).toHaveLength(8);
  expect(policyPart(plan).items).toHaveLength(32);
  expect(plan.figures).toMatchObject({ trainedGroups: 8, unanimous });
});

test('a wave without a mixed group teaches nothing', async () => {
  const { plan } = await playSolver(order, right);
  expect(plan.updates).toEqual([]);
});

test('an exact answer is paid less over the last half of forty-eight tokens, a wrong one is punished more; checks cost nothing else', async () => {
  const checks = (n: number) => '<ok>'.repeat(n);
  const { groups } = await playSolver(order, (task, i) => {
    // `<answer>99` is three tokens, the stop one, and a check one: 4 + n.
    if (i === 0) return checks(20) + WRONG;
    if (i === 1) return checks(38) + WRONG;
    if (i === 2) return checks(60) + right(task);
    return checks(2) + right(task);
  });
  const [atBuffer, inBuffer, cutOff, exact] = groups[0]!.samples;
  expect([atBuffer, inBuffer, cutOff].map((sample) => sample!.ids.length)).toEqual([24, 42, 48]);
  expect(cutOff!.outcome).toBe('cut-off');
  // Eighteen of the buffer's twenty-four tokens are three quarters of the punishment.
  expect([atBuffer, inBuffer, cutOff, exact].map((sample) => sample!.rewards.reward)).toEqual([
    -1, -1.75, -2, 1,
  ]);
});

test('each repair is one setting of the loss', async () => {
  const partOf = async (variant?: string) =>
    policyPart((await playSolver({ ...order, ...(variant ? { variant } : {}) }, mixed)).plan);
  expect((await partOf()).objective).toEqual({ kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28 });
  expect((await partOf()).aggregation).toEqual({ mode: 'token-mean' });
  expect((await partOf()).kl).toBeUndefined();
  expect((await partOf('no-clip-higher')).objective).toMatchObject({ clipHigh: 0.2 });
  expect((await partOf('no-token-mean')).aggregation).toEqual({ mode: 'seq-mean-token-mean' });
  expect(await partOf('grpo')).toMatchObject({
    objective: { clipHigh: 0.2 },
    aggregation: { mode: 'seq-mean-token-mean' },
  });
});
