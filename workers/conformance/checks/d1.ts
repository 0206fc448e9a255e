/** What the mesh assumes of D1. */
import { type Check, check, countOf, Differs, insert, same, thrown } from './check.ts';

const rounds = 'workers/store/rounds.ts';
const database = 'workers/store/database.ts';

export const D1: readonly Check[] = [
  check(
    'd1.changes',
    'an update that matches nothing says so: changes is 0',
    rounds,
    'two Workers would both begin a stage',
    async (env, mark) => {
      await insert(env, mark, 0).run();
      const move = () =>
        env.DB.prepare("UPDATE marks SET state = 'b' WHERE mark = ?1 AND state = 'a'").bind(mark).run();
      same([(await move()).meta.changes, (await move()).meta.changes], [1, 0]);
    },
  ),
  check(
    'd1.compare-and-set',
    'of twenty updates at once under one condition, one matches',
    rounds,
    'a round would be trained twice',
    async (env, mark) => {
      await insert(env, mark, 0).run();
      const moves = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          env.DB.prepare("UPDATE marks SET state = ?2 WHERE mark = ?1 AND state = 'a'")
            .bind(mark, `b${i}`)
            .run(),
        ),
      );
      same(
        moves.reduce((sum, { meta }) => sum + meta.changes, 0),
        1,
      );
    },
  ),
  check(
    'd1.batch-atomic',
    'a batch with a statement that fails leaves nothing',
    database,
    'a commit could be half written',
    async (env, mark) => {
      await thrown(() =>
        env.DB.batch([
          insert(env, mark, 0),
          env.DB.prepare('INSERT INTO marks (mark, k) VALUES (?1, NULL)').bind(mark),
        ]),
      );
      same(await countOf(env, mark), 0);
    },
  ),
  check(
    'd1.batch-order',
    'a statement of a batch sees what those before it wrote',
    database,
    'what was leased could not be read in the same call',
    async (env, mark) => {
      const [, read] = await env.DB.batch<{ n: number }>([
        insert(env, mark, 0),
        env.DB.prepare('SELECT count(*) AS n FROM marks WHERE mark = ?1').bind(mark),
      ]);
      same(read!.results, [{ n: 1 }]);
    },
  ),
  check(
    'd1.ignore',
    'an insert that is ignored has 0 changes',
    'workers/gateway/webhook.ts',
    'a delivery would be taken twice',
    async (env, mark) => {
      same(
        [(await insert(env, mark, 0).run()).meta.changes, (await insert(env, mark, 0).run()).meta.changes],
        [1, 0],
      );
    },
  ),
  check(
    'd1.read-own-writes',
    'what a call wrote is read by the next one',
    rounds,
    'a stage would not see its own round',
    async (env, mark) => {
      for (let k = 0; k < 5; k++) {
        await insert(env, mark, k).run();
        same(await countOf(env, mark), k + 1);
      }
    },
  ),
  check(
    'd1.no-row',
    'the first row of none is null',
    database,
    'absence would be an error',
    async (env, mark) => {
      same(await env.DB.prepare('SELECT k FROM marks WHERE mark = ?1').bind(mark).first(), null);
    },
  ),
  check(
    'd1.null',
    'a bound null comes back as null, and equals nothing',
    'workers/store/schema.ts',
    'what is not known yet would be told as something',
    async (env, mark) => {
      await env.DB.prepare('INSERT INTO marks (mark, k, state) VALUES (?1, 0, ?2)').bind(mark, null).run();
      const row = 'SELECT state, state = state AS same, state IS NULL AS none FROM marks WHERE mark = ?1';
      same(await env.DB.prepare(row).bind(mark).first(), { state: null, same: null, none: 1 });
    },
  ),
  check(
    'd1.upsert',
    'a row that is there takes the values that are given, by ON CONFLICT … DO UPDATE',
    'workers/store/work.ts',
    'work that comes again would be refused',
    async (env, mark) => {
      const put = (state: string) =>
        env.DB.prepare(
          'INSERT INTO marks (mark, k, state) VALUES (?1, 0, ?2) ON CONFLICT (mark, k) DO UPDATE SET state = excluded.state',
        )
          .bind(mark, state)
          .run();
      await put('a');
      await put('b');
      same((await env.DB.prepare('SELECT state FROM marks WHERE mark = ?1').bind(mark).all()).results, [
        { state: 'b' },
      ]);
    },
  ),
  check(
    'd1.upsert-where',
    'an update of that kind whose condition does not hold has 0 changes',
    'workers/store/runs.ts',
    'an order would be taken twice',
    async (env, mark) => {
      const put = () =>
        env.DB.prepare(
          "INSERT INTO marks (mark, k, state) VALUES (?1, 0, 'a') ON CONFLICT (mark, k) DO UPDATE SET state = 'b' WHERE state = 'a'",
        )
          .bind(mark)
          .run();
      const changes = [(await put()).meta.changes, (await put()).meta.changes, (await put()).meta.changes];
      same(changes, [1, 1, 0]);
    },
  ),
  check(
    'd1.parameters',
    'a statement takes 100 bound parameters',
    database,
    'the largest inserts would be refused',
    async (env) => {
      const marks = Array.from({ length: 100 }, (_, i) => `?${i + 1}`).join(',');
      const row = await env.DB.prepare(`SELECT max(${marks}) AS n`)
        .bind(...Array.from({ length: 100 }, (_, i) => i))
        .first<{ n: number }>();
      same(row!.n, 99);
    },
  ),
  check(
    'd1.json-each',
    'a list of 1,000 ids is one parameter, by json_each',
    'workers/store/shut-out.ts',
    'groups could not be named together',
    async (env) => {
      const ids = Array.from({ length: 1000 }, (_, i) => i.toString(16).padStart(32, '0'));
      const row = await env.DB.prepare('SELECT count(*) AS n FROM json_each(?1)')
        .bind(JSON.stringify(ids))
        .first<{ n: number }>();
      same(row!.n, 1000);
    },
  ),
  check(
    'd1.whole-limit',
    'a bound limit is taken where it is cast to INTEGER',
    'workers/store/nodes.ts',
    'nodes would lease nothing',
    async (env, mark) => {
      await env.DB.batch([0, 1, 2].map((k) => insert(env, mark, k)));
      const { results } = await env.DB.prepare(
        'SELECT k FROM marks WHERE mark = ?1 ORDER BY k LIMIT CAST(?2 AS INTEGER)',
      )
        .bind(mark, 2)
        .all();
      same(results, [{ k: 0 }, { k: 1 }]);
    },
  ),
  check(
    'd1.integers',
    'times in ms and counts up to 2^53 − 1 come back as they were',
    'workers/store/schema.ts',
    'leases would end at wrong times',
    async (env) => {
      for (const value of [Date.now(), Number.MAX_SAFE_INTEGER, 0, -1])
        same(
          (await env.DB.prepare('SELECT CAST(?1 AS INTEGER) AS v').bind(value).first<{ v: number }>())!.v,
          value,
        );
    },
  ),
  check(
    'd1.floats',
    'a float64 comes back bit for bit',
    'workers/store/nodes.ts',
    'sums of the audit would drift',
    async (env, mark) => {
      const values = [0.1, 1 / 3, -1e-300, 5e-324, 1.7976931348623157e308];
      await env.DB.batch(
        values.map((v, k) =>
          env.DB.prepare('INSERT INTO marks (mark, k, v) VALUES (?1, ?2, ?3)').bind(mark, k, v),
        ),
      );
      const { results } = await env.DB.prepare('SELECT v FROM marks WHERE mark = ?1 ORDER BY k')
        .bind(mark)
        .all<{ v: number }>();
      same(
        results.map(({ v }) => v),
        values,
      );
    },
  ),
  check(
    'd1.text',
    'a row holds 1 MB of text, in any script',
    'workers/store/schema.ts',
    'large settings would be cut',
    async (env, mark) => {
      const text = 'ä漢🙂'.repeat(110_000);
      await env.DB.prepare('INSERT INTO marks (mark, k, v) VALUES (?1, 0, ?2)').bind(mark, text).run();
      const row = await env.DB.prepare('SELECT v = ?2 AS same, length(v) AS n FROM marks WHERE mark = ?1')
        .bind(mark, text)
        .first();
      same(row, { same: 1, n: 330_000 });
    },
  ),
  check(
    'd1.meta',
    'rows read and written are counted',
    'workers/shared/metered-bindings.ts',
    'the cost of a round would be unknown',
    async (env, mark) => {
      const { meta } = await insert(env, mark, 0).run();
      if (!((meta.rows_written ?? 0) >= 1)) throw new Differs(`rows_written is ${meta.rows_written}`);
    },
  ),
  check(
    'd1.returning',
    'RETURNING gives the rows that an update changed',
    'workers/store/work.ts',
    'a lease could not be told in one call',
    async (env, mark) => {
      await insert(env, mark, 7).run();
      same(
        (await env.DB.prepare("UPDATE marks SET state = 'b' WHERE mark = ?1 RETURNING k").bind(mark).all())
          .results,
        [{ k: 7 }],
      );
    },
  ),
];
