import { expect, test } from 'vitest';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { chosenDraft, draftsOf } from '../../recipes/igrpo/drafts.ts';
import { shipped } from '../../recipes/index.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { policyPart } from './play-solver.ts';

const igrpo = shipped.find('igrpo');

test('half of a group are drafts', () => {
  expect([4, 8, 9].map(draftsOf)).toEqual([2, 4, 4]);
});

test('the best well-formed draft is shown, or the worst, or any', () => {
  const [paid, wellFormed] = [
    [0, 1, 0, 1],
    [true, true, true, false],
  ];
  const drawn = (variant?: string) =>
    new Set(Array.from({ length: 60 }, (_, g) => chosenDraft(`g${g}`, paid, wellFormed, variant)));
  expect(drawn()).toEqual(new Set([1]));
  expect(drawn('worst-draft')).toEqual(new Set([0, 2]));
  expect(drawn('random-draft')).toEqual(new Set([0, 1, 2]));
  // What has no reward cannot be compared, and what is not well-formed cannot be shown.
  expect(chosenDraft('g', [null, 0], [true, true])).toBe(1);
  expect(chosenDraft('g', [0, 1], [false, false])).toBeNull();
});

const worked = (task: string, by = 0) => {
  const totals = runningTotals(task).map((total) => total + by);
  return `${totals.map((total) => `<step>${total}`).join('')}<answer>${totals.at(-1)}`;
};
/** Prompts in the order in which they were asked for, with the task of each. */
const seen: { task: string; aid: string | undefined }[] = [];
/** Drafts: off by one, right, none, off by two. Attempts: right, off by one, off by one, off by one. */
function write(prompt: string, i: number): string {
  const [task, aid] = prompt.slice('<solve>'.length).split('<sep>') as [string, string];
  if (i === 0) seen.push({ task, aid: aid || undefined });
  const drafts = [worked(task, 1), worked(task), 'x', worked(task, 2)];
  return `${aid ? worked(task, i === 0 ? 0 : 1) : drafts[i % 4]!}<eos>`;
}
const play = (more: WriteOptions = {}) => {
  seen.length = 0;
  return playWritten(igrpo, write, { tasks: 1, groupSize: 8, ...more });
};

test('a round: drafts are kept and not trained on, attempts are made after the best', async () => {
  const { groups, plan } = await play();
  const [group] = groups;
  expect(group!.samples.map(({ role }) => role)).toEqual([
    ...Array(4).fill('drafter'),
    ...Array(4).fill('solver'),
  ]);
  const { task } = group!;
  expect(seen).toEqual([
    { task, aid: undefined },
    { task, aid: worked(task) },
  ]);
  expect(group!.samples.map(({ rewards }) => rewards.reward)).toEqual([0, 1, 0, 0, 1, 0, 0, 0]);
  // Mean 1/4, deviation 1/2, of the attempts alone.
  const { items } = policyPart(plan);
  expect(items.map(({ advantage }) => advantage)).toEqual(
    [1.5, -0.5, -0.5, -0.5].map((a) => expect.closeTo(a, 4)),
  );
  expect(items.map(({ sample }) => sample.id)).toEqual(group!.samples.slice(4).map(({ id }) => id));
  expect(plan.figures).toEqual({ draftsExact: 1 / 4, attemptsExact: 1 / 4 });
});

test('the worst draft is one that was paid nothing', async () => {
  const { groups } = await play({ variant: 'worst-draft' });
  const { task } = groups[0]!;
  expect([worked(task, 1), worked(task, 2)]).toContain(seen[1]!.aid);
});

test('where no draft is well-formed the attempts are made without', async () => {
  const { groups } = await playWritten(igrpo, () => 'x<eos>', { tasks: 1, groupSize: 4 });
  const prompts = groups[0]!.samples.map(({ prompt }) => prompt.join());
  expect(new Set(prompts).size).toBe(1);
  expect(new Set(groups[0]!.samples.map(({ id }) => id)).size).toBe(4);
});

test('without drafts all rollouts are attempts, and are trained on', async () => {
  const { groups, plan } = await play({ variant: 'grpo' });
  expect(groups[0]!.samples.map(({ role }) => role)).toEqual(Array(8).fill('solver'));
  expect(seen).toHaveLength(1);
  expect(policyPart(plan).items).toHaveLength(8);
  expect(plan.figures).toEqual({ attemptsExact: 1 / 4 });
});

test('the reward that is paid chooses the draft: form alone takes any well-formed draft', async () => {
  const { groups } = await play({ rewardFunction: 'format' });
  const { task } = groups[0]!;
  expect([worked(task), worked(task, 1), worked(task, 2)]).toContain(seen[1]!.aid);
});
