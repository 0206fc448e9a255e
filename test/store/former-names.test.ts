/** The migration of settings: a run and a round that an earlier release wrote are the same run and the same round under the present names. */
import { readdirSync, readFileSync } from 'node:fs';
import type { D1Database } from '@cloudflare/workers-types';
import { Miniflare } from 'miniflare';
import { afterAll, expect, test } from 'vitest';
import { roundOf } from '../../core/schema/round.ts';
import { openDatabase } from '../../workers/store/database.ts';
import { getRound } from '../../workers/store/rounds.ts';
import { getRun } from '../../workers/store/runs.ts';
import { settings } from './fixture.ts';

const mf = new Miniflare({ modules: true, script: 'export default {}', d1Databases: { DB: 'former' } });
afterAll(() => mf.dispose());

const NAMES = '0006_names.sql';

test('rows of before the migration are read as if they had been written after it', async () => {
  const { DB } = await mf.getBindings<{ DB: D1Database }>();
  const apply = async (file: string) => {
    const statements = readFileSync(`migrations/${file}`, 'utf8').split('--> statement-breakpoint');
    await DB.batch(statements.map((statement) => DB.prepare(statement)));
  };
  const files = readdirSync('migrations').filter((name) => name.endsWith('.sql'));
  for (const file of files.filter((name) => name < NAMES)) await apply(file);

  const present = { ...settings(1), variant: 'a "quoted" one' };
  const spec = roundOf(present, { solver: {} }, 1, 0);
  const { rewardFunction, groupSize, ...rest } = present;
  const former = { ...rest, reward: rewardFunction, group: groupSize };
  const rows = (table: string, id: string, column: string, value: unknown, more: Record<string, unknown>) => {
    const row = { id, [column]: JSON.stringify(value), ...more };
    return DB.prepare(
      `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row).map(() => '?')})`,
    ).bind(...Object.values(row));
  };
  const run = { roles: '{"solver":{}}', target: 1, state: 'open', created_at: 1 };
  const round = { run: spec.run, idx: 1, stage: 'rollout', created_at: 1, touched_at: 1 };
  await DB.batch([
    rows('runs', spec.run, 'settings', former, run),
    rows('rounds', spec.id, 'spec', { ...spec, settings: former }, round),
    // Written by the present release between two attempts at the migration: it stays as it is.
    rows('runs', 'later', 'settings', present, run),
  ]);
  for (const file of files.filter((name) => name >= NAMES)) await apply(file);

  const db = openDatabase(DB);
  expect((await getRun(db, spec.run))?.settings).toEqual(present);
  expect((await getRun(db, 'later'))?.settings).toEqual(present);
  expect((await getRound(db, spec.id))?.spec).toEqual(spec);
});
