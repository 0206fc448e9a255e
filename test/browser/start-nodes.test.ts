/**
 * The README's `npm start -- --nodes 2` as a newcomer sees it: the terminal says that a node sampled, the page has a lane for each node, and the lanes fill
 * once the nodes have joined. Ctrl-C then ends all of it. Without a browser the terminal is all that is looked at.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../../bench/browser/chromium.ts';
import { INTERNALS } from '../cli/terminal.ts';
import { complaintsOf } from './complaints.ts';

const NODES = ['node-1', 'node-2'];

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-start-nodes-'));
let browser: Browser | undefined;
beforeAll(async () => {
  if (chromiumPath) browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Each lane's name with its share of the newest round, in completions. */
const lanesOf = async (page: Page): Promise<Record<string, number>> =>
  Object.fromEntries(
    await page
      .locator('.lanes li')
      .evaluateAll((lanes) =>
        lanes.map((lane) => [
          lane.querySelector('b')!.textContent,
          (lane.querySelector('progress') as HTMLProgressElement).value,
        ]),
      ),
  );

/** Follows the page from before the nodes have joined until every lane has filled. */
async function watchLanes(url: string): Promise<readonly string[]> {
  const page = await browser!.newPage();
  const complaints = complaintsOf(page);
  await page.goto(url);
  await expect
    .poll(() => lanesOf(page), { timeout: 60_000 })
    .toEqual({
      ...Object.fromEntries(NODES.map((name) => [name, expect.any(Number)])),
    });
  const filled = new Set<string>();
  await expect
    .poll(
      async () => {
        for (const [name, samples] of Object.entries(await lanesOf(page))) if (samples > 0) filled.add(name);
        return [...filled].sort();
      },
      { timeout: 120_000, interval: 100 },
    )
    .toEqual(NODES);
  // Of the newest round, which may have just begun: one node may have sampled all of those before.
  await expect
    .poll(() => page.locator('.lanes').innerText(), { timeout: 60_000 })
    .toMatch(/holds version \d+ of trio-\S+; \d+ requests, \d+ completions/);
  // The page would complain that the mesh is gone when the run ends.
  await page.close();
  return complaints;
}

test(`two nodes are in the terminal, and as lanes that fill on the page${CHROMIUM_NEEDED}`, async () => {
  const run = ['--rounds', '100', '--tasks', '16', '--group-size', '8', '--engine', 'kernels'];
  const more = ['--state', join(folder, 'state'), '--port', '0', ...run, '--eval-every', '1000'];
  const npm = spawn('npm', ['start', '--', '--nodes', '2', ...more], {
    env: { ...process.env, NO_COLOR: '1' },
    detached: true,
  });
  const all = new Promise((resolve) => npm.once('close', resolve));
  let text = '';
  let watched: ReturnType<typeof watchLanes> | undefined;
  for (const stream of [npm.stdout, npm.stderr])
    stream.on('data', (chunk: Uint8Array) => {
      text += new TextDecoder().decode(chunk);
      const [, url] = /watch it at (\S+)/.exec(text) ?? [];
      if (url && browser && !watched) {
        watched = watchLanes(url);
        watched.catch(() => undefined);
      }
    });
  try {
    await expect.poll(() => text, { timeout: 120_000 }).toMatch(/^ *1\/100 /m);
    if (browser) expect(await watched!).toEqual([]);
  } finally {
    // A terminal interrupts npm and the command alike, and npm passes on what it gets.
    process.kill(-npm.pid!, 'SIGINT');
    setTimeout(() => npm.exitCode ?? process.kill(-npm.pid!, 'SIGINT'), 100);
  }
  await all;
  expect(text).toMatch(/^Stopped after round \d+ of 100\./m);
  expect(text).toMatch(/^ {2}! node-\d sampled \d/m);
  expect(text).not.toMatch(INTERNALS);
}, 240_000);
