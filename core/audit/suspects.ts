/**
 * Which samples the learner's own log-probabilities make suspect. Before its first step the learner scores every sample that it trains. What
 * differs most from the record is sampled again, so that a lie in one token of one result is found in the round in which it was told.
 * How far apart the two are decides only what is sampled again; whether it is wrong, the exact engine says.
 */
import type { RoundWork } from '../schema/work.ts';
import { closeSamples, type NodeFinding, redrawRequests } from './audit-nodes.ts';
import { type AuditTools, type RoundRecord, redrawGroups, redrawProposals } from './audit-round.ts';
import type { AuditLedger } from './findings.ts';

/** How far a sample's recorded log-probabilities are from those of the learner, nats. */
export interface Apart {
  readonly sample: string;
  /** The most that one is below the learner's, and the most that one is above it; 0 = none is. */
  readonly below: number;
  readonly above: number;
}

/**
 * What the learner's engine and the samplers' may differ by at a token, nats. By less than this a lie changes the weight of a token by less than
 * a hundredth, and is left to the share that is drawn by chance.
 */
const NOISE = 0.01;

/** The differences of a sample's recorded log-probabilities from the learner's, at the tokens that are trained. */
export function apart(
  sample: string,
  recorded: readonly number[],
  learner: ArrayLike<number>,
  mask?: readonly number[],
): Apart {
  let below = 0;
  let above = 0;
  for (const [t, logprob] of recorded.entries()) {
    if (mask?.[t] === 0) continue;
    const by = logprob - learner[t]!;
    // What is no number is as far away as can be.
    if (!(by >= -below)) below = Number.isNaN(by) ? Number.POSITIVE_INFINITY : -by;
    if (by > above) above = by;
  }
  return { sample, below, above };
}

/** Is it farther apart than two engines are? */
export const isSuspect = ({ below, above }: Apart): boolean => Math.max(below, above) > NOISE;

/** The farthest below and the farthest above; what is within the noise is not among them. */
function farthest(samples: readonly Apart[]): string[] {
  const most = (of: 'below' | 'above') =>
    samples.reduce<Apart | undefined>(
      (most, one) => (one[of] > (most?.[of] ?? NOISE) ? one : most),
      undefined,
    );
  return [...new Set([most('below'), most('above')].flatMap((one) => one?.sample ?? []))];
}

/**
 * Samples again what is farthest apart: of each node the requests that hold its two farthest samples, and of what no node answered the two farthest
 * groups or proposals, and the next ones as long as what is drawn is wrong. What is wrong with those goes to the ledger.
 *
 * @returns the first difference of each node that has one
 */
export async function redrawFarthest(
  ledger: AuditLedger,
  record: RoundRecord,
  tools: AuditTools,
  work: RoundWork,
  samples: readonly Apart[],
  seed: string,
): Promise<readonly NodeFinding[]> {
  const requestOf = new Map(
    work.work.flatMap((request) => request.samples.map((id) => [id, request] as const)),
  );
  const groupOf = new Map<string, string | null>([
    ...record.proposals.samples.map(({ id }) => [id, null] as const),
    ...record.groups.flatMap(({ group, samples, judgments }) =>
      [...samples, ...judgments].map(({ id }) => [id, group] as const),
    ),
  ]);
  const wrong: NodeFinding[] = [];
  for (const node of work.nodes) {
    const own = samples.filter(({ sample }) => requestOf.get(sample)?.node === node.id);
    const requests = new Set(farthest(own).map((sample) => requestOf.get(sample)!));
    if (!requests.size) continue;
    const { finding } = await redrawRequests(record, tools, node, [...requests], seed);
    if (finding) wrong.push({ node: node.id, name: node.name, finding });
  }
  let left = samples.filter(({ sample }) => !requestOf.has(sample) && groupOf.has(sample));
  for (;;) {
    const drawn = farthest(left);
    if (!drawn.length) return wrong;
    const groups = new Set(drawn.map((sample) => groupOf.get(sample)!));
    const before = ledger.findings.length;
    const proposals = record.proposals.samples.filter(({ id }) => drawn.includes(id));
    await redrawProposals(ledger, record, tools, proposals);
    const own = record.groups.filter(({ group }) => groups.has(group));
    await redrawGroups(ledger, record, tools, own, closeSamples(work));
    if (ledger.findings.length === before) return wrong;
    left = left.filter(({ sample }) => !groups.has(groupOf.get(sample)!));
  }
}
