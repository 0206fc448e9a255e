/**
 * The audit before training. Every record of the round is checked by running the roles' functions over it again, and a share of the
 * groups and proposals is sampled again from the versions that the round names. A group that differs is refused with the reason; the
 * rest is trained.
 */
import { randomBytes } from 'node:crypto';
import type { GatewayClient } from '../../api/gateway-client.ts';
import { checkNodeSeals, closeSamples, type NodeAudit, redrawNodes } from '../../core/audit/audit-nodes.ts';
import { redrawRound, rereadRound } from '../../core/audit/audit-round.ts';
import { AuditLedger, type Finding } from '../../core/audit/findings.ts';
import { RollmeshError } from '../../core/errors.ts';
import { deriveId } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe.ts';
import { type Gathered, refuseRound } from './gather.ts';
import type { GroupFailure, RoundState } from './ports.ts';
import { withRoundPolicies } from './round-policies.ts';

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
  const secret = randomBytes(32).toString('hex');
  return { fraction, seedOf: (round) => deriveId('audit draw', secret, round) };
}

type NodeGateway = Pick<GatewayClient, 'getRoundWork' | 'noteAudited' | 'shutOutNode'>;

export async function auditGathered(
  versions: Pick<GatewayClient, 'getVersion'>,
  gateway: NodeGateway,
  recipe: Recipe,
  round: RoundState,
  gathered: Gathered,
  { fraction, seedOf }: AuditSettings,
): Promise<Gathered> {
  if (!gathered.groups.length) return gathered;
  const { spec } = round;
  const ledger = new AuditLedger();
  const record = { recipe, round: spec, ...gathered };
  const work = await gateway.getRoundWork(spec.id);
  try {
    const nodes = await withRoundPolicies(versions, round, async (tools) => {
      await rereadRound(ledger, record, tools);
      await redrawRound(ledger, record, tools, fraction, seedOf(spec.id), closeSamples(work));
      await checkNodeSeals(ledger, record, work);
      return redrawNodes(record, tools, work, fraction, seedOf(spec.id), suspectsOf(ledger));
    });
    await settleNodes(gateway, nodes);
  } catch (error) {
    if (!(error instanceof RollmeshError) || error.code !== 'version.manifest') throw error;
    const { kind, code, message } = error;
    return refuseRound(gathered, spec.id, { kind, code, message: message.slice(0, 500) });
  }
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
  return wrong ? refuseRound(audited, spec.id, failureOf(wrong)) : audited;
}

/** The groups in which something that was sampled is wrong; null for the proposals. */
const suspectsOf = ({ findings }: AuditLedger): ReadonlySet<string | null> =>
  new Set(
    findings.flatMap((finding) =>
      finding.class === 'token' || finding.class === 'log-probability' ? [finding.group] : [],
    ),
  );

/**
 * Notes which nodes were right. Shuts out those that were not; the mesh then samples again what they had a part in, and the round comes back.
 *
 * @throws RollmeshError `node.shut-out` of kind `retry` where there was one
 */
async function settleNodes(gateway: NodeGateway, { right, wrong, mismatch }: NodeAudit): Promise<void> {
  if (Object.keys(right).length || Object.keys(mismatch).length)
    await gateway.noteAudited({ nodes: right, mismatch });
  const told: string[] = [];
  for (const { node, name, finding } of wrong) {
    const { groups } = await gateway.shutOutNode(
      node,
      `audit.${finding.class}: ${finding.message} Sample ${finding.sample}.`,
    );
    told.push(
      `Node ${name} is shut out, and ${groups || 'all'} groups are sampled again: ${finding.message}`,
    );
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
