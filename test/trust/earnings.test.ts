/** What proposals earned, worked out by hand and held to what a report says. */
import { expect, test } from 'vitest';
import { checkEarnings } from '../../core/audit/earnings.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import { payProposals } from '../../core/plan/plan-training.ts';
import { noRenderer } from '../../core/recipe/round-context.ts';
import { playHonestRound } from './honest-round.ts';

const { record, tools } = await playHonestRound(1, 4, 4);
const texts = { decode: (ids: readonly number[]) => tools.tokenizer.decode(ids), renderer: noRenderer };
const trained = new Set(record.groups.map(({ group }) => group));
const records = { ...record, recipeState: undefined, version: 0 };

/** 4p(1-p) of the share p of its group that passed; -0.5 for what is no task; nothing for a held-out one. */
function byHand(): Record<string, number | null> {
  const earned: Record<string, number | null> = {};
  for (const { id, outcome } of record.proposals.samples) {
    const group = record.groups.find(({ proposal }) => proposal === id);
    if (outcome === 'held-out') earned[id] = null;
    else if (!group) earned[id] = -0.5;
    else {
      const passed = group.samples.filter(({ rewards }) => rewards.passed === 1).length;
      const p = passed / group.samples.length;
      earned[id] = 4 * p * (1 - p);
    }
  }
  return earned;
}

test('a proposal earns what its rollouts say, and its samples carry it to the training plan', () => {
  const { earnings, records: paid } = payProposals(record.recipe, records, texts);
  expect(earnings).toEqual(byHand());
  expect(new Set(Object.values(earnings)).size).toBeGreaterThan(1);
  for (const { id, rewards } of paid.proposals.samples) expect(rewards.reward).toBe(earnings[id]);
  // The record itself is left as it was sealed.
  for (const { rewards } of record.proposals.samples) expect(rewards).toEqual({});
});

test('a report that says otherwise is found, sample by sample; an honest one is not', () => {
  const honest = new AuditLedger();
  checkEarnings(honest, record, texts, trained, byHand());
  expect(honest.findings).toEqual([]);
  expect(honest.checked('reward')).toBe(record.proposals.samples.length);

  const [first, second] = record.proposals.samples.map(({ id }) => id) as [string, string];
  const { [second]: _, ...rest } = byHand();
  const forged = new AuditLedger();
  checkEarnings(forged, record, texts, trained, { ...rest, [first]: 7 });
  expect(forged.findings).toEqual([
    expect.objectContaining({ class: 'reward', sample: first, message: expect.stringContaining('earned 7') }),
    expect.objectContaining({ class: 'reward', sample: second }),
  ]);
});
