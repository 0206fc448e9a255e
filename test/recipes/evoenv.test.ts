import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { given, poolAfter } from '../../recipes/evoenv/pool.ts';
import { calibration, proposerReward } from '../../recipes/evoenv/recipe.ts';
import { shipped } from '../../recipes/index.ts';
import { environmentOfTask, likeness, mechanicalFault } from '../../worlds/programs/environments.ts';

const evoenv = shipped.find('evoenv');

test('an environment is worth most where three attempts in ten are right', () => {
  expect(calibration(0.3)).toBe(1);
  // 1 - .2/.7 on one side, 1 - .175/.7 on the other.
  expect(calibration(0.5)).toBeCloseTo(0.714286);
  expect(calibration(0.125)).toBeCloseTo(0.75);
  expect([calibration(0), calibration(1)]).toEqual([0, 0]);
  const tried = { environment: 'd:+1;rev', proposal: 'p', rate: 0.3, rejected: false };
  expect(proposerReward('ok', tried)).toBe(1);
  expect(proposerReward('ok', { ...tried, rejected: true })).toBe(0);
  expect([proposerReward('near-copy', undefined), proposerReward('unvaried', undefined)]).toEqual([0, 0]);
  // One for which there was no room, and a held-out one.
  expect([proposerReward('ok', undefined), proposerReward('held-out', tried)]).toEqual([null, null]);
});

test('ten environments are given, which pass the layers and are no near-copies of each other', () => {
  expect(given()).toHaveLength(10);
  for (const [i, environment] of given().entries()) {
    expect(mechanicalFault(environment)).toBeNull();
    for (const other of given().slice(i + 1)) expect(likeness(environment, other)).toBeLessThan(0.8);
  }
});

/** Reversed, then three more: what `rev +3` makes of a list. */
const worked = (list: string): string =>
  list
    .split(' ')
    .map((x) => Number(x) + 3)
    .reverse()
    .join(' ');

/**
 * Beside each environment: a new one, a near-copy of it, one without variety, and no environment. The new one is reviewed as `review` says; of two
 * attempts at each of its instances the first is right. Nothing else is ever solved.
 */
const writing =
  (review: string) =>
  (prompt: string, i: number): string => {
    if (prompt.startsWith('<propose>'))
      return ['d:+1;rev +3<eos>', 'a:sort;rev +4<eos>', 'd:+1;*0<eos>', 'x<eos>'][i]!;
    if (prompt.startsWith('<judge>')) return i === 2 ? `${review}<eos>` : '<right><eos>';
    const list = /^<solve>d:rev \+3;(.+)<sep>$/.exec(prompt)?.[1];
    return list && i === 0 ? `<answer>${worked(list)}<eos>` : '<answer>9999<eos>';
  };
const play = (more: WriteOptions = {}, review = '<right>') =>
  playWritten(evoenv, writing(review), { tasks: 4, groupSize: 4, ...more });
const partsOf = ({ plan }: Awaited<ReturnType<typeof play>>) => plan.updates[0]!.parts as PolicyPart[];

test('a round: layers, attempts, reviews, and both are paid', async () => {
  const played = await play();
  const { proposals, groups, plan } = played;
  expect(proposals.samples.map(({ outcome }) => outcome)).toEqual([
    ...['ok', 'near-copy', 'unvaried', 'no-kind'],
    // What was proposed before counts as known.
    ...['near-copy', 'near-copy', 'unvaried', 'no-kind'],
  ]);
  expect(groups).toHaveLength(4);
  expect(groups.map(({ proposal }) => proposal !== null)).toEqual([true, false, false, false]);
  expect(environmentOfTask(groups[0]!.task)).toBe('d:+1;rev +3');
  for (const { task } of groups.slice(1)) expect(given()).toContain(environmentOfTask(task));
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, 1, 0]);
  expect(groups.map(({ judgments }) => judgments.length)).toEqual([3, 0, 0, 0]);
  expect(groups[0]!.judgments[0]!.oracle).toEqual({ right: true, hit: true });
  const [proposer, solver] = partsOf(played);
  expect([proposer!.role, solver!.role]).toEqual(['proposer', 'solver']);
  // 1 - .2/.7 = 5/7 and three times 0: mean 5/28, deviation 5/14. Beside the other environment all are 0.
  expect(proposer!.items.map(({ advantage }) => advantage)).toEqual(
    [1.5, -0.5, -0.5, -0.5, 0, 0, 0, 0].map((a) => expect.closeTo(a, 4)),
  );
  // Two attempts at each instance: 1 and 0, deviation √½. 12 attempts at other environments are all wrong.
  const pair = [Math.SQRT1_2, -Math.SQRT1_2];
  expect(solver!.items.map(({ advantage }) => advantage)).toEqual(
    [...pair, ...pair, ...Array(12).fill(0)].map((a) => expect.closeTo(a, 4)),
  );
  expect(plan.recipeState).toEqual(['d:+1;rev +3']);
  expect(plan.figures).toMatchObject({
    // Of eight: six parse, all have instances, four vary, and so on; one is new.
    ...{ parsed: 0.75, instantiated: 0.75, varied: 0.5, scored: 0.5, novel: 0.125 },
    ...{ reviewed: 1, calibrated: 1, rate: 0.5, interior: 1, sound: 1, approvedSound: 1, pool: 1 },
  });
});

test('one review of three that says no refuses an environment: it is not paid, not kept and not trained on', async () => {
  const played = await play({}, '<wrong>');
  const { groups, plan } = played;
  expect(groups[0]!.judgments.map(({ oracle }) => oracle!.hit)).toEqual([true, true, false]);
  const [proposer, solver] = partsOf(played);
  expect(proposer!.items.every(({ advantage }) => advantage === 0)).toBe(true);
  expect(solver!.items).toHaveLength(12);
  expect(plan.recipeState).toEqual([]);
  expect(plan.figures).toMatchObject({ reviewed: 0, calibrated: 0, interior: 1, pool: 0 });
  expect(plan.figures).not.toHaveProperty('approvedSound');
  // A review that cannot be read says nothing.
  expect((await play({}, '?')).plan.recipeState).toEqual(['d:+1;rev +3']);
  // Without the layer nobody is asked.
  const unreviewed = await play({ variant: 'no-review' }, '<wrong>');
  expect(unreviewed.groups.flatMap(({ judgments }) => judgments)).toEqual([]);
  expect(unreviewed.plan.recipeState).toEqual(['d:+1;rev +3']);
});

test('without novelty near-copies are tried; a fixed pool is written by nobody', async () => {
  const loose = await play({ variant: 'no-novelty' });
  const each = ['ok', 'ok', 'unvaried', 'no-kind'];
  expect(loose.proposals.samples.map(({ outcome }) => outcome)).toEqual([...each, ...each]);
  expect(loose.groups.filter(({ proposal }) => proposal !== null)).toHaveLength(2);
  const fixed = await play({ variant: 'fixed-pool' });
  expect(fixed.proposals.samples).toEqual([]);
  expect(fixed.groups).toHaveLength(4);
  for (const { task, proposal } of fixed.groups) {
    expect(proposal).toBeNull();
    expect(given()).toContain(environmentOfTask(task));
  }
  expect(fixed.plan.figures).toEqual({ pool: 0, different: 10 });
});

test('the pool: what is known is shown and tried again, and leaves once it is always or never solved', async () => {
  const { proposals } = await play({ recipeState: ['d:+1;rev +3'] });
  expect(proposals.samples[0]!.outcome).toBe('near-copy');
  const tried = (environment: string, proposal: string | null, rate: number, rejected = false) => ({
    environment,
    proposal,
    rate,
    rejected,
  });
  expect(
    poolAfter(
      ['d:+1;rev', 'd:+1;sort', 'd:+1;len', 'd:+1;dup'],
      [
        tried('d:+1;rev', null, 1),
        tried('d:+1;sort', null, 0),
        tried('d:+1;len', null, 0.5),
        tried('d:+1;+2', 'p', 0.5),
        tried('d:+1;+3', 'q', 0.5, true),
        tried('d:+1;+4', 'r', 1),
      ],
    ),
  ).toEqual(['d:+1;len', 'd:+1;dup', 'd:+1;+2']);
});

test('the controls accept what is well-formed, and ask no scorer', async () => {
  const { groups } = await play({ rewardFunction: 'format' });
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 1, 1]);
  expect([evoenv.rewards.format?.usesGold, evoenv.rewards.random?.usesGold]).toEqual([false, false]);
});
