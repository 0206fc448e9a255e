/** The documentation as `npm run site` writes it, from a subfolder of a static host: the search, the filter of recipes, and a recipe that is no flagship and the arm of a claim played in the tab. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readStart } from '../../local/find-start.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { shipped } from '../../recipes/index.ts';
import { type RunOrder, runOf } from '../../recipes/run-order.ts';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { complaintsOf } from './complaints.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};
const folder = mkdtempSync(join(tmpdir(), 'rollmesh-site-'));
let browser: Browser | undefined;
let server: Server;
let page: Page;
let base = '';

beforeAll(async () => {
  if (!chromiumPath) return;
  execFileSync(process.execPath, ['--import', './cli/install/typescript.mjs', 'web/site/build.ts', folder]);
  server = createServer(({ url = '' }, answer) => {
    const path = new URL(url, 'http://host').pathname.replace('/docs-of/rollmesh/', '');
    try {
      const body = readFileSync(join(folder, path));
      answer.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(body);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  base = `http://127.0.0.1:${(server.address() as { port: number }).port}/docs-of/rollmesh/`;
  browser = await openBrowser();
  page = await browser.newPage();
});
afterAll(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Two tasks, twice each, for one round. */
const SMALL = { rounds: 1, tasks: 2, groupSize: 2, seed: 0 };

/** The SHA-256 of version 1 of a small run in Node. */
async function inNode(more: Pick<RunOrder, 'recipe'> & Partial<RunOrder>): Promise<string> {
  const run = runOf(shipped, { ...SMALL, freeze: [], engine: 'kernels', ...more });
  const store = new MemoryRunStore();
  const { policy } = run.settings;
  await store.commitVersion({ name: policy, version: 0 }, await readStart(run.recipe.startPolicy));
  const quiet = { started() {}, evaluatedStart() {}, round() {}, finished() {} };
  const device = { device: 'cpu', threads: 1, revectorize: true, evalEvery: 1 } as const;
  await playInProcess(run, device, store, quiet, { heldOut: true, most: 4 });
  const { 'model.safetensors': weights } = await store.loadVersion({ name: policy, version: 1 });
  return createHash('sha256').update(weights!).digest('hex');
}

async function playedInTab(): Promise<void> {
  await page.waitForFunction(() => document.getElementById('say')?.textContent === 'Ready.');
  await page.click('#start');
  const ends = () => /has its round,/.test(document.getElementById('say')?.textContent ?? '');
  await page.waitForFunction(ends, null, { timeout: 120_000 });
}

describe.runIf(chromiumPath)(`in Chromium${CHROMIUM_NEEDED}`, () => {
  test('search finds the page of a word and marks it', async () => {
    const complaints = complaintsOf(page);
    await page.goto(`${base}docs/start.html`);
    await page.fill('input[name=q]', 'leave-one-out');
    await page.press('input[name=q]', 'Enter');
    await page.waitForSelector('#found a[href*="recipes/prime.html"]');
    expect(await page.textContent('#found mark')).toContain('leave-one-out');
    await page.fill('input[name=q]', 'qzxv <img src=x>');
    await page.press('input[name=q]', 'Enter');
    await page.waitForFunction(() => document.getElementById('said')?.textContent?.startsWith('No page has'));
    expect(complaints).toEqual([]);
  });

  /** The names in the rows of the table of recipes that can be seen. */
  const namesShown = () =>
    page.$$eval('main tbody tr', (rows) =>
      rows
        .filter((row) => row.checkVisibility())
        .map((row) => (row as HTMLTableRowElement).cells[0]!.innerText),
    );

  test('the table of recipes is filtered by words of their methods', async () => {
    await page.goto(`${base}docs/recipes.html`);
    await page.fill('#filters [name=words]', 'implicit leave-one-out');
    await page.waitForFunction(() => document.getElementById('said')?.textContent?.startsWith('1 of '));
    expect(await namesShown()).toEqual(['prime']);
  });

  test('the table of recipes is filtered by each field, by keyboard, from a link and from disk', async () => {
    const complaints = complaintsOf(page);
    await page.goto(`${base}docs/recipes.html`);
    const all = await namesShown();
    // The paper of R-Zero alone has a challenger.
    await page.getByLabel('roles', { exact: true }).focus();
    await page.keyboard.type('challenger');
    expect(await namesShown()).toEqual(['r-zero']);
    await page.getByRole('button', { name: 'Show all' }).press('Enter');
    expect(await namesShown()).toEqual(all);
    await page.getByLabel('roles', { exact: true }).selectOption('judge');
    await page.getByLabel('reward', { exact: true }).selectOption('mix');
    await page.getByLabel('evidence', { exact: true }).selectOption('headline supported');
    expect(await namesShown()).toEqual(['trio']);
    const link = new URL(page.url()).hash;
    expect(link).toBe('#roles=judge&reward=mix&evidence=headline+supported');
    await page.goto('about:blank');
    await page.goto(`file://${join(folder, 'docs/recipes.html')}#credit=a critic (GAE)&evidence=nobody`);
    expect(await namesShown()).toEqual(['jaxmarl', 'rise', 'rlsp', 'q-evolve']);
    await page.goto('about:blank');
    await page.goto(`${base}docs/recipes.html${link}`);
    expect(await namesShown()).toEqual(['trio']);
    expect(complaints).toEqual([]);
  });

  test('a variant of a recipe with a start of its own plays in the tab, to the bytes of Node', async () => {
    await page.goto(`${base}try/index.html#recipe=tango&variant=constant&rounds=1&tasks=2&group=2`);
    await playedInTab();
    expect(await page.textContent('#same')).toContain('--recipe tango --variant constant');
    expect(await page.textContent('#sha256')).toBe(await inNode({ recipe: 'tango', variant: 'constant' }));
    expect(await page.isVisible('#registered')).toBe(false);
    await page.click('#settings summary');
    await page.selectOption('#variant', '');
    expect(await page.textContent('#same')).not.toContain('--variant');
  });

  test('the page of a claim plays the arm that would refute it, beside the registered curves and marked as a short run', async () => {
    const complaints = complaintsOf(page);
    await page.goto(`${base}recipes/trio.html`);
    await page.click('text=Play the arm that would refute it: frozen judge');
    await page.waitForFunction(() => document.getElementById('say')?.textContent === 'Ready.');
    expect(await page.inputValue('#freeze')).toBe('judge');
    expect(await page.inputValue('#rounds')).toBe('12');
    expect(await page.locator('#registered').innerText()).toContain('an illustration, and no evidence');
    const drawn = () => document.querySelector<HTMLImageElement>('#registered-curves')!.naturalWidth > 0;
    await page.waitForFunction(drawn);
    await page.click('#settings summary');
    for (const [field, value] of Object.entries({ rounds: 1, tasks: 2, group: 2 }))
      await page.fill(`#${field}`, String(value));
    await playedInTab();
    expect(await page.textContent('#same')).toContain('--reward judge --freeze judge');
    expect(new URL(page.url()).hash).toContain('freeze=judge');
    const arm = { recipe: 'trio', rewardFunction: 'judge', freeze: ['judge'] };
    expect(await page.textContent('#sha256')).toBe(await inNode(arm));
    // What is chosen besides is in the command and the address, and the curves are of no other recipe.
    await page.selectOption('#freeze', '');
    expect(await page.textContent('#same')).not.toContain('--freeze');
    expect(new URL(page.url()).hash).not.toContain('freeze=');
    expect(await page.isVisible('#registered')).toBe(true);
    await page.selectOption('#recipe', 'ttrl');
    expect(await page.isVisible('#registered')).toBe(false);
    expect(new URL(page.url()).hash).not.toContain('registered=');
    expect(complaints).toEqual([]);
  });
});
