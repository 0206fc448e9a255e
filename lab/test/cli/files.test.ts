import { expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { judgedRecords } from '../../cli/files.ts';
import { claimsPage, overview, pictures } from '../../cli/page.ts';
import { readAttempts, readRegistration } from '../../cli/registered.ts';
import { changedLines } from '../../cli/verdicts.ts';
import { armsRead } from '../../rule/arms-read.ts';
import { expectUnchanged } from '../../rule/registration.ts';

const records = await judgedRecords(claimed);

test('judging the records again gives every committed verdict and digit', async () => {
  expect(await changedLines()).toEqual([]);
});

test('every claim has a record, or a registration that waits for its run; a registered record has all arms, seeds and rounds of its claim', async () => {
  const played = records.map(({ recipe }) => recipe);
  const waiting = claimed.recipes.map(({ name }) => name).filter((name) => !played.includes(name));
  const page = claimsPage(records, {}, waiting);
  for (const name of waiting) {
    const registration = await readRegistration(name);
    expect(registration?.recipe).toBe(name);
    expectUnchanged(claimed.find(name), registration!);
    expect(page).toContain(`[${name}](../records/registered/${name}.json)`);
  }
  for (const { recipe, registration, rounds, arms } of records) {
    if (!registration) continue;
    const { claim } = claimed.find(recipe);
    expect([recipe, rounds, arms.map(({ name }) => name)]).toEqual([
      recipe,
      claim.rounds,
      claim.arms.map(({ name }) => name),
    ]);
  }
});

test('every claim knows its earlier attempts, the record from before registrations among them', async () => {
  for (const { recipe, seeds, registration, attempt } of records) {
    const { earlier } = await readAttempts(recipe);
    // A claim whose first attempt was registered has none before it.
    if (!registration) expect(earlier.map((attempt) => attempt.seeds)).toContainEqual(seeds);
    else expect(earlier.length, recipe).toBe(attempt - 1);
  }
});

test('the page says which attempts were registered', async () => {
  const table = overview(records);
  const row = (name: string) => table.find((line) => line.startsWith(`| [${name}]`))!.split(' | ')[3];
  expect([row('sws'), row('fb-align'), row('azr')]).toEqual([
    '1 (registered)',
    expect.stringMatching(/^2 \(both registered\)/),
    '4 (the last one registered)',
  ]);
  // A registration that says why there is another attempt follows a registered one.
  for (const { recipe, attempts, registration } of records) {
    if (!registration) continue;
    const { reason } = (await readRegistration(recipe))!;
    expect([recipe, attempts.earlier.at(-1)?.registered ?? false]).toEqual([recipe, reason !== undefined]);
  }
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

test('a picture over something else than rounds has the start and every arm, and stands on the page', () => {
  const record = records.find(({ recipe }) => recipe === 'dsmath-v2')!;
  const { along } = claimed.find('dsmath-v2').claim;
  const drawn = pictures(record, along).get('dsmath-v2-along.svg')!;
  for (const name of ['start', ...record.arms.map((arm) => arm.name), along!.xTitle])
    expect(drawn).toContain(`>${name}<`);
  expect(pictures(record).has('dsmath-v2-along.svg')).toBe(false);
  expect(claimsPage([record], { 'dsmath-v2': { along: along! } })).toContain('](claims/dsmath-v2-along.svg)');
});

test('a claim with a start of its own says so on the page', () => {
  const record = records.find(({ recipe }) => recipe === 'trio')!;
  expect(claimsPage([record], { trio: { startPolicy: 'larger' } })).toContain(
    'All runs begin from `larger`.',
  );
  expect(claimsPage([record])).not.toContain('All runs begin');
});

test('a condition has as many seeds as each of the arms that it reads, and the page says so where some are lacking', () => {
  const page = claimsPage(records);
  for (const { recipe, conditions, observations, arms, seeds } of records) {
    const claim = claimed.find(recipe).claim;
    const stated = [...claim.conditions, ...(claim.observations ?? [])];
    for (const [i, { description, measured }] of [...conditions, ...observations].entries()) {
      const runs = armsRead(stated[i]!, claim).map(
        (name) => arms.find((arm) => arm.name === name)!.runs.length,
      );
      expect([description, measured.length]).toEqual([description, Math.min(...runs)]);
      if (measured.length < seeds.length)
        expect(page).toMatch(new RegExp(`, ${measured.length} of ${seeds.length} seeds \\|`));
    }
  }
});

test('a claim without sampled accuracy says why', () => {
  const page = claimsPage(records);
  for (const { recipe, arms, columns } of records) {
    if (arms[0]!.runs.some(({ heldout }) => heldout.some(({ sampled }) => sampled === null)))
      expect([recipe, columns?.label]).toEqual([recipe, expect.any(String)]);
    if (columns) expect(page).toContain(columns.meaning);
  }
});

test('every claim has a gap to gold or says why it has none', () => {
  const [table, page] = [overview(records), claimsPage(records)];
  for (const { recipe, gap } of records) {
    const row = table.find((line) => line.startsWith(`| [${recipe}]`))!;
    expect(row).not.toMatch(/– \|$/);
    if (gap) expect(page).toContain(`Reward − gold: ${gap.meaning}`);
  }
  expect(table.find((line) => line.startsWith('| [aprm]'))).toMatch(/, payoff of a game \|$/);
  expect(table.find((line) => line.startsWith('| [rlp]'))).toMatch(/\| – \(paid in nats\) \|$/);
});
