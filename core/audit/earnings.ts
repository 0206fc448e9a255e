/**
 * Checks what the proposals of a round earned: the recipe's own pure function, over the groups that were trained, must come to what
 * the round's report says.
 */
import { payProposals } from '../plan/plan-training.ts';
import type { ProposalTools } from '../plan/training-plan.ts';
import type { Earnings } from '../schema/report.ts';
import type { RoundRecord } from './audit-round.ts';
import type { AuditLedger } from './findings.ts';

/** `trained`: the groups that the round's version names. A round whose report has no earnings is not checked. */
export function checkEarnings(
  ledger: AuditLedger,
  { recipe, round, proposals, groups }: RoundRecord,
  tools: ProposalTools,
  trained: ReadonlySet<string>,
  reported: Earnings | undefined,
): void {
  if (!reported) return;
  const taught = groups.filter(({ group }) => trained.has(group));
  const records = { round, proposals, groups: taught, recipeState: undefined, version: 0 };
  const { earnings } = payProposals(recipe, records, tools);
  for (const id of new Set([...Object.keys(earnings), ...Object.keys(reported)])) {
    const [said, due] = [reported[id], earnings[id]];
    ledger.check(
      Object.is(said, due),
      { class: 'reward', group: null, sample: id },
      () => `The report says that the proposal earned ${said}, its records come to ${due}.`,
    );
  }
}
