/** The page over the real mesh: the Workers of wrangler.toml in Miniflare, the start policy, no learner. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GroupContent } from '../../core/schema/answers.ts';
import { type Mesh, startMesh } from '../../local/mesh/start.ts';
import { ensureShipped } from '../../local/starts.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { complaintsOf } from './complaints.ts';

describe.skipIf(!chromiumPath)(`the page of the real mesh${CHROMIUM_NEEDED}`, () => {
  let folder: string;
  let mesh: Mesh;
  let browser: Browser;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rollmesh-page-'));
    [mesh, browser] = await Promise.all([startMesh({ stateDir: folder, cronMs: 0 }), openBrowser()]);
    await ensureShipped(new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN }));
  });
  afterAll(async () => {
    await browser?.close();
    await mesh?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  const api = async (path: string) => (await fetch(new URL(path, mesh.url))).json();

  test('a round is followed from its webhook to its judged solutions', async () => {
    const page = await browser.newPage();
    const complaints = complaintsOf(page);
    await page.goto(mesh.url);
    await page.waitForSelector('#empty:not([hidden])');

    const order = { recipe: 'trio', seed: 3, tasks: 4, groupSize: 2, rounds: 2, engine: 'kernels' as const };
    const { run, round } = await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, order);
    await page.waitForSelector('.stages');
    expect(await page.locator('#title h1').innerText()).toBe('trio reward mix · engine kernels · seed 3');
    // there is no learner here: the round waits for it with all of its groups judged
    await page.waitForSelector('.stages li.active:nth-child(4)', { timeout: 100_000 });
    expect(await page.locator('.stages li:nth-child(3)').innerText()).toContain('4 of 4');

    await page.click('.rounds tbody a');
    await page.waitForSelector('.tasks a');
    const { groups } = await api(`/api/rounds/${round}/groups`);
    expect(await page.locator('.tasks code').allInnerTexts()).toEqual(
      groups.map(({ task }: { task: string }) => task),
    );
    await page.locator('.tasks a').first().click();
    await page.waitForSelector('.solution');
    const { samples } = await api(`/api/rounds/${round}/groups/${groups[0].group}`);
    expect(samples).toHaveLength(2);
    const shown = await page.locator('.solution').allInnerTexts();
    for (const [i, { text, rewards }] of samples.entries()) {
      expect(shown[i]).toContain(`reward ${rewards.reward.toFixed(2)}`);
      for (const number of text.completion.match(/-?\d+/g) ?? []) expect(shown[i]).toContain(number);
    }
    // the button that no other board has
    await page.locator('.solution .replay button').first().click();
    const said = page.locator('.solution .replay [aria-live]').first();
    await said.locator('.good').waitFor({ timeout: 100_000 });
    expect(await said.innerText()).toContain(`identical: ${samples[0].ids.length} token`);

    // All of the round: four tasks with two solutions, and the verdicts on those that were judged.
    const contents = await api(`/api/rounds/${round}/contents?limit=32&from=0`);
    const written = contents.groups.flatMap(({ samples: of, judgments }: GroupContent) => [
      ...(of ?? []),
      ...(judgments ?? []),
    ]);
    await page.getByRole('button', { name: 'Replay round' }).click();
    const replayed = page.getByText('all were drawn again.');
    await replayed.waitFor({ timeout: 100_000 });
    expect(await replayed.innerText()).toBe(`${written.length} samples identical; all were drawn again.`);

    // The version that sampled the round, asked by hand, answers what the endpoint says.
    await page.getByText('Ask a version of this round yourself').click();
    await page.getByLabel('Message', { exact: true }).fill('3+2');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.chat-log .assistant').waitFor({ timeout: 100_000 });
    const model = await page.getByLabel('Version', { exact: true }).inputValue();
    expect(model).toMatch(/@0$/);
    const answer = await fetch(new URL('/v1/chat/completions', mesh.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: '3+2' }], temperature: 0 }),
    });
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
    expect(choices[0]!.message.content).not.toBe('');
    expect(await page.locator('.chat-log .assistant span').textContent()).toBe(choices[0]!.message.content);

    // one held-out task, as the only version there is answers it
    await page.goto(`${mesh.url}/#run=${run}&view=held-out`);
    await page.waitForSelector('.version .token', { timeout: 100_000 });
    expect(await page.locator('.version h2').allInnerTexts()).toEqual(['Version 0']);
    expect(await page.locator('select[aria-label="Held-out task"] option').count()).toBeGreaterThanOrEqual(8);

    // The same task through two versions: what the later one writes otherwise is marked, and nothing else.
    const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
    const [{ settings }] = (await api('/api/runs')).runs;
    const manifest = {
      policy: settings.policy,
      version: 1,
      parent: 0,
      groups: [],
      round: null,
      settings: {},
    };
    await gateway.putVersion(await readPolicyFolder('models/arithmetic-verbose'), manifest);
    await page.reload();
    await page.waitForSelector('.version >> nth=1', { timeout: 100_000 });
    expect(await page.locator('.version h2').allInnerTexts()).toEqual(['Version 0', 'Version 1']);
    let marked = 0;
    for (const option of await page.locator('select[aria-label="Held-out task"] option').allInnerTexts()) {
      await page.selectOption('select[aria-label="Held-out task"]', option);
      const [before, after] = await page.locator('.version').evaluateAll((all) =>
        all.map((version) =>
          [...version.querySelectorAll('.token')].map(({ tagName, textContent }) => ({
            text: textContent ?? '',
            marked: tagName === 'MARK',
          })),
        ),
      );
      expect(before!.filter((token) => token.marked)).toEqual([]);
      const kept = after!.filter((token) => !token.marked).map(({ text }) => text);
      for (const { text } of before!) if (text === kept[0]) kept.shift();
      expect(kept, `tokens of ${option} that version 0 did not write in this order`).toEqual([]);
      marked += after!.filter((token) => token.marked).length;
    }
    expect(marked).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
    await page.close();

    // pages of the history: nothing lies before the first round
    expect((await api(`/api/rounds?run=${run}&before=2`)).rounds).toHaveLength(1);
    expect((await api(`/api/rounds?run=${run}&before=1`)).rounds).toEqual([]);
  });

  test('the glossary is where the terms of the page lead', async () => {
    const page = await browser.newPage();
    const complaints = complaintsOf(page);
    await page.goto(new URL('/glossary/#kl', mesh.url).href);
    expect(await page.locator('tr:has(:target)').innerText()).toMatch(/^KL to version 0\s+Mean k3 estimate/);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('the page /try is served whole, and isolated so that its learner may use more threads', async () => {
    const page = await browser.newPage();
    const complaints = complaintsOf(page);
    await page.goto(new URL('/try', mesh.url).href);
    await expect.poll(() => page.isEnabled('#start'), { timeout: 60_000 }).toBe(true);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    await page.click('#start');
    await expect.poll(() => page.locator('#curves svg').count(), { timeout: 60_000 }).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('every file of the page and of the API comes under the security policy', async () => {
    for (const path of ['/', '/try/', '/app.js', '/style.css', '/api/runs', '/nowhere']) {
      const { headers } = await fetch(new URL(path, mesh.url));
      expect(headers.get('content-security-policy'), path).toContain("default-src 'none'; script-src 'self'");
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
    }
  });
});
