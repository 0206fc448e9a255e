/** Audits one round of a mesh: reads its records and returns the findings. It writes nothing and changes nothing. */

import { type CloseAudit, closeSamples, rescoreClose } from '../../core/audit/audit-nodes.ts';
import { redrawRound, rereadRound } from '../../core/audit/audit-round.ts';
import { checkEarnings } from '../../core/audit/earnings.ts';
import { AUDIT_CLASSES, type AuditClass, AuditLedger, type Finding } from '../../core/audit/findings.ts';
import { proposalOutcomes } from '../../core/episodes/play-episodes.ts';
import { RollmeshError } from '../../core/errors.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import { noRenderer } from '../../core/recipe/round-context.ts';
import { withRoundPolicies } from '../../learner/loop/round-policies.ts';
import { wrongRound } from '../../recipes/run-order.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { type ReadableMesh, readStoredRound } from './read-round.ts';

export interface AuditOrder {
  readonly recipes: Registry;
  readonly round: string;
  /** The share of groups and proposals that are sampled again, from 0 to 1. */
  readonly fraction: number;
  /** The key by which seals are checked; without it they are not checked. */
  readonly meshKey: string | undefined;
  /** Decides which groups and proposals are chosen; the same seed chooses the same ones. */
  readonly seed: string;
}

export interface AuditRow {
  readonly class: AuditClass;
  readonly checked: number;
  readonly differing: number;
}

export interface AuditReport {
  readonly kind: 'audit';
  readonly round: string;
  readonly index: number;
  readonly recipe: string;
  readonly fraction: number;
  readonly groups: number;
  readonly proposals: number;
  readonly sealChecked: boolean;
  /** Services whose recorded answers were taken as they are: asked again, they need not answer the same. */
  readonly services: readonly string[];
  /** Did agents hold the episodes? What they asked and posted is taken as it was recorded. */
  readonly agents: boolean;
  /** What close nodes answered, which is scored again and not drawn again; null = there were none. */
  readonly close: CloseAudit | null;
  readonly classes: readonly AuditRow[];
  readonly findings: readonly Finding[];
  readonly wallMs: number;
}

export async function auditMesh(
  gateway: ReadableMesh & Pick<GatewayClient, 'getRoundWork'>,
  order: AuditOrder,
): Promise<AuditReport> {
  const began = performance.now();
  const ledger = new AuditLedger();
  const round = await gateway.getRound(order.round);
  const { spec } = round;
  const wrong = wrongRound(order.recipes, spec);
  ledger.check(wrong === null, { class: 'round', group: null, sample: null }, () => wrong ?? '');
  const stored = await readStoredRound(gateway, round, order.meshKey, ledger);
  const record = { recipe: order.recipes.find(spec.settings.recipe), round: spec, ...stored };
  const work = await gateway.getRoundWork(round.id);
  let close: CloseAudit | null = null;
  try {
    await withRoundPolicies(gateway, round, async (tools) => {
      await rereadRound(ledger, record, tools);
      const { tokenizer, renderer = noRenderer } = tools;
      const texts = { decode: (ids: readonly number[]) => tokenizer.decode(ids), renderer };
      checkEarnings(ledger, record, texts, stored.trained, round.report?.earnings);
      await redrawRound(ledger, record, tools, order.fraction, order.seed, closeSamples(work));
      close = await rescoreClose(ledger, record, tools, work, order.fraction, order.seed);
    });
  } catch (error) {
    // The other manifest is among the findings already; with its weights nothing can be sampled again.
    if (!(error instanceof RollmeshError) || error.code !== 'version.manifest') throw error;
  }
  return {
    kind: 'audit',
    round: round.id,
    index: round.index,
    recipe: spec.settings.recipe,
    fraction: order.fraction,
    groups: stored.groups.length,
    proposals: proposalOutcomes(stored.proposals).length,
    services: record.recipe.rewards[spec.settings.rewardFunction]?.services ?? [],
    agents: record.recipe.agent !== undefined,
    sealChecked: order.meshKey !== undefined,
    close,
    classes: AUDIT_CLASSES.map((name) => ({
      class: name,
      checked: ledger.checked(name),
      differing: ledger.differing(name),
    })),
    findings: ledger.findings,
    wallMs: Math.round(performance.now() - began),
  };
}
