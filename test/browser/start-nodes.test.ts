/**
 * The README's `npx rollmesh start --nodes 2` as a newcomer sees it: the terminal says that a node sampled, the page has a lane for each node, and the lanes fill
 * once the nodes have joined. Ctrl-C then ends all of it. Without a browser the terminal is all that is looked at.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { INTERNALS, runCommand } from '../cli/terminal.ts';
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

test('two nodes are in the terminal and, where Chromium is installed, as lanes that fill on the page', async () => {
  const options = ['--rounds', '100', '--tasks-per-round', '16', '--group-size', '8', '--eval-every', '1000'];
  const where = ['--nodes', '2', '--engine', 'kernels', '--state', join(folder, 'state'), '--port', '0'];
  let watched: ReturnType<typeof watchLanes> | undefined;
  let filled = !browser;
  let interrupted = false;
  const { code, stdout, stderr } = await runCommand(
    'cli/rollmesh.ts',
    ['start', ...where, ...options],
    (text, kill) => {
      const [, url] = /watch it at (\S+)/.exec(text) ?? [];
      if (url && browser && !watched) {
        watched = watchLanes(url);
        watched
          .catch(() => undefined)
          .finally(() => {
            filled = true;
          });
      }
      if (interrupted || !filled || !/^ *\d+\/100 /m.test(text)) return;
      interrupted = true;
      // Twice: npm passes on what the terminal has sent to the command, too.
      kill('SIGINT');
      setTimeout(() => kill('SIGINT'), 100);
    },
  );
  if (watched) expect(await watched).toEqual([]);
  expect(code).toBe(0);
  const text = stdout + stderr;
  expect(text).toMatch(/^Stopped after round \d+ of 100\./m);
  expect(text).toMatch(/^ {2}! node-\d sampled \d/m);
  expect(text).not.toMatch(INTERNALS);
});
