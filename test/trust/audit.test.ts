import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type RoundRecord, redrawRound, rereadRound } from '../../core/audit/audit-round.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import { playedRound, recordedPolicy } from '../../core/audit/recorded-policy.ts';
import { Random } from '../../core/random.ts';
import { NIGHT } from '../night.ts';
import { FORGERIES, type Scene } from './forgeries.ts';
import { playHonestRound } from './honest-round.ts';

/** So many that 2, 5 and 20 % of them are whole numbers. */
const GROUPS = 100;
const TRIES = 20;
/** What share is drawn again, and how often each: so often that half the rate would be found out; the night has the draws of README.md. */
const DRAWS = { 0.02: 1000, 0.05: NIGHT ? 1000 : 400, 0.2: NIGHT ? 1000 : 200 };

let scene: Scene;
/** Draws again what the model would draw, from memory: what the first test shows to be the same. */
let remembered: Scene['tools'];
beforeAll(async () => {
  const { record, tools } = await playHonestRound(1, GROUPS, 2, { engine: 'kernels' });
  scene = { record, tools, other: (await playHonestRound(2, 4, 4, { engine: 'kernels' })).record };
  const all = playedRound(record);
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

  test.runIf(needsModel)('is caught whenever everything is drawn again', async () => {
    let caught = 0;
    for await (const { record, group } of forgeries(TRIES)) {
      // Only the group that was forged is drawn again here, by the real model: the others are honest.
      const groups = record.groups.filter((one) => one.group === group);
      const ledger = await audit({ ...record, groups }, 1, group === null ? remembered : scene.tools);
      if (ledger.byGroup().has(group)) caught++;
    }
    expect(caught).toBe(TRIES);
  });

  test.skipIf(needsModel)('is caught by reading alone', async () => {
    let caught = 0;
    for await (const { record, group } of forgeries(TRIES)) {
      const ledger = new AuditLedger();
      await rereadRound(ledger, record, scene.tools);
      if (ledger.byGroup().has(group)) caught++;
    }
    expect(caught).toBe(TRIES);
  });
});

/** What only drawing again can tell, each once in one record and in a group of its own; null = the proposals. */
async function forgedOnceEach(): Promise<{ record: RoundRecord; places: Map<string, string | null> }> {
  const random = new Random('forge/once each');
  const taskOf = ({ proposals }: RoundRecord, group: string) =>
    proposals.tasks.find((task) => task.group === group)?.task;
  let { record } = scene;
  const places = new Map<string, string | null>();
  for (const { name, forge } of FORGERIES.filter(({ needsModel }) => needsModel))
    while (!places.has(name)) {
      const forged = await forge({ ...scene, record }, random);
      if (!forged || [...places.values()].includes(forged.group)) continue;
      // A forged proposal leaves the tasks of the other forgeries as they are.
      const others = [...places.values()].filter((group) => group !== null);
      if (others.some((group) => taskOf(forged.record, group) !== taskOf(record, group))) continue;
      record = forged.record;
      places.set(name, forged.group);
    }
  return { record, places };
}

test(`what only drawing again can tell is found as often as it is drawn${NIGHT ? ', by the numbers of README.md' : ''}`, async () => {
  const { record, places } = await forgedOnceEach();
  const read = new AuditLedger();
  await rereadRound(read, record, scene.tools);
  for (const group of places.values())
    if (group !== null) expect(read.byGroup().get(group) ?? []).toEqual([]);
  const counts = new Map([...places.keys()].map((name) => [name, [] as number[]]));
  for (const [share, draws] of Object.entries(DRAWS)) {
    const fraction = Number(share);
    const found = new Map([...places.keys()].map((name) => [name, 0]));
    for (let draw = 0; draw < draws; draw++) {
      const ledger = new AuditLedger();
      await redrawRound(ledger, record, remembered, fraction, `secret ${fraction} ${draw}`);
      const groups = ledger.byGroup();
      for (const [name, group] of places) if (groups.has(group)) found.set(name, found.get(name)! + 1);
    }
    const rateOf = (n: number) => Math.ceil(fraction * n) / n;
    // Three standard deviations a class, and over the groups' classes together, which an audit at half or twice the rate fails.
    const within = (count: number, of: number, rate: number) => {
      const deviation = Math.sqrt(of * rate * (1 - rate));
      expect(Math.abs(count - of * rate)).toBeLessThan(3 * deviation);
    };
    let together = 0;
    for (const [name, group] of places) {
      const count = found.get(name)!;
      counts.get(name)!.push(count);
      within(count, draws, rateOf(group === null ? record.proposals.samples.length : GROUPS));
      if (group !== null) together += count;
    }
    within(together, (places.size - 1) * draws, rateOf(GROUPS));
  }
  if (!NIGHT) return;
  const lines = [...counts].map(([name, found]) => `| ${[name, ...found].join(' | ')} |`);
  const told = readFileSync('test/trust/README.md', 'utf8').split('\n');
  const at = told.findIndex((line) => line.startsWith('| forged | found at 2 %')) + 2;
  expect(told.slice(at, at + lines.length)).toEqual(lines);
});
