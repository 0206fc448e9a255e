/** A disk that is full, or read-only: a file system of a few megabytes, in a mount namespace of its own, where this user may make one. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { shipped } from '../../recipes/index.ts';
import { isSame, prepareDamage, startArguments } from '../soak/damage-run.ts';
import { INTERNALS } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-full-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const small = join(folder, 'small');
mkdirSync(small);
const mount = (size: string) => `mount -t tmpfs -o size=${size} tmpfs ${small}`;
const rollmesh = `"${process.execPath}" ${NODE_FLAGS.join(' ')} cli/rollmesh.ts`;
const env = { ...process.env, NO_COLOR: '1' };
/** As root, or as the root of a user namespace where the machine allows one. */
const unshared = ['-m', '-rm'].find(
  (flags) => spawnSync('unshare', [flags, 'sh', '-c', mount('1m')]).status === 0,
);

test.runIf(unshared)('a start on a full disk ends with what to do, and without a stack', async () => {
  const start = `exec ${rollmesh} start --serve --port 0 --state ${small}/state`;
  const { code, said } = await new Promise<{ code: unknown; said: string }>((resolve) => {
    const args = [unshared!, 'sh', '-c', `${mount('1m')} && ${start}`];
    execFile('unshare', args, { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code, said: stdout + stderr }),
    );
  });
  expect(said).toMatch(/^disk\.full: The disk is full\b.* Expected room for .* Make room, or choose/m);
  expect(said).not.toMatch(INTERNALS);
  expect(code).toBe(1);
});

test.runIf(unshared)('a state folder on a file system that is read-only is refused by name', () => {
  const start = `mount -t tmpfs -o ro tmpfs ${small} && exec ${rollmesh} start --serve --port 0 --state ${small}`;
  const { status, stderr } = spawnSync('unshare', [unshared!, 'sh', '-c', start], { env, encoding: 'utf8' });
  expect(stderr).toMatch(
    /^state\.folder: The state folder .* cannot be written: EROFS\. Expected a folder .* Choose another/m,
  );
  expect(stderr).not.toMatch(INTERNALS);
  expect(status).toBe(1);
});

const ORDER = {
  ...{ recipe: 'trio', seed: 18, rounds: 4, freeze: [], tasks: 4, groupSize: 2 },
  engine: 'kernels' as const,
};

/**
 * After the first round a file takes all but some megabytes, and then grows slowly, until the command ends. Then it is removed, and the same
 * command is given again.
 */
const fillSlowly = `
  ${mount('64m')} || exit 9
  start() { ${rollmesh} ${startArguments(ORDER, `${small}/state`).join(' ')} 2>&1; echo "ended $?"; }
  free() { df -k ${small} | awk 'END { print $4 }'; }
  start & command=$!
  read -r _
  dd if=/dev/zero of=${small}/filler bs=1024 count=$(( $(free) - 3000 )) 2>/dev/null
  while kill -0 $command 2>/dev/null; do
    dd if=/dev/zero bs=1024 count=100 2>/dev/null >>${small}/filler || echo 'no room'
    sleep 0.2
  done
  rm ${small}/filler
  start
  cp -r ${small}/state ${folder}/copy
`;

test.runIf(unshared)(
  'one that fills up slowly in the middle of a run is named within 30 s, and with room again the run comes to the same bytes',
  async () => {
    const soak = await prepareDamage(shipped, ORDER);
    const shell = spawn('unshare', [unshared!, 'sh', '-c', fillSlowly], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    let full: number | undefined;
    let named: number | undefined;
    createInterface({ input: shell.stdout }).on('line', (line) => {
      if (line === 'no room') full ??= performance.now();
      else lines.push(line);
      if (/"kind":"round"/.test(line)) shell.stdin.write('\n');
      if (/disk\.full/.test(line)) named ??= performance.now();
    });
    await once(shell, 'close');
    expect(lines.filter((line) => /^ended/.test(line))).toEqual(['ended 1', 'ended 0']);
    expect(named).toBeDefined();
    // The mesh's own files may be too large for the disk before it is full to the last byte.
    expect(named! - (full ?? named!)).toBeLessThan(30_000);
    expect(lines.join('\n')).not.toMatch(INTERNALS);
    expect(isSame(soak, join(folder, 'copy'))).toBe(true);
  },
);
