/**
 * The audit before training: every record of the round is read again, and a share of it is drawn again by the versions that
 * the round names. What differs is refused by name; the rest is trained.
 */

import type { GatewayClient } from '../../api/gateway-client.ts';
import { redrawRound, rereadRound } from '../../core/audit/audit-round.ts';
import { AuditLedger, type Finding } from '../../core/audit/findings.ts';
import type { Recipe } from '../../core/recipe.ts';
import type { Gathered } from './gather.ts';
import type { GroupFailure, RoundState } from './ports.ts';
import { withRoundPolicies } from './round-policies.ts';

export interface AuditSettings {
  /** Share of groups and proposals that are drawn again, 0 to 1; all of them are read again. */
  readonly fraction: number;
  /** Secret, so that nobody who forges can know which groups will be drawn again. */
  readonly secret: string;
}

export async function auditGathered(
  gateway: Pick<GatewayClient, 'getVersion'>,
  recipe: Recipe,
  { spec }: RoundState,
  gathered: Gathered,
  { fraction, secret }: AuditSettings,
): Promise<Gathered> {
  // Without proposals there is nothing to hold groups against: the mesh's own list of groups is what they were checked by.
  if (gathered.proposalsRefused) return gathered;
  const ledger = new AuditLedger();
  const record = { recipe, round: spec, ...gathered };
  await withRoundPolicies(gateway, spec, async (tools) => {
    await rereadRound(ledger, record, tools);
    await redrawRound(ledger, record, tools, fraction, `${secret}/${spec.id}`);
  });
  const found = ledger.byGroup();
  const wrong = found.get(null);
  return {
    proposals: wrong ? { round: spec.id, samples: [], tasks: [] } : gathered.proposals,
    proposalsRefused: wrong ? failureOf(wrong) : null,
    groups: gathered.groups.filter(({ group }) => !found.has(group)),
    refused: [
      ...gathered.refused,
      ...gathered.groups.flatMap(({ group }) => {
        const findings = found.get(group);
        return findings ? [{ group, failure: failureOf(findings) }] : [];
      }),
    ],
  };
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
