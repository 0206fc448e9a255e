/** The documentation as `npm run site` writes it, from a subfolder of a static host: the search, the filter of recipes, and a recipe that is no flagship played in the tab. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { complaintsOf } from './complaints.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
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

  test('the table of recipes is filtered by words of their methods', async () => {
    await page.goto(`${base}docs/recipes.html`);
    await page.fill('#filter', 'implicit leave-one-out');
    await page.waitForFunction(() => document.getElementById('said')?.textContent?.startsWith('1 of '));
    const shown = await page.$$eval(
      'main tbody tr',
      (rows) => rows.filter((row) => row.checkVisibility()).length,
    );
    expect(shown).toBe(1);
  });

  test('a variant of a recipe with a start of its own plays in the tab', async () => {
    await page.goto(`${base}try/index.html#recipe=tango&variant=constant&rounds=1&tasks=2&group=2`);
    await page.waitForFunction(() => document.getElementById('say')?.textContent === 'Ready.');
    await page.click('#start');
    await page.waitForFunction(
      () => /has its round,/.test(document.getElementById('say')?.textContent ?? ''),
      null,
      {
        timeout: 120_000,
      },
    );
    expect(await page.textContent('#same')).toContain('--recipe tango --variant constant');
  });
});
