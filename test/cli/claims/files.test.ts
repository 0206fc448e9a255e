import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { claimFiles, judgedRecords } from '../../../cli/claims/files.ts';
import { claimsPage } from '../../../cli/claims/page.ts';
import { claimOf } from '../../../core/claim.ts';
import { recipes, shipped } from '../../../recipes/index.ts';

const records = await judgedRecords();

test('every recipe has a record of all its arms, seeds and rounds', () => {
  expect(records.map(({ recipe }) => recipe)).toEqual(recipes.map(({ name }) => name).sort());
  for (const { recipe, seeds, rounds, arms } of records) {
    const claim = claimOf(shipped.find(recipe));
    expect({ recipe, seeds, rounds }).toEqual({ recipe, seeds: claim.seeds, rounds: claim.rounds });
    for (const { name, runs } of arms)
      expect([recipe, name, ...runs.map(({ seed }) => seed)]).toEqual([recipe, name, ...seeds]);
  }
});

test('what is committed is what the records and the conditions of today make', async () => {
  const files = claimFiles(records);
  const stale = [];
  for (const [path, text] of files) if ((await readFile(path, 'utf8')) !== text) stale.push(path);
  expect(stale).toEqual([]);
  const drawn = (await readdir('docs/claims')).map((name) => `docs/claims/${name}`);
  expect(drawn.filter((path) => !files.has(path))).toEqual([]);
});

test('the mean of equal values is printed as they are', () => {
  const record = records.find(({ recipe }) => recipe === 'trio')!;
  const [{ runs, ...arm }] = record.arms as [(typeof record.arms)[0]];
  // In floating point (0.0975 + 0.0975 + 0.0975) / 3 is below 0.0975, which itself is rounded up.
  const equal = runs.map((run) => ({
    ...run,
    heldout: run.heldout.map((point) => ({ ...point, accuracy: 0.0975 })),
  }));
  expect(claimsPage([{ ...record, arms: [{ ...arm, runs: equal }] }])).toContain(
    '| mix | 9.8 (9.8 to 9.8) |',
  );
});
