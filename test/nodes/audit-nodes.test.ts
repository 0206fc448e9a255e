/** The audit of nodes alone, over an honest round whose samples are dealt to two nodes: who is blamed, and who is not. */
import { beforeAll, expect, test } from 'vitest';
import { checkNodeSeals, redrawNodes } from '../../core/audit/audit-nodes.ts';
import type { RoundRecord } from '../../core/audit/audit-round.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import { deriveId } from '../../core/random.ts';
import type { Sample } from '../../core/schema/sample.ts';
import type { RoundWork } from '../../core/schema/work.ts';
import { completionsSha256, identityOf, makeNodeKeys, type NodeIdentity } from '../../core/work-seal.ts';
import { type HonestRound, playHonestRound } from '../trust/honest-round.ts';

const WEIGHTS = '5'.repeat(64);
const NONE: ReadonlySet<string | null> = new Set();

let honest: HonestRound;
let solver: NodeIdentity;
let judge: NodeIdentity;
let nodes: RoundWork['nodes'];
beforeAll(async () => {
  honest = await playHonestRound(1, 4, 2);
  nodes = [];
  const identities: NodeIdentity[] = [];
  for (const name of ['solver', 'judge']) {
    const id = deriveId('test node', name);
    const { token, publicKey } = await makeNodeKeys(id);
    nodes.push({ id, name, publicKey });
    identities.push(await identityOf(token));
  }
  [solver, judge] = identities as [NodeIdentity, NodeIdentity];
}, 120_000);

async function answered(
  by: NodeIdentity,
  stage: 'propose' | 'rollout' | 'judge',
  group: string | null,
  samples: readonly Sample[],
): Promise<RoundWork['work'][number]> {
  const id = deriveId('request', stage, group ?? '');
  const lease = deriveId('lease', id);
  const sha256 = completionsSha256(samples);
  const seal = await by.seal({ work: id, lease, weights: WEIGHTS, sha256 });
  return {
    id,
    node: by.node,
    lease,
    stage,
    group,
    samples: samples.map((one) => one.id),
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
  expect(few).toEqual({ right: { [solver.node]: 1, [judge.node]: 1 }, wrong: [] });
}, 120_000);

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
  120_000,
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

test('a token is refused unless it is one', async () => {
  for (const text of ['', 'none', `${'0'.repeat(32)}.${'0'.repeat(63)}`])
    await expect(identityOf(text)).rejects.toMatchObject({ code: 'node.token' });
});
