/** Which databases the migrations of this release are for. */
import { readdirSync } from 'node:fs';
import { Miniflare } from 'miniflare';
import { expect, test } from 'vitest';
import { migrate } from '../../local/mesh/migrate.ts';
import { BINDINGS_WORKER, d1Statements, remoteD1 } from './remote-bindings.ts';

test('a database is migrated once; one with a migration of another release is refused and left as it is', async () => {
  const mf = new Miniflare({ modules: true, script: BINDINGS_WORKER, d1Databases: { DB: 'migrated' } });
  try {
    const db = d1Statements(remoteD1(mf));
    expect(await migrate(db, 'migrations')).toEqual(
      readdirSync('migrations').filter((name) => name.endsWith('.sql')),
    );
    expect(await migrate(db, 'migrations')).toEqual([]);

    await db.exec(`INSERT INTO d1_migrations (name) VALUES ('0001_later.sql')`);
    await db.exec(`DELETE FROM d1_migrations WHERE name = '0000_schema.sql'`);
    await expect(migrate(db, 'migrations')).rejects.toMatchObject({
      code: 'state.release',
      kind: 'wrong-input',
    });
    await expect(migrate(db, 'migrations')).rejects.toThrow('it has the migration 0001_later.sql');
    expect((await db.all('SELECT name FROM d1_migrations')).map(({ name }) => name)).toEqual([
      '0001_later.sql',
    ]);
  } finally {
    await mf.dispose();
  }
});
