/** A Chromium of the machine, headless, with a profile of its own. Where there is none the tests say so and are skipped. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';

const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

export const chromiumPath = PLACES.find((place) => place && existsSync(place));

export const SKIP_REASON =
  'no Chromium on this machine: install one (apt-get install chromium) or name it in CHROMIUM';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Runs `work` in a fresh browser, which is gone afterwards. */
export async function inBrowser<T>(
  options: BrowserContextOptions,
  work: (context: BrowserContext) => Promise<T>,
): Promise<T> {
  if (!chromiumPath) throw new Error(SKIP_REASON);
  const profile = await mkdtemp(join(tmpdir(), 'rollmesh-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath,
    args: FLAGS,
    ...options,
  });
  try {
    return await work(context);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 3 });
  }
}
