import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { type SsrState, stateAfter } from '../../recipes/ssr-swe/bugs.ts';
import { injectorReward } from '../../recipes/ssr-swe/recipe.ts';
import { gate, repair, withBug } from '../../worlds/programs/repair.ts';

const ssrSwe = shipped.find('ssr-swe');

test('an injector is paid for what is seldom repaired, but sometimes', () => {
  // 1 - 1.8 / 8, 1 - 1.8 · 7/8; never and always repaired: -.8.
  expect(injectorReward('ok', 1 / 8)).toBeCloseTo(0.775);
  expect(injectorReward('ok', 7 / 8)).toBeCloseTo(-0.575);
  expect([injectorReward('ok', 0), injectorReward('ok', 1)]).toEqual([-0.8, -0.8]);
  expect([injectorReward('idle-edit', null), injectorReward('off-grammar', null)]).toEqual([-1, -1]);
  expect([injectorReward('held-out', null), injectorReward('ok', null)]).toEqual([null, null]);
});

const LIST = '9 -9 8 -7';
/** The text of a repair of the program with a bug, whose words the prompt shows. */
const bugOf = (prompt: string) => /^<solve>r:([^;]+);/.exec(prompt)![1]!;

/**
 * Two programs, four bugs each: the first adds `len` and shows; the second is the program itself; the third is no program; the fourth repeats the
 * first. Of four repairs of a bug the first two take `len` away again, the third is the bug and the fourth is no program.
 */
function write(prompt: string, i: number): string {
  if (prompt.startsWith('<propose>')) {
    const program = /^<propose>d:(.+)<sep>$/.exec(prompt)![1]!;
    return [
      `${program} len;${LIST}<eos>`,
      `${program};${LIST}<eos>`,
      'x<eos>',
      `${program} len;${LIST}<eos>`,
    ][i]!;
  }
  const bug = bugOf(prompt);
  return [
    `<answer>${bug.replace(/ len$/, '')}<eos>`,
    `<answer>${bug.replace(/ len$/, '')}<eos>`,
    `<answer>${bug}<eos>`,
    '?<eos>',
  ][i]!;
}
const play = (more: WriteOptions = {}) => playWritten(ssrSwe, write, { tasks: 8, groupSize: 4, ...more });
const parts = ({ plan }: Awaited<ReturnType<typeof play>>) => plan.updates[0]!.parts as PolicyPart[];

test('a round: four bugs a program, gates, repairs, and both are paid', async () => {
  const played = await play();
  const { proposals, groups, plan } = played;
  const each = ['ok', 'no-failing-test', 'off-grammar', 'duplicate'];
  expect(proposals.samples.map(({ outcome }) => outcome)).toEqual([...each, ...each]);
  expect(groups).toHaveLength(2);
  for (const { task } of groups) expect(gate(task)).toBeNull();
  expect(groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward))).toEqual([
    [1, 1, -1, -1],
    [1, 1, -1, -1],
  ]);
  const [injector, solver] = parts(played);
  expect(parts(played).map(({ role }) => role)).toEqual(['injector', 'solver']);
  // 1 - 1.8 / 2 = .1, and three times -1: mean -.725, deviation √((.825² + 3 · .275²) / 3) = .55.
  const bugs = [1.5, -0.5, -0.5, -0.5];
  expect(injector!.items.map(({ advantage }) => advantage)).toEqual(
    [...bugs, ...bugs].map((a) => expect.closeTo(a, 4)),
  );
  // 1, 1, -1, -1: mean 0, deviation √(4/3).
  const repairs = [1, 1, -1, -1].map((a) => a / Math.sqrt(4 / 3));
  expect(solver!.items.map(({ advantage }) => advantage)).toEqual(
    [...repairs, ...repairs].map((a) => expect.closeTo(a, 4)),
  );
  const tasks = groups.map(({ task }) => task);
  // The third repair is the bug as it was, which is a bug of its own again.
  expect(plan.recipeState).toEqual({ bugs: tasks, failed: tasks });
  expect(plan.figures).toEqual({ valid: 0.25, repaired: 0.5, interior: 1, removals: 0, failedRepairs: 2 });
});

const stored = 'rev +3;rev -3;1 2;0;7 1;4 4;_';
const failed = 'rev +3;rev;1 2;0;7 1;4 4;_';

test('earlier bugs take the places of refused ones, and failed repairs up to a quarter of all', async () => {
  const { groups } = await play({ recipeState: { bugs: [stored], failed: [failed] } satisfies SsrState });
  // Seven are wanted: of two programs two bugs pass, and one is stored. One is a failed repair.
  expect(groups.map(({ task, proposal }) => [task, proposal !== null]).slice(2)).toEqual([
    [stored, false],
    [failed, false],
  ]);
});

test('failed repairs of first order become bugs, those of second order do not', () => {
  const decode = (ids: readonly number[]) => ['<answer>sort<eos>', '<answer>rev +3<eos>', 'x<eos>'][ids[0]!]!;
  const sample = (text: number, reward: number) => ({ ids: [text], rewards: { reward } });
  const group = (task: string, proposal: string | null) => ({
    task,
    proposal,
    samples: [sample(0, -1), sample(0, -1), sample(1, 1), sample(2, -1)],
  });
  const groups = [group(stored, 'p'), group(failed, null)] as unknown as Parameters<typeof stateAfter>[1];
  expect(stateAfter({ bugs: [], failed: [failed] }, groups, decode, true)).toEqual({
    bugs: [stored],
    failed: [withBug(stored, 'sort')],
  });
  expect(stateAfter({ bugs: [stored], failed: [] }, groups, decode, false)).toEqual({
    bugs: [stored],
    failed: [],
  });
});

test('without gates a bug is set that no test shows; random bugs are injected by nobody', async () => {
  const loose = await play({ variant: 'no-gates' });
  const each = ['ok', 'ok', 'off-grammar', 'duplicate'];
  expect(loose.proposals.samples.map(({ outcome }) => outcome)).toEqual([...each, ...each]);
  const random = await play({ variant: 'repair-only' });
  expect(random.proposals.samples).toEqual([]);
  expect(random.groups).toHaveLength(8);
  for (const { task, proposal } of random.groups) {
    expect(proposal).toBeNull();
    expect(gate(task)).toBeNull();
    expect(repair.isHeldOut(task)).toBe(false);
  }
});

test('the controls run no test for the solver’s pay', async () => {
  const { groups } = await play({ rewardFunction: 'format' });
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 1, -1]);
  expect([ssrSwe.rewards.format?.usesGold, ssrSwe.rewards.random?.usesGold]).toEqual([false, false]);
});
