import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { ensureSecrets } from '../../local/mesh/secrets.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-secrets-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newFolder = (name: string) => mkdtempSync(join(root, name));

const PROCESSES = 6;
/** Every process begins to read at the same moment, so that most of them find no file. */
const SCRIPT = `
  import { ensureSecrets } from ${JSON.stringify(resolve('local/mesh/secrets.ts'))};
  const [folder, at] = process.argv.slice(1);
  while (Date.now() < Number(at));
  process.stdout.write(JSON.stringify(ensureSecrets(folder)));
`;

test('processes that start at once in a new folder agree on its secrets', async () => {
  const folder = newFolder('new');
  const at = String(Date.now() + 3_000);
  const answers = await Promise.all(
    Array.from({ length: PROCESSES }, () =>
      promisify(execFile)(process.execPath, [...NODE_FLAGS, '--input-type=module', '-e', SCRIPT, folder, at]),
    ),
  );
  expect(new Set(answers.map(({ stdout }) => stdout))).toEqual(
    new Set([JSON.stringify(ensureSecrets(folder))]),
  );
  expect(existsSync(join(folder, '.dev.vars.lock'))).toBe(false);
});

test('a lock that a killed process left is removed', () => {
  const folder = newFolder('killed');
  const lock = join(folder, '.dev.vars.lock');
  writeFileSync(lock, '');
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(lock, longAgo, longAgo);
  expect(ensureSecrets(folder).LEARNER_TOKEN).toMatch(/^[0-9a-f]{64}$/);
  expect(existsSync(lock)).toBe(false);
});
