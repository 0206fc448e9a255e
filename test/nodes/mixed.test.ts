/** A browser tab, a process and the mesh's isolates share a run: the versions are the bytes of one process, and each part is audited. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runIdOf } from '../../core/schema/round.ts';
import { nodeArguments } from '../../local/mesh/installation.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { lendTab, samplesOfTab, stopTab } from '../bench/browser/node-tab.ts';
import { openPlaying, type Playing } from '../mesh/playing.ts';

const ROUNDS = 2;

let playing: Playing;
let browser: Browser | undefined;
let child: ChildProcess | undefined;
beforeAll(async () => {
  playing = await openPlaying(['arithmetic-base'], { cronMs: 500 });
});
afterAll(async () => {
  child?.kill('SIGTERM');
  await browser?.close();
  await playing.stop();
});

test.skipIf(!chromiumPath)(`a tab, a process and isolates${CHROMIUM_NEEDED}`, async () => {
  const { gateway, url } = playing;
  const [tab, own] = [await gateway.makeNode('tab'), await gateway.makeNode('process')];

  const args = [...nodeArguments('cli/rollmesh'), 'node', '--mesh', url, '--threads', '1', '--json'];
  child = spawn(process.execPath, args, {
    env: { ...process.env, ROLLMESH_NODE_TOKEN: own.token },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  browser = await openBrowser();
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  const opened = await lendTab(page, url, tab.token, 'kernels');
  expect(opened.headers()['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval';/,
  );
  expect(opened.headers()['cache-control']).toBe('no-store');
  await expect
    .poll(async () => (await gateway.listNodes()).map(({ state }) => state), { timeout: 60_000 })
    .toEqual(['idle', 'idle']);

  const sums = new Map<string, number>();
  const play = async (seed: number) => {
    const order = {
      recipe: 'trio',
      seed,
      rounds: ROUNDS,
      freeze: [],
      tasks: 12,
      groupSize: 8,
      engine: 'kernels-plain' as const,
    };
    const { mesh, alone } = await playing.play(order);
    expect(mesh).toEqual(alone);
    const rounds = await gateway.listRounds(runIdOf(runOf(shipped, order).settings));
    for (const { id } of rounds)
      for (const { name, samples } of await gateway.getShares(id))
        sums.set(name ?? 'isolates', (sums.get(name ?? 'isolates') ?? 0) + samples);
  };
  // On a busy machine two of them may sample a run before the third one asks for a part.
  for (let seed = 12; seed < 17 && sums.size < 3; seed++) await play(seed);

  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
  const counted = await samplesOfTab(page);
  const trace = await page.evaluate(() => [
    document.cookie,
    String(localStorage.length),
    String(sessionStorage.length),
    location.search + location.hash,
  ]);
  expect(trace).toEqual(['', '0', '0', '']);
  await stopTab(page);
  expect(problems).toEqual([]);

  expect([...sums.keys()].sort()).toEqual(['isolates', 'process', 'tab']);
  expect(Math.min(...sums.values())).toBeGreaterThan(0);
  expect(sums.get('tab')).toBe(counted);
  for (const { name, audited, reason } of await gateway.listNodes()) {
    expect([name, reason]).toEqual([name, null]);
    expect(audited, name).toBeGreaterThan(0);
  }
  console.log(`shares: ${JSON.stringify(Object.fromEntries(sums))}`);
});
