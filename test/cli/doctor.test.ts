/** What doctor says follows from what a machine has; and the command itself, as a person at a terminal sees it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { accountFinding, coresFinding, nodeFinding, roomFinding } from '../../cli/doctor/examine.ts';
import { INTERNALS, runCommand } from './terminal.ts';

test.each([
  ['v20.20.2', 'bad', 'needs 22.19 or later'],
  ['v22.18.0', 'bad', 'needs 22.19 or later'],
  ['v22.19.0', 'good', 'Node 24 or later would train nearly twice as fast'],
  ['v24.1.0', 'good', 'pairs SIMD operations'],
] as const)('Node %s is %s: %s', (version, state, follows) => {
  expect(nodeFinding(version)).toMatchObject({ state, follows: expect.stringContaining(follows) });
});

test('too little memory or disk is said with what is needed', () => {
  expect(roomFinding('memory', 1.9e9, 8e9)).toMatchObject({ state: 'bad', found: '1.9 GB free of 8.0 GB' });
  expect(roomFinding('memory', 2e9, 8e9)).toMatchObject({ state: 'good' });
  expect(roomFinding('disk', 0.5e9, 9e9).follows).toBe(
    'less than the 1.0 GB that a run of 40 rounds may write',
  );
});

test('one core gains nothing from rounds ahead; an account is not needed', () => {
  expect(coresFinding(1).follows).toContain('--ahead gains nothing');
  expect(coresFinding(2).follows).toContain('--ahead 1');
  expect(accountFinding({}, '/nowhere')).toMatchObject({ state: 'missing' });
  expect(accountFinding({ CLOUDFLARE_API_TOKEN: 'secret' }, '/nowhere')).toMatchObject({ state: 'good' });
  expect(JSON.stringify(accountFinding({ CLOUDFLARE_API_TOKEN: 'secret' }, '/nowhere'))).not.toContain(
    'secret',
  );
});

test('the command tells a taken port, and makes no folder', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-doctor-'));
  rmSync(folder, { recursive: true });
  const { stdout, stderr } = await runCommand('cli/rollmesh.ts', [
    'doctor',
    '--port',
    String(port),
    '--state',
    folder,
  ]);
  server.close();
  expect(stdout).toMatch(new RegExp(`^no +port ${port} +EADDRINUSE: choose another with --port`, 'm'));
  expect(stdout).toMatch(/^(?:yes|no) +GPU /m);
  expect(stderr).not.toMatch(INTERNALS);
  await expect(import('node:fs').then(({ existsSync }) => existsSync(folder))).resolves.toBe(false);
});
