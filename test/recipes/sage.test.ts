import { expect, test } from 'vitest';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { hintsOf, trainedAttempts } from '../../recipes/sage/hints.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { policyPart } from './play-solver.ts';

const sage = shipped.find('sage');

const worked = (task: string, by = 0) => {
  const totals = runningTotals(task).map((total) => total + by);
  return `${totals.map((total) => `<step>${total}`).join('')}<answer>${totals.at(-1)}`;
};
const begun = (task: string, steps: number) =>
  runningTotals(task)
    .slice(0, steps)
    .map((total) => `<step>${total}`)
    .join('');

interface Asked {
  readonly task: string;
  readonly aid: string | undefined;
  /** Of a hinter’s prompt. */
  readonly level: string | undefined;
}
/** Plays one round of one task with four attempts. `from`: how many steps a hint must tell for the first attempt to be right; 0 = none, 9 = never. */
async function play(from: number, { hint = begun, ...more }: WriteOptions & { hint?: typeof begun } = {}) {
  const asked: Asked[] = [];
  const played = await playWritten(
    sage,
    (prompt, i) => {
      const [task, aid, level] = prompt.replace(/^<\w+>/, '').split('<sep>') as [string, string, string];
      if (i === 0) asked.push({ task, aid: aid || undefined, level: level || undefined });
      if (prompt.startsWith('<propose>')) return `${hint(task, Number(level) + 1)}<eos>`;
      const told = aid.split('<step>').length - 1;
      return `${worked(task, i === 0 && told >= from ? 0 : 1)}<eos>`;
    },
    { tasks: 1, groupSize: 4, ...more },
  );
  const [group] = played.groups;
  return { ...played, asked, group: group!, roles: group!.samples.map(({ role }) => role) };
}
const [SOLVERS, HINTER] = [Array(4).fill('solver'), 'hinter'];

test('a task at which an attempt succeeds needs no hint', async () => {
  const { group, roles, asked, plan } = await play(0);
  expect(roles).toEqual(SOLVERS);
  expect(asked).toHaveLength(1);
  // Mean 1/4, deviation 1/2.
  expect(policyPart(plan).items.map(({ advantage }) => advantage)).toEqual(
    [1.5, -0.5, -0.5, -0.5].map((a) => expect.closeTo(a, 4)),
  );
  expect(plan.figures).toEqual({ taught: 1, hinted: 0 });
  expect(hintsOf(group)).toBe(0);
});

test('levels go up until an attempt succeeds, and those attempts take the place of the failed ones', async () => {
  // Of five steps the hints tell two, three, four.
  const { group, roles, asked, plan } = await play(3);
  const { task } = group;
  expect(roles).toEqual([...SOLVERS, HINTER, ...SOLVERS, HINTER, ...SOLVERS]);
  expect(asked).toEqual([
    { task, aid: undefined, level: undefined },
    { task, aid: worked(task), level: '1' },
    { task, aid: begun(task, 2), level: undefined },
    { task, aid: worked(task), level: '2' },
    { task, aid: begun(task, 3), level: undefined },
  ]);
  expect(new Set(group.samples.map(({ id }) => id)).size).toBe(group.samples.length);
  const { items } = policyPart(plan);
  expect(items.map(({ sample }) => sample.id)).toEqual(group.samples.slice(-4).map(({ id }) => id));
  expect(items.map(({ advantage }) => advantage)).toEqual(
    [1.5, -0.5, -0.5, -0.5].map((a) => expect.closeTo(a, 4)),
  );
  expect(plan.figures).toEqual({ taught: 1, hinted: 1, hintsHelp: 1 });
  // Attempts are paid, hints are not.
  expect(group.samples.map(({ rewards }) => rewards.reward)).toEqual([
    ...[0, 0, 0, 0, undefined],
    ...[0, 0, 0, 0, undefined],
    ...[1, 0, 0, 0],
  ]);
});

test('after the last level a task is given up, and teaches nothing', async () => {
  const { group, roles, plan } = await play(9);
  expect(roles.filter((role) => role === HINTER)).toHaveLength(3);
  expect(trainedAttempts(group).samples).toEqual(group.samples.slice(-4));
  expect(policyPart(plan).items.map(({ advantage }) => advantage)).toEqual([0, 0, 0, 0]);
  expect(plan.figures).toEqual({ taught: 0, hinted: 1, hintsHelp: 0 });
});

test('a hint that cannot be read is not shown, and the next level is asked for', async () => {
  const { roles, group, plan } = await play(1, {
    hint: (task, told) => (told === 2 ? 'x' : begun(task, told)),
  });
  expect(roles).toEqual([...SOLVERS, HINTER, HINTER, ...SOLVERS]);
  expect(group.samples[4]!.outcome).toBe('off-grammar');
  expect(plan.figures).toMatchObject({ taught: 1 });
});

test('without a hint that can be read the failed attempts stay', async () => {
  const { roles, group, plan } = await play(1, { hint: () => 'x' });
  expect(roles).toEqual([...SOLVERS, HINTER, HINTER, HINTER]);
  expect(trainedAttempts(group).samples).toEqual(group.samples.slice(0, 4));
  expect(plan.figures).toEqual({ taught: 0, hinted: 1, hintsHelp: 0 });
});

test('variants: no hints, hints for another task, and hints by version 0', async () => {
  expect((await play(9, { variant: 'grpo' })).roles).toEqual(SOLVERS);
  const { group, asked } = await play(9, { variant: 'random-hints' });
  const hinted = asked.filter(({ level }) => level);
  expect(hinted).toHaveLength(3);
  for (const { task } of hinted) {
    expect(task).not.toBe(group.task);
    expect(task).toHaveLength(group.task.length);
  }
  const bound = (variant?: string) =>
    bindingsOf(
      sage,
      runOf(shipped, { recipe: 'sage', seed: 0, rounds: 1, freeze: [], ...(variant ? { variant } : {}) })
        .settings,
    );
  expect(bound('start-hints').hinter).toEqual({ pinned: true });
  expect(bound().hinter).toEqual({});
});

test('by form alone no well-formed attempt fails, so that nobody is given a hint', async () => {
  expect((await play(9, { rewardFunction: 'format' })).roles).toEqual(SOLVERS);
});
