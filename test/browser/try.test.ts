/**
 * The page /try as a static host serves it: from a subfolder, without a header. A run in the tab comes to the bytes of a run in Node, on one thread and,
 * where the host isolates the page, on several. What cannot be played is said on the page.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { fileEntries, holdsWeights, manifestSha256 } from '../../core/schema/policy.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { readStart } from '../../local/find-start.ts';
import { codeOf } from '../../local/mesh/code-hashes.ts';
import { buildTryPage } from '../../local/mesh/tab-pages.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { gatherReceipt, receiptBytes } from '../../local/verify/receipt.ts';
import { VersionChain } from '../../local/verify/verify-version.ts';
import { FLAGSHIP } from '../../recipes/flagship.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { serveFolder } from '../bench/browser/serve-folder.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';
import { playHonestRound } from '../trust/honest-round.ts';
import { storeRound } from '../trust/stored-round.ts';
import { meshOf, trainStored } from '../trust/trained-round.ts';
import { complaintsOf } from './complaints.ts';
import { faultsIn, faultsOf, spokenNodes } from './screen-reader.ts';

const MOST_COMPRESSED = 1.5e6;
const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-try-'));
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const filesIn = (from: string): string[] =>
  readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

/** A recipe that trains on its test tasks. */
const ON_TESTS = 'spine';
const startsOf = (recipes: readonly Recipe[]) => [...new Set(recipes.map(({ startPolicy }) => startPolicy))];
let browser: Browser | undefined;
const servers: Server[] = [];

/** Serves the folder. `before` is put before the code of the page's thread: what another browser would do. */
async function serve(headers: Record<string, string> = {}, before = ''): Promise<string> {
  const { server, url } = await serveFolder(folder, headers, (path, body) =>
    path === 'thread.js' ? before + body : body,
  );
  servers.push(server);
  return url;
}

beforeAll(async () => {
  await buildTryPage(
    folder,
    '../glossary.html',
    startsOf(NIGHT ? shipped.recipes : [FLAGSHIP, ON_TESTS].map(shipped.find)),
  );
  if (chromiumPath) browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Size {
  readonly recipe?: string;
  readonly rounds: number;
  readonly tasks: number;
  readonly group: number;
}
const SMALL: Size = { rounds: 3, tasks: 12, group: 4 };

/** The SHA-256 of the weights of every version that a run in Node's one process makes, and its records. */
async function inNode({ recipe = FLAGSHIP, rounds, tasks, group }: Size): Promise<string[]> {
  const order = { recipe, rounds, tasks, groupSize: group, seed: 3, freeze: [], engine: 'kernels' } as const;
  const run = runOf(shipped, { ...order, freeze: [] });
  const store = new MemoryRunStore();
  const { policy } = run.settings;
  await store.commitVersion({ name: policy, version: 0 }, await readStart(run.recipe.startPolicy));
  const listener = { started() {}, evaluatedStart() {}, round() {}, finished() {} };
  const device = { device: 'cpu', threads: 1, revectorize: true, evalEvery: rounds } as const;
  await playInProcess(run, device, store, listener, { ...HELD_OUT, examined: 4 });
  const newest = (await store.currentVersion(policy))!;
  return Promise.all(
    Array.from({ length: newest + 1 }, async (_, version) => {
      const files = await store.loadVersion({ name: policy, version });
      return sha256(
        files['model.safetensors'] ?? fileEntries(files).find(([file]) => holdsWeights(file))![1],
      );
    }),
  );
}

async function open(url: string, { recipe = FLAGSHIP, ...size } = SMALL): Promise<Page> {
  const page = await browser!.newPage();
  const hash = new URLSearchParams({ recipe, seed: '3' });
  for (const [name, value] of Object.entries(size)) hash.set(name, String(value));
  await page.goto(`${url}#${hash}`);
  return page;
}
const said = (page: Page) => page.textContent('#say');
const troubleOf = (page: Page) => page.textContent('#trouble');
const shaOf = (page: Page) => page.textContent('#sha256');

async function started(page: Page): Promise<void> {
  await expect.poll(() => page.isEnabled('#start'), { timeout: 60_000 }).toBe(true);
  await page.click('#start');
}
const ended = (page: Page) =>
  expect.poll(() => said(page), { timeout: 110_000 }).toContain('The run has its');

/** The bytes of the file that a button gives. */
async function given(page: Page, selector: string): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(selector)]);
  return readFileSync(await download.path());
}

test('what a reader loads of the page is at most 1.5 MB when it is compressed, beside the policy that a run begins from', () => {
  const files = filesIn(folder).filter((file) => !file.startsWith(join(folder, 'starts/')));
  expect(files.map((file) => file.slice(folder.length + 1))).toContain('thread.js');
  const compressed = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  expect(compressed).toBeLessThan(MOST_COMPRESSED);
});

describe.runIf(chromiumPath)(`in Chromium${CHROMIUM_NEEDED}`, () => {
  test('a run comes to the bytes of a run in Node, and can be paused, saved and gone on with', async () => {
    const versions = await inNode({ ...SMALL, rounds: 4 });
    const page = await open(await serve());
    const complaints = complaintsOf(page);
    await started(page);
    await expect.poll(() => page.locator('#curves svg').count(), { timeout: 60_000 }).toBeGreaterThan(0);
    await page.click('#pause');
    await expect.poll(() => said(page), { timeout: 60_000 }).toContain('Paused');
    await page.click('#pause');
    await ended(page);
    expect(await shaOf(page)).toBe(versions[3]);
    const saved = await given(page, '#save');
    expect(sha256(saved)).toBe(versions[3]);
    const records = (await given(page, '#records'))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.filter(({ key }) => key.endsWith('/proposals.json'))).toHaveLength(3);
    expect(records.filter(({ key }) => key.endsWith('/scored.json'))).toHaveLength(3 * SMALL.tasks);
    expect(await page.locator('#words dt').allTextContents()).toEqual(
      Object.keys(shipped.find(FLAGSHIP).roles).map((role) => expect.stringContaining(role)),
    );
    await page.click('#settings summary');
    await page.fill('#rounds', '1');
    await page.click('#pause');
    await expect.poll(() => shaOf(page), { timeout: 60_000 }).toBe(versions[4]);
    await ended(page);
    // The link and the command are those of all rounds.
    expect(new URL(page.url()).hash).toContain('rounds=4');
    expect(await page.textContent('#same')).toContain('--rounds 4 ');
    // What was saved begins another run.
    await page.click('#own summary');
    await page.setInputFiles('#checkpoint', {
      name: 'saved.safetensors',
      mimeType: 'application/octet-stream',
      buffer: saved,
    });
    await page.click('#start');
    await expect
      .poll(() => page.textContent('#version'), { timeout: 60_000 })
      .toContain(`Version 0: SHA-256 of its weights ${versions[3]}`);
    await ended(page);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('on a page that its host isolates the learner takes more threads, to the same bytes', async () => {
    const page = await open(await serve(ISOLATED), { ...SMALL, rounds: 1 });
    const threads = Math.min(8, await page.evaluate(() => navigator.hardwareConcurrency));
    await started(page);
    await ended(page);
    expect(await page.textContent('#bits')).toContain(`CPU, ${threads} thread${threads === 1 ? '' : 's'}`);
    expect(await shaOf(page)).toBe((await inNode({ ...SMALL, rounds: 1 }))[1]);
    await page.close();
  });

  test.each([
    ['no SIMD', 'WebAssembly.validate = () => false;', 'no WebAssembly SIMD', false],
    [
      'no memory',
      "WebAssembly.Memory.prototype.grow = () => { throw new RangeError('WebAssembly.Memory.grow(): Unable to grow instance memory'); };",
      'gives this tab no more memory',
      true,
    ],
  ])('a browser with %s is told so', async (_, before, why, starts) => {
    const page = await open(await serve({}, before));
    if (starts) await started(page);
    await expect.poll(() => troubleOf(page), { timeout: 60_000 }).toContain(why);
    expect(await page.isDisabled('#start')).toBe(!starts);
    await page.close();
  });

  test('a page that was suspended says so, and its run comes to the same bytes', async () => {
    const page = await open(await serve(), { ...SMALL, rounds: 1 });
    await started(page);
    // Headless Chromium suspends no page: these are the events by which a browser says that it did.
    for (const event of ['freeze', 'resume'])
      await page.evaluate((name) => document.dispatchEvent(new Event(name)), event);
    await expect.poll(() => page.textContent('#hidden-note')).toContain('suspended');
    await ended(page);
    expect(await shaOf(page)).toBe((await inNode({ ...SMALL, rounds: 1 }))[1]);
    await page.close();
  });

  test('files from disk: what is no checkpoint is refused, a checkpoint and questions are played, and nothing is sent', async () => {
    const url = await serve();
    const page = await open(url, { rounds: 1, tasks: 2, group: 2 });
    const asked = new Set<string>();
    page.on('request', (request) => asked.add(`${request.method()} ${new URL(request.url()).host}`));
    const choose = async (...files: { name: string; buffer: Buffer }[]) => {
      await expect.poll(() => page.isEnabled('#start'), { timeout: 60_000 }).toBe(true);
      const given = files.map((file) => ({ ...file, mimeType: 'application/octet-stream' }));
      await page.setInputFiles('#checkpoint', given);
      await page.click('#start');
    };
    const model = (name: string) => (file: string) => ({
      name: file,
      buffer: readFileSync(join('models', name, file)),
    });
    await choose({ name: 'notes.safetensors', buffer: Buffer.from('these are my notes, and no weights') });
    await expect
      .poll(() => troubleOf(page), { timeout: 60_000 })
      .toContain('notes.safetensors is no checkpoint');
    // Weights of another model do not fit the configuration of the page's own.
    await choose(model('words')('model.safetensors'));
    await expect.poll(() => troubleOf(page), { timeout: 60_000 }).toContain('choose its config.json');
    await page.setInputFiles('#questions', {
      name: 'sums.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(
        Array.from(
          { length: 20 },
          (_, i) => `${JSON.stringify({ question: `${i} plus 1`, answer: `${i + 1}` })}\n`,
        ).join(''),
      ),
    });
    await page.click('#settings summary');
    await page.selectOption('#recipe', 'grpo');
    await choose(
      ...['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'].map(model('words')),
    );
    await ended(page);
    expect(await troubleOf(page)).toBe('');
    expect(await page.locator('#curves svg').count()).toBeGreaterThan(0);
    // Nothing was sent, and nothing asked of another host.
    expect([...asked]).toEqual([`GET ${new URL(url).host}`]);
    await page.close();
  });

  test('a receipt is trained again to the same bytes, and one with a changed bit is refused', async () => {
    const device = await openDevice({ device: 'cpu', threads: 1 });
    const round = storeRound(await playHonestRound(1, 3, 4, { engine: 'kernels' }));
    const manifest = await trainStored(round, shipped, device.description);
    device.close();
    const mesh = meshOf([{ round, manifest }]);
    const chain = await VersionChain.open(mesh, manifest.policy);
    const receipt = Buffer.from(
      await receiptBytes(
        await gatherReceipt(mesh, chain, {
          from: 0,
          to: 1,
          madeBy: '0.1.0',
          code: await codeOf(['trio'], []),
        }),
      ),
    );
    const page = await open(await serve());
    const check = async (buffer: Buffer) => {
      await expect.poll(() => page.isEnabled('#check-receipt'), { timeout: 60_000 }).toBe(true);
      await page.setInputFiles('#receipt', { name: 'a.receipt', mimeType: 'application/gzip', buffer });
      await page.click('#check-receipt');
    };
    await expect.poll(() => page.isEnabled('#start'), { timeout: 60_000 }).toBe(true);
    await page.click('#check summary');
    const sentences = () => page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
    await page.evaluate(() => {
      const told: string[] = [];
      const say = document.getElementById('say')!;
      new MutationObserver(() => told.push(say.textContent!)).observe(say, { childList: true });
      Object.assign(globalThis, { told });
    });
    await check(receipt);
    await expect
      .poll(() => said(page), { timeout: 60_000 })
      .toContain('These weights follow from these samples');
    expect(await said(page)).toContain(manifestSha256(manifest));
    expect(await page.textContent('#checked')).toContain('the same bytes');
    // The size and the times are said before the version of three groups is trained again, and what is left after it.
    const [reading, about, left] = await sentences();
    expect(reading).toBe('Reading the receipt.');
    const kilobytes = Math.round(receipt.length / 1e3);
    expect(about!.replaceAll(/\s/g, ' ')).toContain(
      `${manifest.policy}@1 (${kilobytes} kB): 1 version after version 0 to train again, on 3 groups. Where they were made that took 0.0 s`,
    );
    // The page was bundled from the code that Node has here.
    expect(about).toMatch(/The code of recipe trio is the same here \([0-9a-f]{12}\)\.$/);
    expect(left!.replaceAll(/\s/g, ' ')).toContain(
      '1 of 1 version came to the committed bytes: about 0.0 s are left',
    );
    const changed = Buffer.from(receipt);
    changed[changed.length >> 1]! ^= 1;
    await check(changed);
    await expect
      .poll(() => troubleOf(page), { timeout: 60_000 })
      .toContain('The receipt is not as it was written');
    await page.close();
  });

  test('a screen reader hears a run: names, headings, values and errors, a sentence now and then, and no focus is lost', async () => {
    const page = await open(await serve(), { rounds: 40, tasks: 2, group: 2 });
    // The page's clock stands still unless the test moves it.
    await page.addInitScript(() => {
      let at = performance.now();
      performance.now = () => at;
      addEventListener('15 seconds later', () => (at += 15_000));
    });
    await page.reload();
    const focused = () => page.evaluate(() => document.activeElement!.id);
    await expect.poll(() => said(page), { timeout: 60_000 }).toBe('Ready.');
    expect(await faultsOf(page)).toEqual([]);
    const spoken = (await spokenNodes(page)).filter(({ live }) => live === 'polite');
    expect(spoken.map(({ text }) => text)).toEqual(['Ready.']);
    // The skip link leaves the address alone, which holds the settings.
    const { hash } = new URL(page.url());
    await page.focus('.skip');
    await page.keyboard.press('Enter');
    expect([await focused(), new URL(page.url()).hash]).toEqual(['main', hash]);
    // A field that is folded is shown where it is wrong.
    await page.click('#settings summary');
    await page.fill('#rounds', '');
    await page.click('#settings summary');
    await page.focus('#start');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('rounds');
    await page.fill('#rounds', '40');
    await page.setInputFiles('#checkpoint', {
      name: 'notes.safetensors',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from('these are my notes, and no weights'),
    });
    await page.focus('#start');
    await page.keyboard.press('Enter');
    await expect.poll(() => troubleOf(page), { timeout: 60_000 }).toContain('is no checkpoint');
    expect(await focused()).toBe('start');
    const alerts = (await spokenNodes(page)).filter(({ role }) => role === 'alert');
    expect(alerts.map(({ text }) => text)).toEqual([await troubleOf(page)]);
    expect(faultsIn(await spokenNodes(page))).toEqual([]);
    await page.click('#own summary');
    await page.click('#forget');
    expect(await said(page)).toBe('No file is chosen.');
    await page.evaluate(() => {
      const [heard, say] = [[] as string[], document.getElementById('say')!];
      const hear = () => say.ariaLive === 'polite' && heard.push(say.textContent!);
      new MutationObserver(hear).observe(say, { childList: true, characterData: true, subtree: true });
      Object.assign(globalThis, { heard });
    });
    const heard = () => page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
    const roundsHeard = async () => (await heard()).filter((sentence) => sentence.startsWith('Round '));
    const roundsAre = (least: number) =>
      expect
        .poll(async () => Number(/^Round (\d+)/.exec((await said(page))!)?.[1]), { timeout: 60_000 })
        .toBeGreaterThanOrEqual(least);
    await page.focus('#start');
    await page.keyboard.press('Enter');
    await roundsAre(1);
    expect(await focused()).toBe('start');
    expect(faultsIn(await spokenNodes(page))).toEqual([]);
    // What has the focus keeps it while the rounds change what is around it.
    await page.focus('#figures a');
    const link = await page.evaluateHandle(() => document.activeElement);
    await roundsAre(2);
    expect(await roundsHeard()).toEqual([]);
    await page.evaluate(() => dispatchEvent(new Event('15 seconds later')));
    await expect.poll(roundsHeard, { timeout: 60_000 }).toHaveLength(1);
    expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.focus('#pause');
    await page.keyboard.press('Enter');
    await expect.poll(() => said(page), { timeout: 60_000 }).toContain('Paused');
    expect(await focused()).toBe('pause');
    expect(await roundsHeard()).toHaveLength(1);
    expect((await heard()).at(-1)).toBe(await said(page));
    await page.$$eval('details', (all) => all.forEach((one) => void one.toggleAttribute('open', true)));
    expect(await faultsOf(page)).toEqual([]);
    const nodes = await spokenNodes(page);
    expect(nodes.find(({ role, name }) => role === 'button' && name === 'Continue')).toBeDefined();
    const headings = nodes.filter(({ role, level }) => role === 'heading' && level < 3);
    expect(headings.map(({ name }) => name.replace(/ of each .*/, ''))).toEqual([
      'Train in this tab',
      'Last words',
      'Latest evaluation',
      'Curves',
    ]);
    // Every chart says its newest values, which stand in its legend, too.
    const charts = await page.$$eval('#curves figure:has(.readout)', (all) =>
      all.map((chart) => ({
        title: chart.querySelector('h3')!.textContent,
        legend: [...chart.querySelector('.readout')!.children]
          .map((line) => line.textContent.trim())
          .join(', '),
        spoken: chart.querySelector('[role=slider]')!.ariaValueText!.replace(/^round \d+: /, ''),
      })),
    );
    expect(charts.map(({ title }) => title)).toContain('Reward and gold');
    for (const { title, legend, spoken } of charts) {
      expect(spoken).toBe(legend);
      expect(nodes.find(({ role, name }) => role === 'slider' && name === title)).toBeDefined();
    }
    await page.close();
  });

  /** Plays a run in the tab and in Node, and says what each came to. */
  async function inBoth(size: Size & { readonly recipe: string }): Promise<readonly [string | null, string]> {
    const page = await open(await serve(), size);
    await started(page);
    const ends = () =>
      page.evaluate(
        () => document.getElementById('say')!.textContent + document.getElementById('trouble')!.textContent!,
      );
    await expect.poll(ends, { timeout: 600_000 }).toMatch(/The run has its|Nothing is played/);
    expect([size.recipe, await troubleOf(page)]).toEqual([size.recipe, '']);
    const tab = await shaOf(page);
    await page.close();
    return [tab, (await inNode(size)).at(-1)!];
  }

  test('what a link asks for and the page does not have is said, and nothing else is played in its place unsaid', async () => {
    const page = await open(await serve(), { ...SMALL, recipe: 'sppo' });
    await expect.poll(() => troubleOf(page), { timeout: 60_000 }).toContain('recipe sppo');
    await page.goto(`${page.url().split('#')[0]}#recipe=${FLAGSHIP}&reward=none&variant=to-four`);
    await page.reload();
    await expect.poll(() => troubleOf(page), { timeout: 60_000 }).toContain('reward none');
    expect(await troubleOf(page)).not.toContain('variant');
    await page.close();
  });

  test('a recipe that trains on its test tasks takes the same ones in the tab, where fewer are examined', async () => {
    const [tab, node] = await inBoth({ recipe: ON_TESTS, rounds: 1, tasks: 3, group: 4 });
    expect(tab).toBe(node);
  });

  test.runIf(NIGHT)(
    `twelve rounds of the flagship, and two of every recipe, come to Node’s bytes${IN_THE_NIGHT}`,
    { timeout: 1_800_000 },
    async () => {
      const sizes = [
        { recipe: FLAGSHIP, rounds: 12, tasks: 32, group: 8 },
        ...shipped.recipes.map(({ name }) => ({ recipe: name, rounds: 2, tasks: 2, group: 4 })),
      ];
      for (const size of sizes) {
        const [tab, node] = await inBoth(size);
        expect([size.recipe, tab]).toEqual([size.recipe, node]);
      }
    },
  );
});
