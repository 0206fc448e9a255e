import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import type { Played } from '../../cli/record.ts';
import { readRecordFile, writeRecordFile } from '../../cli/record-file.ts';
import { trimmed } from '../../cli/trim.ts';
import type { Run } from '../../rule/claim.ts';

const run = {
  recipe: 'ragen',
  seed: 30,
  rounds: 2,
  heldout: [
    { round: 0, task: 'grids', n: 150, accuracy: 0.25, sampled: 0.1, forcedWorked: null, worked: null },
    { round: 2, task: 'grids', n: 150, accuracy: 0.5, sampled: 1 / 3, figures: { steps: 4.5 } },
  ],
  monitors: [
    { round: 1, figures: { entropy: 0.1 + 0.2, gradientNorm: 1, returnSpread: 2, gap: null, length: 7 } },
    { round: 2, figures: { entropy: 0.5, gap: -0.25, length: 8 } },
  ],
  tokens: { generated: 10, trained: 20 },
  wallMs: 5,
  judge: [{ round: 0, fixed: null, own: null }],
} as unknown as Run;

const ragen = claimed.find('ragen');
const record: Played = {
  recipe: 'ragen',
  machine: { cpu: '', cores: 2, node: '', commit: '', at: '2026-01-01' },
  settings: { start: 'grids', tasks: 16, groupSize: 8, evaluateEvery: 2, sets: {} },
  rounds: 2,
  seeds: [30],
  arms: ragen.claim.arms.map((arm) => ({ ...arm, runs: [run] })),
};

test('what conditions, tables and pictures read is kept to the last digit, and nothing else', () => {
  const [kept] = trimmed(ragen, record).arms[0]!.runs;
  // The claim reads success, entropy, gradients and the deviation of returns; its table reads the gap.
  expect(kept).toEqual({
    recipe: 'ragen',
    seed: 30,
    rounds: 2,
    heldout: [
      { round: 0, n: 150, accuracy: 0.25, sampled: 0.1, forcedWorked: null },
      { round: 2, n: 150, accuracy: 0.5, sampled: 1 / 3 },
    ],
    monitors: [
      { round: 1, figures: { entropy: 0.30000000000000004, gradientNorm: 1, returnSpread: 2, gap: null } },
      { round: 2, figures: { entropy: 0.5, gap: -0.25 } },
    ],
    tokens: { generated: 10, trained: 20 },
    wallMs: 5,
  });
});

test('a record comes back from its file with the numbers that it had; what was not measured is absent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-record-'));
  try {
    const file = join(folder, 'ragen.json');
    await writeRecordFile(file, trimmed(ragen, record));
    const [read] = (await readRecordFile<Played>(file)).arms[0]!.runs;
    expect(read!.heldout).toEqual([
      { round: 0, n: 150, accuracy: 0.25, sampled: 0.1, figures: {} },
      { round: 2, n: 150, accuracy: 0.5, sampled: 1 / 3, figures: {} },
    ]);
    expect(read!.monitors).toEqual([
      { round: 1, figures: { entropy: 0.30000000000000004, gradientNorm: 1, returnSpread: 2 } },
      { round: 2, figures: { entropy: 0.5, gap: -0.25 } },
    ]);
    expect(readFileSync(file, 'utf8')).toContain('"entropy":[0.30000000000000004,0.5]');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
