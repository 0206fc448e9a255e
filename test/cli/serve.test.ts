/**
 * A mesh as a service: it says when it takes orders, goes on with open runs when it is started again, and a backup that was taken while it ran goes on, in
 * another folder, to the same versions.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from 'vitest';
import { Random, sha256Hex } from '../../core/random.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import { nodeArguments } from '../../local/mesh/installation.ts';
import { databaseFiles, readDatabase, storedObjects } from '../faults/stored-files.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-serve-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How many rounds are played, and from how many backups the run goes on: `BACKUP_ROUNDS=8 BACKUPS=20` tries more. */
const ROUNDS = Number(process.env.BACKUP_ROUNDS ?? 3);
const TRIED = Number(process.env.BACKUPS ?? 1);

/** How many rounds a service plays that is killed again and again: `KILLED_ROUNDS=20` takes about a hundred kills. */
const KILLED_ROUNDS = Number(process.env.KILLED_ROUNDS ?? 4);

/** What was started; a test that fails leaves nothing running. */
const started = new Set<Service>();
afterEach(async () => {
  for (const service of started) await service.stop();
  started.clear();
});

class Service {
  readonly #child;
  readonly #heard = new EventTarget();
  text = '';

  constructor(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [...nodeArguments('cli/rollmesh'), ...args], {
      cwd,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.add(this);
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.on('data', (chunk: Uint8Array) => {
        this.text += new TextDecoder().decode(chunk);
        this.#heard.dispatchEvent(new Event('text'));
      });
  }

  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const ended = once(this.#child, 'close').then(() => {
      throw new Error(`It ended: ${this.text}`);
    });
    ended.catch(() => undefined);
    for (;;) {
      const found = pattern.exec(this.text);
      if (found) return found;
      await Promise.race([once(this.#heard, 'text'), ended]);
    }
  }

  async ends(): Promise<number | null> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) await once(this.#child, 'close');
    return this.#child.exitCode;
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal);
    return this.ends();
  }
}

/** A new folder; another one where a test is repeated. */
const project = (name: string): string => mkdtempSync(join(folder, `${name}-`));
const serve = (cwd: string, env: Readonly<Record<string, string>> = {}) =>
  new Service(cwd, ['serve', '--port', '0', '--state', 'state', '--threads', '1'], env);

async function called(
  cwd: string,
  ...args: readonly string[]
): Promise<{ code: number | null; text: string }> {
  const command = new Service(cwd, args);
  return { code: await command.ends(), text: command.text };
}

const ORDER = ['--recipe', 'trio', '--tasks-per-round', '2', '--group-size', '2', '--engine', 'kernels'];
/** Orders a run of so many rounds of a service. */
async function order(cwd: string, service: Service, rounds: number): Promise<void> {
  const [, url] = await service.says(/The mesh is up at (\S+) and takes webhooks/);
  const ordered = await called(cwd, 'trigger', url!, ...ORDER, '--rounds', `${rounds}`);
  expect(ordered, ordered.text).toMatchObject({ code: 0 });
}
/** The line of a run's last round. */
const lastOf = (rounds: number) => new RegExp(`^ *${rounds}/${rounds} `, 'm');

/** What a folder came to: the rounds and their groups, and the hashes of the files of all versions that were trained. What it names is stored, byte for byte. */
function playedIn(state: string) {
  const objects = storedObjects(state);
  const stored = new Set([...objects.values()].map((path) => sha256Hex(readFileSync(path))));
  const versions = [...objects].flatMap(([key, path]) => {
    if (!key.endsWith('/manifest.json')) return [];
    const { policy, version, files } = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    const hashes = Object.entries(files).map(([file, { sha256 }]) => [file, sha256] as const);
    return version > 0 ? [[`${policy}@${version}`, Object.fromEntries(hashes)] as const] : [];
  });
  const [rounds, groups, records] = readDatabase(databaseFiles(state).database!, (database) =>
    [
      'SELECT idx, state, version FROM rounds ORDER BY idx',
      'SELECT round, idx, state FROM groups ORDER BY round, idx',
      'SELECT sha256 FROM groups WHERE sha256 IS NOT NULL',
    ].map((query) => database.prepare(query).all()),
  );
  const named = [
    ...records!.map(({ sha256 }) => String(sha256)),
    ...versions.flatMap(([, hashes]) => Object.values(hashes)),
  ];
  expect(named.filter((hash) => !stored.has(hash))).toEqual([]);
  return { rounds: rounds!, groups: groups!, versions: Object.fromEntries(versions) };
}

test(
  'backups of a running service go on to the same versions, and systemd hears when it is ready',
  async () => {
    const cwd = project('first');
    const bin = project('bin');
    writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$@" >"${bin}/heard"\n`, { mode: 0o755 });
    const service = serve(cwd, { NOTIFY_SOCKET: 'any', PATH: `${bin}:${process.env.PATH}` });
    await expect.poll(() => readFileSync(join(bin, 'heard'), 'utf8'), { timeout: 120_000 }).toBe('--ready\n');
    await order(cwd, service, ROUNDS);
    const last = lastOf(ROUNDS);
    const backups: string[] = [];
    do {
      const file = join(cwd, `${backups.length}.tgz`);
      const made = await called(cwd, 'backup', file, '--state', 'state');
      expect(made, made.text).toMatchObject({ code: 0 });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      backups.push(file);
    } while (!last.test(service.text));
    expect(await service.stop(), service.text).toBe(0);
    const wanted = playedIn(join(cwd, 'state'));
    expect(Object.keys(wanted.versions)).toHaveLength(ROUNDS);
    expect(wanted.rounds.map(({ idx, state }) => [idx, state])).toEqual(
      Array.from({ length: ROUNDS }, (_, i) => [i + 1, 'done']),
    );
    // Spread over the run, the first of them in its middle where there is one alone.
    const tried = Array.from(
      { length: Math.min(TRIED, backups.length) },
      (_, i) => backups[Math.floor(((i + 0.5) * backups.length) / Math.min(TRIED, backups.length))]!,
    );
    for (const [i, file] of tried.entries()) {
      const other = project(`restored-${i}`);
      const restored = await called(other, 'restore', file, '--state', 'state');
      expect(restored, restored.text).toMatchObject({ code: 0 });
      const before = playedIn(join(other, 'state')).rounds.map(({ state }) => state);
      const over = before.length === ROUNDS && before.every((state) => state === 'done');
      const again = serve(other);
      await again.says(over ? /no run of this folder was interrupted/ : last);
      expect(await again.stop(), again.text).toBe(0);
      expect(playedIn(join(other, 'state')), `${file}, taken with rounds ${before}`).toEqual(wanted);
      if (process.env.BACKUPS) console.error(`backup ${file}: rounds ${before} when it was taken`);
    }
    // While it is written nobody else reads it, and nothing of one that fails stays.
    const half = `#!/bin/sh\nshift 3\necho half >"$1"\nstat -c %a "$1" >"${bin}/mode"\nexit 1\n`;
    writeFileSync(join(bin, 'tar'), half, { mode: 0o755 });
    const files = readdirSync(cwd);
    const cut = new Service(cwd, ['backup', 'cut.tgz', '--state', 'state'], {
      PATH: `${bin}:${process.env.PATH}`,
    });
    expect(await cut.ends()).toBe(1);
    expect(cut.text).toContain('backup.tar');
    expect(readFileSync(join(bin, 'mode'), 'utf8')).toBe('600\n');
    expect(readdirSync(cwd)).toEqual(files);
    // What is there is not written over, and other secrets are not taken for these.
    expect((await called(cwd, 'restore', tried[0]!, '--state', 'state')).text).toContain('state.exists');
    const stranger = project('stranger');
    writeFileSync(join(stranger, '.dev.vars'), 'MESH_KEY=other\n');
    expect((await called(stranger, 'restore', tried[0]!)).text).toContain('secrets.differ');
  },
  300_000 * Math.max(1, TRIED / 2),
);

test.runIf(NIGHT)(
  `a service that is killed at any moment, and started again, comes to the same versions${IN_THE_NIGHT}`,
  async () => {
    const [whole, killed] = [project('whole'), project('killed')];
    const reference = serve(whole);
    await order(whole, reference, KILLED_ROUNDS);
    await reference.says(lastOf(KILLED_ROUNDS));
    expect(await reference.stop(), reference.text).toBe(0);
    const wanted = playedIn(join(whole, 'state'));

    const first = serve(killed);
    await order(killed, first, KILLED_ROUNDS);
    await first.stop('SIGKILL');
    const random = new Random('kills of a service');
    let kills = 1;
    // On a busy machine a service has to live longer to get on.
    let longestMs = 8_000;
    for (let versions = 0; versions < KILLED_ROUNDS; kills++) {
      const service = serve(killed);
      await setTimeout(longestMs * random.float());
      await service.stop('SIGKILL');
      const now = Object.keys(playedIn(join(killed, 'state')).versions).length;
      longestMs *= now > versions ? 0.8 : 1.05;
      versions = now;
    }
    const last = serve(killed);
    await last.says(/The mesh is up/);
    expect(await last.stop(), last.text).toBe(0);
    expect(playedIn(join(killed, 'state'))).toEqual(wanted);
    console.error(`killed ${kills} times, ${KILLED_ROUNDS} rounds`);
  },
  Math.max(600_000, 60_000 * KILLED_ROUNDS),
);
