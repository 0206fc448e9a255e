/**
 * Audits a round before it is trained. Every record of the round is checked by running the roles' functions over it again, and a share of the
 * groups and proposals is sampled again from the versions that the round names. A group that differs is refused with the reason; the
 * rest is trained.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import { checkNodeSeals, closeSamples, type NodeAudit, redrawNodes } from '../../core/audit/audit-nodes.ts';
import { redrawRound, rereadRound } from '../../core/audit/audit-round.ts';
import { deviationOf, mayBeByChance } from '../../core/audit/chance.ts';
import { AuditLedger, type Finding } from '../../core/audit/findings.ts';
import { type Apart, isSuspect, redrawFarthest } from '../../core/audit/suspects.ts';
import { RollmeshError } from '../../core/errors.ts';
import { deriveId } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { Mismatch, RoundWork } from '../../core/schema/work.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { type Gathered, refuseRound } from './gather.ts';
import type { GroupFailure, RoundState } from './ports.ts';
import { type Versions, withRoundPolicies } from './round-policies.ts';

export interface AuditSettings {
  /** Share of groups and proposals that are sampled again, 0 to 1. The records of all of them are checked without a model. */
  readonly fraction: number;
  /**
   * The seed that decides which groups and proposals of a round are sampled again. The version's manifest publishes it once the round
   * is trained; it reveals nothing about the seed of any other round.
   */
  readonly seedOf: (round: string) => string;
}

/**
 * An audit whose choice of groups nobody else can know beforehand: its secret is made here, at random, and is kept by this process
 * alone. MESH_KEY cannot serve as the secret, because the judge holds it and could forge only groups that will not be sampled again.
 */
export function openAudit(fraction: number): AuditSettings {
  const secret = bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
  return { fraction, seedOf: (round) => deriveId('audit draw', secret, round) };
}

type NodeGateway = Pick<GatewayClient, 'noteAudited' | 'shutOutNode'>;

/** An audit whose findings about nodes the mesh has not been told yet. */
export interface Audited {
  /** What may be trained on, and what was refused. */
  readonly gathered: Gathered;
  /** Null where there was nothing to find out about nodes. */
  readonly nodes: { readonly work: RoundWork; readonly found: NodeAudit } | null;
}

/** Audits a round's records. It changes nothing, in the mesh or elsewhere. */
export async function auditRecords(
  versions: Versions,
  gateway: Pick<GatewayClient, 'getRoundWork'>,
  recipe: Recipe,
  round: RoundState,
  gathered: Gathered,
  { fraction, seedOf }: AuditSettings,
): Promise<Audited> {
  if (!gathered.groups.length) return { gathered, nodes: null };
  const { spec } = round;
  const ledger = new AuditLedger();
  const record = { recipe, round: spec, ...gathered };
  const work = await gateway.getRoundWork(spec.id);
  let found: NodeAudit;
  try {
    found = await withRoundPolicies(versions, round, async (tools) => {
      await rereadRound(ledger, record, tools);
      await redrawRound(ledger, record, tools, fraction, seedOf(spec.id), closeSamples(work));
      await checkNodeSeals(ledger, record, work);
      return redrawNodes(record, tools, work, fraction, seedOf(spec.id), suspectsOf(ledger));
    });
  } catch (error) {
    if (!(error instanceof RollmeshError) || error.code !== 'version.manifest') throw error;
    const { kind, code, message } = error;
    const why: GroupFailure = { kind, code, message: message.slice(0, 500) };
    return { gathered: refuseRound(gathered, spec.id, why), nodes: null };
  }
  return { gathered: withoutDiffering(ledger, spec.id, gathered), nodes: { work, found } };
}

/**
 * Samples again what of a round's records differs most from the learner's own log-probabilities, and tells the mesh what that says of nodes.
 *
 * @returns what may be trained on
 * @throws RollmeshError what `settleAudit` throws
 */
export async function auditSuspects(
  versions: Versions,
  gateway: NodeGateway & Pick<GatewayClient, 'getRoundWork'>,
  recipe: Recipe,
  round: RoundState,
  gathered: Gathered,
  samples: readonly Apart[],
  { seedOf }: AuditSettings,
): Promise<Gathered> {
  if (!samples.some(isSuspect)) return gathered;
  const { spec } = round;
  const ledger = new AuditLedger();
  const record = { recipe, round: spec, ...gathered };
  const work = await gateway.getRoundWork(spec.id);
  const wrong = await withRoundPolicies(versions, round, (tools) =>
    redrawFarthest(ledger, record, tools, work, samples, seedOf(spec.id)),
  );
  await settleNodes(gateway, spec.id, work, { right: {}, mismatch: {}, wrong });
  return withoutDiffering(ledger, spec.id, gathered);
}

/** Tells the mesh what an audit found of nodes. Returns what may be trained on; throws what `settleNodes` throws. */
export async function settleAudit(
  gateway: NodeGateway,
  round: string,
  { gathered, nodes }: Audited,
): Promise<Gathered> {
  if (nodes) await settleNodes(gateway, round, nodes.work, nodes.found);
  return gathered;
}

/** Refuses the groups in which the audit found something, or the whole round if it is in the proposals. */
function withoutDiffering(ledger: AuditLedger, round: string, gathered: Gathered): Gathered {
  const found = ledger.byGroup();
  const audited = {
    proposals: gathered.proposals,
    groups: gathered.groups.filter(({ group }) => !found.has(group)),
    refused: [
      ...gathered.refused,
      ...gathered.groups.flatMap(({ group }) => {
        const findings = found.get(group);
        return findings ? [{ group, failure: failureOf(findings) }] : [];
      }),
    ],
  };
  const wrong = found.get(null);
  return wrong ? refuseRound(audited, round, failureOf(wrong)) : audited;
}

/** The groups in which something that was sampled is wrong; null for the proposals. */
const suspectsOf = ({ findings }: AuditLedger): ReadonlySet<string | null> =>
  new Set(
    findings.flatMap((finding) =>
      finding.class === 'token' || finding.class === 'log-probability' ? [finding.group] : [],
    ),
  );

/** What is wrong with a node's draws in all rounds together; null = they may be by chance. */
function biasOf(sums: Mismatch): string | null {
  if (mayBeByChance(sums)) return null;
  const which =
    sums.drift > 0 ? 'likelier, as at a lower temperature' : 'less likely, as at a higher temperature';
  return `Over ${sums.tokens} tokens it does not draw as the policy does: its tokens are ${which} (${deviationOf(sums).toPrecision(3)} standard deviations).`;
}

/**
 * Notes which nodes were right. Shuts out those that were not; the mesh then samples again what they had a part in, and the round comes back.
 *
 * @throws RollmeshError `node.shut-out` of kind `retry` where there was one
 */
async function settleNodes(
  gateway: NodeGateway,
  round: string,
  { nodes }: RoundWork,
  { right, wrong, mismatch }: NodeAudit,
): Promise<void> {
  const found = new Map(
    wrong.map(({ node, finding }) => [
      node,
      {
        message: finding.message,
        reason: `audit.${finding.class}: ${finding.message} Sample ${finding.sample} of ${finding.group === null ? 'the proposals' : `group ${finding.group}`} in round ${round}.`,
      },
    ]),
  );
  if (Object.keys(right).length || Object.keys(mismatch).length)
    for (const [node, sums] of Object.entries(await gateway.noteAudited({ round, nodes: right, mismatch }))) {
      const message = biasOf(sums);
      if (message !== null && !found.has(node))
        found.set(node, { message, reason: `audit.chance: ${message}` });
    }
  const told: string[] = [];
  for (const [node, { message, reason }] of found) {
    const { groups } = await gateway.shutOutNode(node, reason);
    const name = nodes.find(({ id }) => id === node)!.name;
    told.push(`Node ${name} is shut out, and ${groups || 'all'} groups are sampled again: ${message}`);
  }
  if (told.length) throw new RollmeshError('retry', 'node.shut-out', told.join(' '));
}

function failureOf(findings: readonly Finding[]): GroupFailure {
  const [first] = findings as [Finding, ...Finding[]];
  const more = findings.length > 1 ? ` And ${findings.length - 1} more.` : '';
  const sample = first.sample ? ` Sample ${first.sample}.` : '';
  return {
    kind: 'give-up',
    code: `audit.${first.class}`,
    message: `${first.message}${sample}${more}`.slice(0, 500),
  };
}
