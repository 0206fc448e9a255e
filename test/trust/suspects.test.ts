/** What the learner's own log-probabilities make suspect is sampled again, whatever the audit's draw takes. */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { drawShare } from '../../core/audit/audit-round.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import { type Apart, apart, redrawFarthest } from '../../core/audit/suspects.ts';
import { keys } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import type { RoundWork } from '../../core/schema/work.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { trainRound } from '../../learner/loop/train-round.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { shipped } from '../../recipes/index.ts';
import { type HonestRound, playHonestRound } from './honest-round.ts';
import {
  copyOf,
  gatewayOf,
  MESH_KEY,
  messagesOf,
  putObject,
  type StoredRound,
  sealAll,
  stateOf,
  storeRound,
} from './stored-round.ts';

const FRACTION = 0.02;

let honest: HonestRound;
let stored: StoredRound;
beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
  honest = await playHonestRound(1, 4, 2);
  stored = storeRound(honest);
});

/** A seed by which the audit draws none of the groups. */
function seedPast(groups: readonly string[]): string {
  const all = stored.rows.map(({ group }) => group);
  for (let i = 0; ; i++)
    if (!drawShare(all, FRACTION, `${i}/groups`).some((group) => groups.includes(group))) return String(i);
}

/** The honest group with one log-probability of a solution or a judgment changed. */
function withLie(
  at: number,
  part: 'samples' | 'judgments',
  change: (logprob: number) => number,
): ScoredGroup {
  const group = structuredClone(honest.record.groups[at]!);
  const { logprobs } = group[part][0]!;
  logprobs[0] = change(logprobs[0]!);
  return group;
}

/** What the learner, with its optimiser, makes of a round in which some groups were forged with the key and the draw takes none of them. */
async function learn(forged: readonly ScoredGroup[]) {
  const round = copyOf(stored);
  for (const group of forged)
    round.rows.find((row) => row.group === group.group)!.sha256 = putObject(
      round,
      keys.scored(round.spec.id, group.group),
      group,
    );
  sealAll(round);
  const seed = seedPast(forged.map(({ group }) => group));
  const { gateway, committed } = gatewayOf(round);
  await trainRound(gateway, new RoundTrainer(), stateOf(round), round.rows, messagesOf(round), {
    recipes: shipped,
    meshKey: MESH_KEY,
    maxStaleness: 0,
    leaseMs: 1,
    longestIdleMs: 1,
    device: 'test',
    audit: { fraction: FRACTION, seedOf: () => seed },
  });
  const failures = round.rows.flatMap(({ group, failure }) => (failure ? [{ group, failure }] : []));
  return { trained: committed()?.groups, failures };
}

test('a lie of 60 nats in one token costs its group alone, and is named', async () => {
  const groups = stored.rows.map(({ group }) => group);
  expect(await learn([])).toEqual({ trained: groups, failures: [] });
  for (const [part, change] of [
    ['samples', () => -60],
    ['judgments', () => -60],
    ['samples', () => -1e-9],
  ] as const) {
    const lie = withLie(2, part, change);
    const { trained, failures } = await learn([lie]);
    expect(trained).toEqual(groups.filter((group) => group !== lie.group));
    expect(failures).toMatchObject([{ group: lie.group, failure: { code: 'audit.log-probability' } }]);
    expect(failures[0]!.failure.message).toContain(lie[part][0]!.id);
  }
});

test('of several lies all are found', async () => {
  const three = [0, 1, 3].map((at) => withLie(at, 'samples', (logprob) => logprob - 5 - at));
  expect((await learn(three)).trained).toEqual([stored.rows[2]!.group]);
});

/** Two nodes that answered everything in turns, group by group. */
function workOf(): RoundWork {
  const nodes = ['a', 'b'].map((name, n) => ({
    id: String(n).repeat(32),
    name,
    exactness: 'exact' as const,
    publicKey: '0'.repeat(64),
    audited: 0,
  }));
  return {
    nodes,
    work: honest.record.groups.map(({ group, samples, judgments }, i) => ({
      id: group,
      node: nodes[i % 2]!.id,
      lease: group,
      stage: 'rollout' as const,
      group,
      samples: [...samples, ...judgments].map(({ id }) => id),
      settings: { maxNew: 1, temperature: 1, stop: [] },
      weights: '0'.repeat(64),
      sha256: '0'.repeat(64),
      seal: '0'.repeat(128),
    })),
  };
}

test('the node that lied is found, and one that is only far apart is not', async () => {
  const lie = withLie(1, 'samples', () => -60);
  const record = {
    ...honest.record,
    groups: honest.record.groups.map((group) => (group.group === lie.group ? lie : group)),
  };
  const far = ({ samples }: ScoredGroup, by: number): Apart => ({
    sample: samples[0]!.id,
    below: by,
    above: 0,
  });
  const ledger = new AuditLedger();
  const found = await redrawFarthest(
    ledger,
    record,
    honest.tools,
    workOf(),
    [...record.groups.map((group, i) => far(group, i === 1 ? 59 : 0.5)), far(record.groups[0]!, 80)],
    'seed',
  );
  expect(found.map(({ name }) => name)).toEqual(['b']);
  expect(found[0]!.finding).toMatchObject({
    class: 'log-probability',
    group: lie.group,
    sample: lie.samples[0]!.id,
  });
  expect(ledger.findings).toEqual([]);
});

test('how far apart is what the definition says, and what is no number is as far as can be', () => {
  const nats = fc.double({ min: -128, max: 0, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(nats, nats), { minLength: 1 }), (pairs) => {
      const [recorded, learner] = [pairs.map(([x]) => x), pairs.map(([, x]) => x)];
      const by = pairs.map(([x, y]) => x - y);
      expect(apart('s', recorded, learner)).toEqual({
        sample: 's',
        below: Math.max(0, ...pairs.map(([x, y]) => y - x)),
        above: Math.max(0, ...by),
      });
    }),
  );
  expect(apart('s', [-1, -1], [Number.NaN, -1]).below).toBe(Number.POSITIVE_INFINITY);
  expect(apart('s', [-1], [Number.NEGATIVE_INFINITY]).above).toBe(Number.POSITIVE_INFINITY);
  expect(apart('s', [-60, -1], [-1, -1], [0, 1])).toEqual({ sample: 's', below: 0, above: 0 });
});
