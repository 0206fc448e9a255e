import { beforeAll, describe, expect, test } from 'vitest';
import { type RoundRecord, redrawRound, rereadRound } from '../../core/audit/audit-round.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import { recordedPolicy } from '../../core/audit/recorded-policy.ts';
import { Random } from '../../core/random.ts';
import { FORGERIES, type Scene } from './forgeries.ts';
import { playHonestRound } from './honest-round.ts';

const GROUPS = 40;
const TRIES = 20;

let scene: Scene;
/** Draws again what the model would draw, from memory: what the first test shows to be the same. */
let remembered: Scene['tools'];
beforeAll(async () => {
  const { record, tools } = await playHonestRound(1, GROUPS, 4);
  scene = { record, tools, other: (await playHonestRound(2, 4, 4)).record };
  const all = [
    ...record.proposals.samples,
    ...record.groups.flatMap(({ samples, judgments }) => [...samples, ...judgments]),
  ];
  remembered = { ...tools, use: (ref, work) => work(recordedPolicy(ref, all)) };
});

/** Findings of an audit that draws `fraction` again, by group. */
async function audit(record: RoundRecord, fraction: number, tools = scene.tools, seed = 'secret') {
  const ledger = new AuditLedger();
  await rereadRound(ledger, record, tools);
  await redrawRound(ledger, record, tools, fraction, seed);
  return ledger;
}

test('an honest round is equal to the last bit, in every class', async () => {
  const ledger = await audit(scene.record, 1);
  expect(ledger.findings).toEqual([]);
  const { proposals, groups } = scene.record;
  const samples = groups.reduce((sum, group) => sum + group.samples.length + group.judgments.length, 0);
  expect(groups.length).toBe(GROUPS);
  expect(ledger.checked('token')).toBe(proposals.samples.length + samples);
  expect(ledger.checked('sample-id')).toBe(proposals.samples.length + samples);
  // Of each group what the checker says of its solutions, and of each judgment what it says of the same.
  const judgments = groups.reduce((sum, group) => sum + group.judgments.length, 0);
  expect(ledger.checked('oracle')).toBe(GROUPS + judgments);
});

describe.each(FORGERIES)('forged: $name', ({ name, needsModel, forge }) => {
  /** Tries until so many forgeries came about: not every record can be forged in every way. */
  async function* forgeries(count: number) {
    const random = new Random(`forge/${name}`);
    for (let made = 0; made < count; ) {
      const forged = await forge(scene, random);
      if (!forged) continue;
      made++;
      yield forged;
    }
  }

  test('is caught whenever everything is drawn again', async () => {
    let caught = 0;
    for await (const { record, group } of forgeries(TRIES)) {
      // Only the group that was forged is drawn again here, by the real model: the others are honest.
      const groups = record.groups.filter((one) => one.group === group);
      const ledger = await audit({ ...record, groups }, 1, group === null ? remembered : scene.tools);
      if (ledger.byGroup().has(group)) caught++;
    }
    expect(caught).toBe(TRIES);
  });

  test('is caught as often as it is drawn at 5 %', async () => {
    const tries = needsModel ? 120 : TRIES;
    let caught = 0;
    let made = 0;
    for await (const { record, group } of forgeries(tries)) {
      const ledger = await audit(record, 0.05, remembered, `secret/${made++}`);
      if (ledger.byGroup().has(group)) caught++;
    }
    if (!needsModel) return expect(caught).toBe(tries);
    // 2 of 40 groups, 3 of about 50 proposals: 6 of 120 are expected, with a standard deviation of 2.4.
    expect(caught).toBeGreaterThanOrEqual(1);
    expect(caught).toBeLessThanOrEqual(15);
  });
});
