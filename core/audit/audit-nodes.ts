/**
 * The audit of nodes: of the requests that each node answered, a share is sampled again from the trusted policies, at least one a node and
 * round. Everything else is played back, so that a sample is drawn from exactly the prompt that the node was given, and what differs is
 * that node's doing alone. What close nodes answered is scored again instead (score-again.ts). Pure: policies and work come as arguments.
 */
import { bringImages } from '../images/shown.ts';
import type { RoundContext } from '../recipe/round-context.ts';
import { openRoundContext } from '../recipe/round-context.ts';
import type { Sample } from '../schema/sample.ts';
import { type Mismatch, NO_MISMATCH, type RoundWork } from '../schema/work.ts';
import { type AuditTools, drawShare, type RoundRecord } from './audit-round.ts';
import { AuditLedger, compareSample, type Finding } from './findings.ts';
import { episodesOfRecord } from './recorded-episodes.ts';
import { playedRound, recordedPolicy } from './recorded-policy.ts';
import { addMismatch, scoreAgain } from './score-again.ts';
import { completionsSha256, isSealed } from './work-seal.ts';

type Answered = RoundWork['work'][number];

const samplesOf = (record: RoundRecord): ReadonlyMap<string, Sample> =>
  new Map(playedRound(record).samples.map((sample) => [sample.id, sample]));

/**
 * Checks that the record holds what its nodes sealed. Where it does not, somebody changed it after the node returned it: the group is
 * refused, and the node is not to blame. Samples that are not in the record cannot be checked.
 */
export async function checkNodeSeals(
  ledger: AuditLedger,
  record: RoundRecord,
  { nodes, work }: RoundWork,
): Promise<void> {
  const recorded = samplesOf(record);
  const keyOf = new Map(nodes.map(({ id, publicKey }) => [id, publicKey]));
  for (const { id, node, lease, group, samples, weights, sha256, seal } of work) {
    const own = samples.map((sample) => recorded.get(sample));
    if (!own.every((sample) => sample !== undefined)) continue;
    const found = await completionsSha256(own);
    const right =
      found === sha256 &&
      (await isSealed(keyOf.get(node)!, seal, { work: id, lease, node, weights, sha256 }));
    ledger.check(
      right,
      { class: 'seal', group, sample: samples[0] ?? null },
      () => 'What is recorded is not what its node sealed.',
    );
  }
}

/** The requests of a round that close nodes answered. */
function closeWork({ nodes, work }: RoundWork): Answered[] {
  const close = new Set(nodes.filter(({ exactness }) => exactness === 'close').map(({ id }) => id));
  return work.filter(({ node }) => close.has(node));
}

/** Ids of the samples of a round that close nodes answered: nobody else comes to the same bits. */
export const closeSamples = (work: RoundWork): ReadonlySet<string> =>
  new Set(closeWork(work).flatMap(({ samples }) => samples));

/** What an audit finds of a round's close nodes together. */
export interface CloseAudit {
  /** Samples that close nodes answered. */
  readonly samples: number;
  /** How far those that were scored again were from the trusted policies. */
  readonly mismatch: Mismatch;
}

/** Scores a share of what close nodes answered again, and notes a request that is out of bounds. Null where there were no close nodes. */
export async function rescoreClose(
  ledger: AuditLedger,
  record: RoundRecord,
  tools: AuditTools,
  work: RoundWork,
  fraction: number,
  seed: string,
): Promise<CloseAudit | null> {
  const close = closeWork(work).sort((a, b) => (a.id < b.id ? -1 : 1));
  if (!close.length) return null;
  const recorded = samplesOf(record);
  let total: Mismatch = NO_MISMATCH;
  for (const request of drawShare(close, fraction, `${seed}/close`)) {
    const { mismatch, finding } = await scoreAgain(tools.use, [request], (id) => recorded.get(id), seed);
    total = addMismatch(total, mismatch);
    const { group, samples } = request;
    ledger.check(
      finding === null,
      { class: 'log-probability', group, sample: finding?.sample ?? samples[0] ?? null },
      () => finding!.message,
    );
  }
  return { samples: close.reduce((sum, { samples }) => sum + samples.length, 0), mismatch: total };
}

export interface NodeFinding {
  readonly node: string;
  readonly name: string;
  readonly finding: Finding;
}

export interface NodeAudit {
  /** Requests of each node that were sampled or scored again and found right. */
  readonly right: Readonly<Record<string, number>>;
  /** Of each close node, how far its log-probabilities and its draws were from those of the trusted policies. */
  readonly mismatch: Readonly<Record<string, Mismatch>>;
  /** The first difference of each node that has one. */
  readonly wrong: readonly NodeFinding[];
}

/**
 * The share of a node's requests that is drawn, which makes lies cost more than they bring. A request that is made up saves its computation, which is
 * counted as 1, and a node that is found loses all that it was credited, at least the requests that were found right, r. So one lie brings
 * (1 − s) − s·r on average, which is below 0 where s > 1 / (1 + r); and of k lies in a round, k·(1 − s)^k − (1 − (1 − s)^k)·r is, too, where s·r ≥ 1.
 * s = 2 / (2 + r) is both from r = 2 on, and below that the first holds for every k. docs/trust.md has the table.
 *
 * `fraction`: the least share; `right`: r.
 */
export const shareOf = (fraction: number, right: number): number =>
  Math.min(1, Math.max(fraction, 2 / (2 + right)));

/** `suspects`: groups, null for proposals, of which all requests are sampled again, because something in them differed. */
export async function redrawNodes(
  record: RoundRecord,
  tools: AuditTools,
  { nodes, work }: RoundWork,
  fraction: number,
  seed: string,
  suspects: ReadonlySet<string | null>,
): Promise<NodeAudit> {
  const here = new Set<string | null>([null, ...record.groups.map(({ group }) => group)]);
  const right: Record<string, number> = {};
  const mismatch: Record<string, Mismatch> = {};
  const wrong: NodeFinding[] = [];
  for (const node of nodes) {
    const { id, name } = node;
    const own = work
      .filter((answered) => answered.node === id && here.has(answered.group))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const drawn = new Set([
      ...drawShare(own, shareOf(fraction, node.audited), `${seed}/node/${id}`),
      ...own.filter(({ group }) => suspects.has(group)),
    ]);
    if (!drawn.size) continue;
    const { finding, mismatch: of } = await redrawRequests(record, tools, node, [...drawn], seed);
    if (of) mismatch[id] = of;
    if (finding) wrong.push({ node: id, name, finding });
    else right[id] = drawn.size;
  }
  return { right, wrong, mismatch };
}

/** Samples some requests of a node again, or scores them again if it is a close one. `finding`: the first difference; null = all are right. */
export async function redrawRequests(
  record: RoundRecord,
  tools: AuditTools,
  { exactness }: Pick<RoundWork['nodes'][number], 'exactness'>,
  requests: readonly Answered[],
  seed: string,
): Promise<{ readonly finding: Finding | null; readonly mismatch?: Mismatch }> {
  if (exactness === 'exact') return { finding: await redrawn(record, tools, requests) };
  const recorded = samplesOf(record);
  const prompts = requests.flatMap(({ samples }) => samples.map((id) => recorded.get(id)?.prompt ?? []));
  if (tools.readStored) await bringImages(prompts, { read: tools.readStored });
  return scoreAgain(tools.use, requests, (id) => recorded.get(id), seed);
}

/** The first difference in some requests of one node; null where all are right. */
async function redrawn(
  record: RoundRecord,
  tools: AuditTools,
  drawn: readonly Answered[],
): Promise<Finding | null> {
  const { recipe, round, proposals, groups } = record;
  const ids = new Set(drawn.flatMap(({ samples }) => samples));
  const recorded = samplesOf(record);
  const played = playedRound(record);
  const context: RoundContext = openRoundContext({
    recipe,
    round,
    ...tools,
    episodes: episodesOfRecord(record),
    use: (ref, work) => tools.use(ref, (live) => work(recordedPolicy(ref, played, { ids, live }))),
  });
  const again: Sample[] = [];
  if (drawn.some(({ group }) => group === null)) again.push(...(await recipe.propose(context)).samples);
  const wanted = new Set(drawn.map(({ group }) => group));
  const tasks = groups.flatMap(({ group }) =>
    wanted.has(group) ? proposals.tasks.filter((task) => task.group === group) : [],
  );
  if (tasks.length)
    for (const scored of await recipe.judge(context, await recipe.rollOut(context, tasks)))
      again.push(...scored.samples, ...scored.judgments);
  const ledger = new AuditLedger();
  const groupOf = new Map(drawn.flatMap(({ group, samples }) => samples.map((sample) => [sample, group])));
  for (const sample of again)
    if (ids.has(sample.id))
      compareSample(ledger, 'model', groupOf.get(sample.id) ?? null, recorded.get(sample.id), sample);
  return ledger.findings[0] ?? null;
}
