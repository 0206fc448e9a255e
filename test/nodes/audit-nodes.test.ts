/** The audit of nodes alone, over an honest round whose samples are dealt to two nodes: who is blamed, and who is not. */
import { beforeAll, describe, expect, test } from 'vitest';
import { checkNodeSeals, closeSamples, redrawNodes } from '../../core/audit/audit-nodes.ts';
import { type RoundRecord, redrawRound } from '../../core/audit/audit-round.ts';
import { mayBeByChance } from '../../core/audit/chance.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import {
  completionsSha256,
  identityOf,
  makeNodeKeys,
  type NodeIdentity,
} from '../../core/audit/work-seal.ts';
import { deriveId } from '../../core/random.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { CLOSE, type RoundWork } from '../../core/schema/work.ts';
import { type HonestRound, playHonestRound } from '../trust/honest-round.ts';

const WEIGHTS = '5'.repeat(64);
const NONE: ReadonlySet<string | null> = new Set();

let honest: HonestRound;
let solver: NodeIdentity;
let judge: NodeIdentity;
let nodes: RoundWork['nodes'];
let settings: RoundWork['work'][number]['settings'];
beforeAll(async () => {
  honest = await playHonestRound(1, 4, 2);

  settings = { maxNew: 32, temperature: 1, stop: [honest.tools.tokenizer.id(honest.record.recipe.stop!)] };
  nodes = [];
  const identities: NodeIdentity[] = [];
  for (const name of ['solver', 'judge']) {
    const id = deriveId('test node', name);
    const { token, publicKey } = await makeNodeKeys(id);
    nodes.push({ id, name, exactness: 'exact', publicKey, audited: 1_000_000 });
    identities.push(await identityOf(token));
  }
  [solver, judge] = identities as [NodeIdentity, NodeIdentity];
});

async function answered(
  by: NodeIdentity,
  stage: 'propose' | 'rollout' | 'judge',
  group: string | null,
  samples: readonly Sample[],
): Promise<RoundWork['work'][number]> {
  const id = deriveId('request', stage, group ?? '');
  const lease = deriveId('lease', id);
  const sha256 = await completionsSha256(samples);
  const seal = await by.seal({ work: id, lease, weights: WEIGHTS, sha256 });
  return {
    id,
    node: by.node,
    lease,
    stage,
    group,
    samples: samples.map((one) => one.id),
    settings,
    weights: WEIGHTS,
    sha256,
    seal,
  };
}

/** One node proposed and solved, the other judged, as the record says. */
async function workOf({ proposals, groups }: RoundRecord): Promise<RoundWork> {
  const work = [await answered(solver, 'propose', null, proposals.samples)];
  for (const { group, samples, judgments } of groups) {
    work.push(await answered(solver, 'rollout', group, samples));
    if (judgments.length) work.push(await answered(judge, 'judge', group, judgments));
  }
  return { nodes, work };
}

/** The record with one bit of one log-probability changed: of a solution, or of a judgment. */
function withOneBit(
  record: RoundRecord,
  part: 'samples' | 'judgments',
): { record: RoundRecord; group: string } {
  const at = record.groups.findIndex((group) => group[part].length > 0);
  const groups = record.groups.map((group, i) =>
    i === at
      ? {
          ...group,
          [part]: group[part].map((sample, j) =>
            j === 0
              ? { ...sample, logprobs: sample.logprobs.with(0, sample.logprobs[0]! - 2 ** -20) }
              : sample,
          ),
        }
      : group,
  );
  return { record: { ...record, groups }, group: record.groups[at]!.group };
}

test('honest nodes: every seal holds, and everything that is drawn is right', async () => {
  const { record, tools } = honest;
  const work = await workOf(record);
  const ledger = new AuditLedger();
  await checkNodeSeals(ledger, record, work);
  expect(ledger.checked('seal')).toBe(work.work.length);
  expect(ledger.findings).toEqual([]);
  const all = await redrawNodes(record, tools, work, 1, 'seed', NONE);
  expect(all.wrong).toEqual([]);
  expect(all.right[solver.node]).toBe(1 + record.groups.length);
  // However small the share, of each node something is drawn.
  const few = await redrawNodes(record, tools, work, 0.001, 'seed', NONE);
  expect(few).toEqual({ right: { [solver.node]: 1, [judge.node]: 1 }, wrong: [], mismatch: {} });
});

test.each([
  { part: 'samples', guilty: 'solver', innocent: 'judge' },
  { part: 'judgments', guilty: 'judge', innocent: 'solver' },
] as const)(
  'one bit in the $part: $guilty is blamed and $innocent is not',
  async ({ part, guilty, innocent }) => {
    const { record, group } = withOneBit(honest.record, part);
    const work = await workOf(record);
    const { right, wrong } = await redrawNodes(record, honest.tools, work, 1, 'seed', NONE);
    expect(wrong.map(({ name }) => name)).toEqual([guilty]);
    expect(wrong[0]!.finding).toMatchObject({ class: 'log-probability', group });
    expect(Object.keys(right)).toEqual([nodes.find(({ name }) => name === innocent)!.id]);
    // A group in which something differed is drawn whatever the share, so that the node that did it is found.
    const suspected = await redrawNodes(record, honest.tools, work, 0.001, 'another seed', new Set([group]));
    expect(suspected.wrong.map(({ name }) => name)).toEqual([guilty]);
  },
);

test('a record that is changed after the node sealed it breaks the seal of that request alone', async () => {
  const work = await workOf(honest.record);
  const { record, group } = withOneBit(honest.record, 'samples');
  const ledger = new AuditLedger();
  await checkNodeSeals(ledger, record, work);
  expect(ledger.findings.map((finding) => [finding.class, finding.group])).toEqual([['seal', group]]);
  // Nor does a seal hold under another node's key.
  const swapped = {
    ...work,
    nodes: nodes.map((node, i) => ({ ...node, publicKey: nodes[1 - i]!.publicKey })),
  };
  const other = new AuditLedger();
  await checkNodeSeals(other, honest.record, swapped);
  expect(other.differing('seal')).toBe(work.work.length);
});

/** The record with the log-probabilities of the solutions changed, as the engine of a close solver would. */
const withLogprobs = (
  record: RoundRecord,
  change: (logprob: number, token: number) => number,
): RoundRecord => ({
  ...record,
  groups: record.groups.map((group) => ({
    ...group,
    samples: group.samples.map((sample) => ({ ...sample, logprobs: sample.logprobs.map(change) })),
  })),
});

describe('a close solver', () => {
  const isClose = ({ nodes, work }: RoundWork): RoundWork => ({
    nodes: nodes.map((node) => (node.name === 'solver' ? { ...node, exactness: 'close' } : node)),
    work,
  });
  const audited = async (record: RoundRecord) =>
    redrawNodes(record, honest.tools, isClose(await workOf(record)), 1, 'seed', NONE);

  test('that is off in the third digit is right, and how far it is off is told', async () => {
    const record = withLogprobs(honest.record, (x) => Math.min(0, x - 1e-3));
    const { right, wrong, mismatch } = await audited(record);
    expect(wrong).toEqual([]);
    expect(right[solver.node]).toBe(1 + record.groups.length);
    expect(Object.keys(mismatch)).toEqual([solver.node]);
    const { tokens, sum, most } = mismatch[solver.node]!;
    const counted = [...record.proposals.samples, ...record.groups.flatMap(({ samples }) => samples)];
    expect(tokens).toBe(counted.reduce((n, { ids }) => n + ids.length, 0));
    // Half the draws compared are the mesh's own; what the node did to its log-probabilities does not concern how it drew.
    expect(mismatch[solver.node]!.squares).toBeGreaterThan(0);
    expect(mayBeByChance(mismatch[solver.node]!)).toBe(true);
    // The proposals were exact; scoring and sampling come within rounding of one another.
    const solved = record.groups.flatMap(({ samples }) => samples).reduce((n, { ids }) => n + ids.length, 0);
    expect(sum).toBeCloseTo(1e-3 * solved, 2);
    expect(most).toBeGreaterThan(0.9e-3);
    expect(most).toBeLessThan(2e-3);
  });

  test.each([
    ['on average', (x: number) => x - 2 * CLOSE.mean],
    ['at one token', (x: number, token: number) => (token === 0 ? x - 1.2 * CLOSE.most : x)],
  ])('that is too far off %s is found', async (_, change) => {
    const { right, wrong, mismatch } = await audited(withLogprobs(honest.record, change));
    expect(wrong.map(({ name, finding }) => [name, finding.class])).toEqual([['solver', 'log-probability']]);
    expect(right[solver.node]).toBeUndefined();
    expect(mismatch[solver.node]!.tokens).toBeGreaterThan(0);
  });

  test('that writes other tokens than it scored is found', async () => {
    const [first] = honest.record.groups.filter(({ samples }) => samples.length > 0);
    const groups = honest.record.groups.map((group) => ({
      ...group,
      samples: group.samples.map((sample) =>
        group === first
          ? { ...sample, ids: sample.ids.map((id, i) => (i === 1 ? (id + 1) % 8 : id)) }
          : sample,
      ),
    }));
    const { wrong } = await audited({ ...honest.record, groups });
    expect(wrong.map(({ finding }) => finding.group)).toEqual([first!.group]);
  });

  test('is not asked for the same bits when groups are drawn again, and everybody else is', async () => {
    const record = withLogprobs(honest.record, (x) => Math.min(0, x - 1e-3));
    const work = isClose(await workOf(record));
    const bitwise = new AuditLedger();
    await redrawRound(bitwise, record, honest.tools, 1, 'seed');
    expect(bitwise.differing('log-probability')).toBeGreaterThan(0);
    const ledger = new AuditLedger();
    await redrawRound(ledger, record, honest.tools, 1, 'seed', closeSamples(work));
    expect(ledger.findings).toEqual([]);
    const judged = new AuditLedger();
    const forged = withOneBit(record, 'judgments');
    await redrawRound(judged, forged.record, honest.tools, 1, 'seed', closeSamples(work));
    expect(judged.findings.map((finding) => finding.group)).toEqual([forged.group]);
  });
});

test('a token is refused unless it is one', async () => {
  for (const text of ['', 'none', `${'0'.repeat(32)}.${'0'.repeat(63)}`])
    await expect(identityOf(text)).rejects.toMatchObject({ code: 'node.token' });
});
