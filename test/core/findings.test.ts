/** The audit compares every field of a sample: a field that it does not compare could be forged. */
import { expect, test } from 'vitest';
import { AuditLedger, compareSample } from '../../core/audit/findings.ts';
import { type Sample, sample as schema } from '../../core/schema/sample.ts';

const sample: Required<Sample> = {
  id: '0123456789abcdef0123456789abcdef',
  role: 'proposer',
  policy: { name: 'p', set: 'main', version: 3 },
  prompt: [1, 2],
  ids: [3, 4],
  logprobs: [-1, -2],
  stopped: true,
  outcome: 'ok',
  rewards: { reward: null },
  missing: { reward: 'threw' },
  oracle: { right: true, hit: true },
  of: '1123456789abcdef0123456789abcdef',
  about: '3+4',
  turn: 1,
  episode: 2,
};
const OTHER: { readonly [F in keyof Sample]-?: Sample[F] } = {
  id: '2123456789abcdef0123456789abcdef',
  role: 'solver',
  policy: { name: 'p', set: 'main', version: 4 },
  prompt: [1, 5],
  ids: [3, 5],
  logprobs: [-1, -2.5],
  stopped: false,
  outcome: 'duplicate',
  rewards: { reward: 0 },
  missing: { reward: 'refused' },
  oracle: { right: true, hit: false },
  of: '3123456789abcdef0123456789abcdef',
  about: '3+5',
  turn: 2,
  episode: 3,
};

const findings = (recorded: Sample): number => {
  const ledger = new AuditLedger();
  for (const depth of ['record', 'model'] as const) compareSample(ledger, depth, 'g', recorded, sample);
  return ledger.findings.length;
};

test('an honest sample has no finding', () => {
  expect(findings({ ...sample })).toBe(0);
});

const fields = Object.keys(schema.entries) as (keyof Sample)[];
test.each(fields)('another value of %s is found', (field) => {
  expect(findings({ ...sample, [field]: OTHER[field] })).toBe(1);
});

test.each(['missing', 'of', 'about', 'turn', 'episode', 'oracle'] as const)(
  '%s taken away is found',
  (field) => {
    const { [field]: _, ...without } = sample;
    expect(findings(without)).toBe(1);
  },
);
