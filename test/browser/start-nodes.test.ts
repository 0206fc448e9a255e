/** `npm start -- --nodes 2` as a newcomer sees it: the page has a lane for each node, and the lanes fill once the nodes have joined. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../../bench/browser/chromium.ts';
import { runCommand } from '../cli/terminal.ts';
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

test.skipIf(!chromiumPath)(
  `the lanes of two nodes fill${CHROMIUM_NEEDED}`,
  async () => {
    let watched: ReturnType<typeof watchLanes> | undefined;
    const args = ['start', '--nodes', '2', '--state', join(folder, 'state'), '--port', '0'];
    const run = ['--rounds', '100', '--tasks', '16', '--group-size', '8', '--engine', 'kernels'];
    const { code } = await runCommand(
      'cli/rollmesh.ts',
      [...args, ...run, '--eval-every', '1000'],
      (text, kill) => {
        const [, url] = /watch it at (\S+)/.exec(text) ?? [];
        if (!url || watched) return;
        watched = watchLanes(url);
        watched.catch(() => undefined).finally(() => kill('SIGINT'));
      },
    );
    expect(await watched!).toEqual([]);
    expect(code).toBe(0);
  },
  180_000,
);
