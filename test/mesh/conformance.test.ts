/** The checks of the platform: all hold here, each can fail, and a failure says what relies on it. */
import { existsSync, readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { conformance, lineOf, localPlatform } from '../../cli/conformance/command.ts';

interface Check {
  readonly name: string;
  readonly assumes: string;
  readonly code: string;
  readonly otherwise: string;
  readonly run: (env: object, mark: string, later: () => void) => Promise<void>;
}

let checks: readonly Check[];
beforeAll(async () => {
  // Not by its literal name, since the Workers are compiled against other types than the tests.
  const module: string = '../../workers/conformance/checks.ts';
  ({ CHECKS: checks } = (await import(module)) as { CHECKS: readonly Check[] });
});

test('every check holds of Miniflare', async () => {
  const platform = await localPlatform();
  try {
    const outcomes = await conformance(platform, []);
    expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
    expect(outcomes.map(({ name }) => name)).toEqual(checks.map(({ name }) => name));
    expect(readFileSync('docs/platform.md', 'utf8')).toContain(`each of the ${checks.length} checks`);
    expect((await platform.fetch('d1.none', 'POST')).status).toBe(404);
  } finally {
    await platform.close();
  }
});

test('a platform that is another is found: one that writes over, checks nothing, limits nothing, and runs text', async () => {
  const stored = new Map<string, string>();
  const bucket = {
    put: async (key: string, text: string) => {
      stored.set(key, text);
      return {};
    },
    get: async (key: string) => ({ text: async () => stored.get(key) }),
    head: async (key: string) => (stored.has(key) ? { checksums: {} } : null),
    delete: async () => {},
    list: async () => ({ objects: [], truncated: false }),
  };
  const changed = { meta: { changes: 1, rows_written: 0 }, results: [], success: true };
  const statement = {
    bind: () => statement,
    run: async () => changed,
    all: async () => changed,
    first: async () => ({ n: 1, v: 0 }),
  };
  const env = {
    BUCKET: bucket,
    DB: { prepare: () => statement, batch: async () => [changed, changed] },
    LIMIT: { limit: async () => ({ success: true }) },
  };
  const differs = checks.filter(
    ({ name }) =>
      /^(?:d1|r2|rate|workers\.no-)/.test(name) &&
      !/^r2\.(?:read|multipart|abort|resume|uploaded|stream|part)/.test(name),
  );
  for (const { name, run } of differs)
    await expect(
      run(env, 'mark', () => {}),
      name,
    ).rejects.toThrow(/in place of|nothing was thrown|passed|rows_written/);
});

test('a check that differs is told with what was seen, the file that relies on it, and what fails', () => {
  const said = (name: string) => checks.find((one) => one.name === name)!;
  expect(lineOf({ ...said('d1.changes'), holds: true, seen: null })).toBe(
    'holds   d1.changes: an update that matches nothing says so: changes is 0',
  );
  expect(
    lineOf({ ...said('d1.compare-and-set'), holds: false, seen: '2 in place of 1' }).split('\n'),
  ).toEqual([
    'DIFFERS d1.compare-and-set: of twenty updates at once under one condition, one matches',
    '        seen: 2 in place of 1',
    '        workers/store/rounds.ts relies on it: a round would be trained twice',
  ]);
  for (const { code } of checks) expect(existsSync(code), code).toBe(true);
});
