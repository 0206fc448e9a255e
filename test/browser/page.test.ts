import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { complaintsOf } from './complaints.ts';
import { HOSTILE } from './fake-mesh/drawn.ts';
import { type FakeMesh, OPERATOR_TOKEN, startFakeMesh } from './fake-mesh/server.ts';
import { faultsOf } from './screen-reader.ts';

describe.skipIf(!chromiumPath)(`the page${CHROMIUM_NEEDED}`, () => {
  let browser: Browser;
  // One tab for all that ask for no screen of their own: a new one takes longer than what most of them look at. Each fake mesh has a port,
  // and so an origin, of its own: what one stores the next does not see.
  let tab: Page;
  let complaints: string[];
  beforeAll(async () => {
    browser = await openBrowser();
    tab = await browser.newPage();
    complaints = complaintsOf(tab);
  });
  afterAll(() => browser?.close());

  /** Looks at the page over a fake mesh of its own, and ends by asking that nothing was complained about. */
  async function visit(
    mesh: Promise<FakeMesh>,
    look: (page: Page, mesh: FakeMesh) => Promise<void>,
    { at = '', expected }: { readonly at?: string; readonly expected?: RegExp } = {},
  ): Promise<void> {
    const server = await mesh;
    try {
      complaints.length = 0;
      await tab.goto(server.url + at);
      await look(tab, server);
      expect(complaints.filter((text) => !expected?.test(text))).toEqual([]);
    } finally {
      // It would complain of the server that goes away.
      await tab.goto('about:blank');
      await server.close();
    }
  }

  const text = (page: Page, selector: string) => page.locator(selector).innerText();

  test('shows the run, the stage of the open round, its curves and its rounds', () =>
    visit(startFakeMesh({ done: 26, target: 40 }), async (page, { url }) => {
      await page.waitForSelector('.rounds tbody tr');
      expect(await text(page, '#title h1')).toBe('trio reward mix · seed 0');
      expect(await text(page, '#pipeline h2')).toMatch(/^Round 27 of 40/);
      expect(await page.locator('.stages li').evaluateAll((all) => all.map((li) => li.className))).toEqual([
        'done',
        'active',
        'active',
        'waiting',
        'waiting',
      ]);
      expect(await text(page, '.stages li:nth-child(3)')).toContain('41 of 64');
      expect(await page.locator('#curves svg[role=img]').count()).toBe(11);

      // the figures of the page are those of the API
      const { runs } = await (await fetch(`${url}api/runs`)).json();
      const { rounds } = await (await fetch(`${url}api/rounds?run=${runs[0].id}&limit=500`)).json();
      const at = (index: number) => rounds.find((round: { index: number }) => round.index === index).report;
      const [before, after] = [at(1).start.heldOut.accuracy, at(25).evaluation.heldOut.accuracy];
      const [greedy = '', meaning] = (await text(page, '.headline div:first-child dd')).split('\n');
      expect(greedy.replace('\u202f', '')).toBe(
        `${(100 * after).toFixed(1)}% +${(100 * (after - before)).toFixed(1)}`,
      );
      expect(meaning).toContain('Not tested against chance (500 questions)');
      const row = await page.locator('.rounds tr:has(a[href$="round=25"]) td').allInnerTexts();
      expect(row[2]).toBe(at(25).monitors.reward.toFixed(2));
      expect(row.join(' ')).toContain((100 * after).toFixed(1));
      expect(await page.locator('.rounds tbody tr').first().innerText()).toContain('rollout');
    }));

  test('nodes are lanes: their shares, how far a close one is off, why one is shut out, and what one does not take', () =>
    visit(startFakeMesh({ done: 3, target: 40 }), async (page) => {
      await page.waitForSelector('.lanes li');
      const lanes = await page.locator('.lanes li').allInnerTexts();
      expect(lanes.map((lane) => lane.split('\n')[0])).toEqual(['attic', 'gpu', 'cold', 'notary', 'old']);
      expect(lanes[0]!.replace('\u202f', '')).toContain('75%');
      expect(lanes[0]).toContain('holds version 3 of trio-0; ');
      expect(lanes.map((lane) => lane.includes('may be given prompts that hold reference answers'))).toEqual(
        lanes.map((_, i) => i === 0),
      );
      expect(lanes[1]).toContain(
        '0.00050 nats off on average, 0.0020 at most, draws 1.8 standard deviations from chance',
      );
      expect(lanes[2]).toContain('shut out');
      expect(lanes[2]).toContain('audit.chance: too likely');
      expect(lanes[3]).toContain('trains versions again');
      expect(lanes[4]).toContain('takes nothing that waits');
      expect(lanes[4]).toContain('does not take what waits (kernels float32 grammar)');
    }));

  test('an ended run keeps the lanes of the nodes that took part in it', () =>
    visit(startFakeMesh({ done: 3, target: 3 }), async (page) => {
      await page.waitForSelector('.lanes li');
      const lanes = await page.locator('.lanes li b').allInnerTexts();
      expect(lanes).toEqual(['attic', 'gpu']);
    }));

  test('what a model writes is text: nothing of it runs, nothing is fetched for it', () =>
    visit(startFakeMesh({ done: 9, target: 9 }), async (page) => {
      await page.waitForSelector('.letters');
      expect(await text(page, '.letters')).toContain(HOSTILE);
      expect(await text(page, '#versions')).toContain(HOSTILE);
      await page.click('text=Round 7');
      await page.waitForSelector('.tasks a');
      expect(await text(page, '#round')).toContain(HOSTILE);
      await page.locator('.tasks a').first().click();
      await page.waitForSelector('.solution');
      expect(await text(page, '.task h3')).toBe(HOSTILE);
      expect(await page.locator('.solution').first().innerText()).toContain(HOSTILE);
      await page.locator('.tasks a').nth(1).click();
      await page.waitForSelector('.task .warning');
      expect(await text(page, '.task .warning')).toContain(HOSTILE);
      expect(await page.locator('img, iframe, object, embed, body script, [onerror], [style]').count()).toBe(
        0,
      );
    }));

  test('a picture that a prompt shows is drawn, pixel by pixel', () =>
    visit(startFakeMesh({ done: 3, target: 3 }), async (page) => {
      await page.click('.rounds tbody tr:first-child a');
      await page.waitForSelector('.tasks a');
      await page.locator('.tasks a').nth(2).click();
      const picture = page.locator('canvas[aria-label="an image of 2 × 1 pixels"]').first();
      await picture.waitFor();
      const drawn = await picture.evaluate((canvas) => [
        ...(canvas as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, 2, 1).data,
      ]);
      expect(drawn).toEqual([255, 0, 0, 255, 0, 0, 255, 255]);
      expect(await page.locator('.seen').first().innerText()).toContain('Which colour is it?');
      expect(await page.locator('.seen').first().innerText()).not.toContain('<image:');
    }));

  test('a task shows its steps, the verdicts under them, the checker, and what cannot be read', () =>
    visit(startFakeMesh({ done: 3, target: 3 }), async (page) => {
      await page.click('.rounds tbody tr:first-child a');
      await page.waitForSelector('.tasks a');
      await page.locator('.tasks a').nth(4).click();
      await page.waitForSelector('.solution');
      const task = await text(page, '.task h3');
      // left to right, by a second way than the library's
      const [first = 0, ...terms] = (task.match(/[+-]?\d/g) ?? []).map(Number);
      let total = first;
      const totals = terms.map((term) => {
        total += term;
        return total;
      });
      const right = page.locator('.solution').first();
      expect(await right.locator('.step code').allInnerTexts()).toEqual(
        [...totals, totals.at(-1)].map(String),
      );
      const rows = right.locator('tbody tr');
      expect(await rows.nth(0).innerText()).toContain('every step exact');
      expect(await rows.nth(1).locator('td').allInnerTexts()).toEqual([
        ...totals.map(() => '✓ ok'),
        '✓ right',
        'agrees',
      ]);
      expect(await page.locator('.lengths summary').innerText()).toBe('Length and repetition against reward');
      const terse = page.locator('.solution').nth(2);
      expect(await terse.locator('.step').count()).toBe(1);
      expect(await terse.innerText()).toContain('not exact');
      expect(await page.locator('.solution').nth(3).innerText()).toContain('off-grammar');
      // solution 5 has a judgment that is no judgment; solution 6 two that are fooled
      expect(await page.locator('.solution').nth(4).innerText()).toContain(HOSTILE);
      expect(await page.locator('.tasks a[aria-current] .dots').getAttribute('aria-label')).toBe(
        '2 of 8 exact',
      );
    }));

  test('the rewards of a task are read over the rounds that ask it', () =>
    visit(startFakeMesh({ done: 3, target: 3 }), async (page) => {
      await page.click('.rounds tbody tr:first-child a');
      await page.waitForSelector('.tasks a');
      // Every round asks the first task; its samples earn nothing.
      await page.locator('.tasks a').first().click();
      await page.getByRole('button', { name: 'Its rewards over rounds' }).click();
      await page.waitForSelector('.over-rounds tbody tr');
      const rows = page.locator('.over-rounds tbody tr');
      expect(
        await rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent))),
      ).toEqual([1, 2, 3].map((round) => [`${round}`, '0.00', '0.00 to 0.00', '–']));
      await rows.nth(0).locator('a').click();
      await page.waitForURL(/round=1/);
    }));

  test('a version of the round is asked: the whole conversation is sent, and what it says is text', () =>
    visit(
      startFakeMesh(),
      async (page) => {
        const sent: { model: string; messages: object[]; temperature: number }[] = [];
        let refuses = true;
        await page.route('**/v1/chat/completions', (route) => {
          if (refuses)
            return route.fulfill({ status: 400, json: { error: { code: 'x', message: 'It is busy.' } } });
          sent.push(route.request().postDataJSON());
          const message = { content: `<b>${sent.length}</b>` };
          return route.fulfill({ json: { choices: [{ message, finish_reason: 'length' }] } });
        });
        await page.click('.rounds tbody a');
        await page.getByText('Ask a version of this round yourself').click();
        const box = page.getByLabel('Message', { exact: true });
        await box.fill('What is 2 + 2?');
        await box.press('Enter');
        const status = page.locator('.chat [aria-live]');
        await expect.poll(() => status.innerText()).toBe('It is busy.');
        // What was refused is still there to be sent again, and is no part of the conversation.
        expect(await box.inputValue()).toBe('What is 2 + 2?');
        expect(await page.locator('.chat-log p').count()).toBe(0);
        refuses = false;
        await box.press('Enter');
        await expect
          .poll(() => page.locator('.chat-log .assistant').allInnerTexts())
          .toEqual(['it <b>1</b>']);
        expect(await status.innerText()).toContain('cut off');
        await box.fill('And 3 + 3?');
        await page.getByRole('button', { name: 'Send' }).click();
        await expect.poll(() => page.locator('.chat-log .assistant').count()).toBe(2);
        const user = (content: string) => ({ role: 'user', content });
        expect(sent[1]!.messages).toEqual([
          user('What is 2 + 2?'),
          { role: 'assistant', content: '<b>1</b>' },
          user('And 3 + 3?'),
        ]);
        expect(sent[1]!.model).toBe(await page.getByLabel('Version', { exact: true }).inputValue());
        const anew = page.getByRole('button', { name: 'New conversation' });
        await anew.click();
        expect(await page.locator('.chat-log p').count()).toBe(0);
        await page.unroute('**/v1/chat/completions');

        // An answer to a conversation that was left is not the first word of the next.
        let answer = () => {};
        const held = new Promise<void>((resolve) => {
          answer = resolve;
        });
        await page.route('**/v1/chat/completions', async (route) => {
          await held;
          await route.fulfill({
            json: { choices: [{ message: { content: 'late' }, finish_reason: 'stop' }] },
          });
        });
        await box.fill('Left');
        await box.press('Enter');
        await anew.click();
        await box.fill('Typed meanwhile');
        answer();
        await page.waitForFunction(
          () => !document.querySelector<HTMLButtonElement>('.chat [type=submit]')?.disabled,
        );
        expect(await page.locator('.chat-log p').count()).toBe(0);
        expect(await box.inputValue()).toBe('Typed meanwhile');
        await page.unroute('**/v1/chat/completions');

        // A policy without a chat template goes on with the text.
        const error = { code: 'renderer.no-template', message: 'It has no chat template.' };
        await page.route('**/v1/chat/completions', (route) =>
          route.fulfill({ status: 422, json: { error } }),
        );
        await page.route('**/v1/completions', (route) =>
          route.fulfill({
            json: {
              choices: [{ text: `${route.request().postDataJSON().prompt} time`, finish_reason: 'stop' }],
            },
          }),
        );
        await box.fill('Once upon a');
        await box.press('Enter');
        await expect
          .poll(() => page.locator('.chat-log .assistant').allInnerTexts())
          .toEqual(['it Once upon a time']);
        expect(await status.innerText()).toContain('has no chat template');
        await page.unrouteAll();
      },
      { expected: /400|422/ },
    ));

  test('works by keyboard: rounds are links, charts are sliders, data opens as a table', () =>
    visit(startFakeMesh({ done: 12, target: 12 }), async (page) => {
      await page.waitForSelector('.rounds tbody tr');
      const slider = page.getByRole('slider', { name: 'Held-out accuracy' });
      await slider.focus();
      await page.keyboard.press('Home');
      expect(await slider.getAttribute('aria-valuetext')).toMatch(/^round 0: greedy 3\d\.\d\u202f%/);
      await page.keyboard.press('ArrowRight');
      expect(await slider.getAttribute('aria-valuenow')).toBe('1');
      expect(await page.locator('#curves .cursor text').allTextContents()).toEqual(Array(11).fill('round 1'));
      await page.locator('.chart.wide summary').focus();
      await page.keyboard.press('Enter');
      const cells = page.locator('.chart.wide details tbody tr:first-child > *');
      expect(await cells.first().innerText()).toBe('0');
      expect(await page.locator('.chart.wide details tbody tr').count()).toBe(4);
      await page.locator('.rounds tbody tr:first-child a').focus();
      await page.keyboard.press('Enter');
      await page.waitForSelector('.tasks a');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('round-title');
      // a task that is opened leaves the focus where it is
      const link = page.locator('.tasks a').nth(5);
      await link.focus();
      await page.keyboard.press('Enter');
      await page.waitForSelector('.solution');
      expect(await link.getAttribute('aria-current')).toBe('true');
      expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
      await page.waitForSelector('.tasks li:last-child .dots');
      // all 64 tasks but the one that failed
      expect(await page.locator('.dots').count()).toBe(63);
      await page.goBack();
      await page.goBack();
      await page.waitForSelector('#overview:not([hidden])');
    }));

  test('a screen reader can hear a run, a round, a task and the list of runs', () =>
    visit(startFakeMesh({ done: 12, target: 40 }), async (page, { url }) => {
      const unfolded = async () => {
        await page.$$eval('details', (all) => all.forEach((one) => void one.toggleAttribute('open', true)));
        return faultsOf(page);
      };
      await page.waitForSelector('.rounds tbody tr');
      await page.waitForSelector('#versions table');
      expect(await unfolded()).toEqual([]);
      await page.click('text=Round 7');
      await page.waitForSelector('.tasks a');
      // The skip link leaves the address alone, which says what is shown.
      const { hash } = new URL(page.url());
      await page.focus('.skip');
      await page.keyboard.press('Enter');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
      expect(new URL(page.url()).hash).toBe(hash);
      await page.locator('.tasks a').nth(4).click();
      await page.waitForSelector('.solution');
      expect(await unfolded()).toEqual([]);
      await page.goto(`${url}#view=runs`);
      await page.waitForSelector('#all-runs table');
      expect(await unfolded()).toEqual([]);
    }));

  test('charts are looked at by tokens, in part and smoothed, and kept as one picture', () =>
    visit(startFakeMesh({ done: 24, target: 24 }), async (page) => {
      await page.waitForSelector('.rounds tbody tr');
      const slider = page.getByRole('slider', { name: 'Held-out accuracy' });
      await slider.scrollIntoViewIfNeeded();
      const box = (await slider.boundingBox())!;
      // 44 px to the left of round 0, 10 px to the right of round 24
      const x = (round: number) => box.x + 44 + ((box.width - 54) * round) / 24;
      await page.mouse.move(x(6), box.y + 50);
      await page.mouse.down();
      await page.mouse.move(x(12), box.y + 60);
      expect(await page.locator('.selection rect').count()).toBe(1);
      await page.mouse.up();
      expect(await page.getByLabel('From', { exact: true }).inputValue()).toMatch(/^[56]$/);
      expect(await page.getByLabel('to', { exact: true }).inputValue()).toMatch(/^1[23]$/);
      await slider.press('Home');
      expect(Number(await slider.getAttribute('aria-valuenow'))).toBeGreaterThan(4);
      await page.getByLabel('Smoothing').fill('0.5');
      expect(await page.locator('#curves .measured').count()).toBeGreaterThan(5);
      await page.getByRole('button', { name: 'Whole run' }).click();
      await page.getByLabel('Axis').selectOption('sampled tokens');
      await slider.press('End');
      expect(await slider.getAttribute('aria-valuetext')).toMatch(/^[\d.]+ [kM] tokens: greedy /);
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'SVG of all' }).click();
      const file = await (await saved).createReadStream();
      const drawing = Buffer.concat(await file.toArray()).toString();
      expect(drawing.match(/<svg /g)).toHaveLength(12);
      expect(drawing).toContain('>Held-out accuracy</text>');
    }));

  test('follows the run: a new round appears, a failing server is told and forgiven', () =>
    visit(
      startFakeMesh({ done: 5, target: 40 }),
      async (page, mesh) => {
        await page.waitForSelector('.rounds tbody tr');
        expect(await page.locator('.rounds tbody tr').count()).toBe(6);
        mesh.advance();
        await page.waitForSelector('.rounds tbody tr:nth-child(7)');
        // The file has the rounds that are shown now, and not those of the first look.
        const [file] = await Promise.all([page.waitForEvent('download'), page.click('text=Download as CSV')]);
        const rounds = readFileSync(await file.path(), 'utf8')
          .trimEnd()
          .split('\r\n')
          .slice(1);
        expect(rounds.map((line) => Number(line.split(',')[0]))).toEqual([0, 1, 2, 3, 4, 5, 6]);
        mesh.failWith(503);
        await page.waitForSelector('#status .trying');
        expect(await text(page, '#status')).toContain(HOSTILE);
        expect(await page.locator('.rounds tbody tr').count()).toBe(7);
        mesh.failWith(null);
        await page.waitForSelector('#status .live');
      },
      { expected: /503/ },
    ));

  test('asks for a reading token where the mesh wants one', () =>
    visit(
      startFakeMesh({ token: 'read-me-0123456789' }),
      async (page) => {
        await page.waitForSelector('#token:not([hidden])');
        await page.fill('#token-value', 'read-me-0123456789');
        await page.keyboard.press('Enter');
        await page.waitForSelector('.rounds tbody tr');
        expect(await page.locator('#token').isHidden()).toBe(true);
      },
      { expected: /401/ },
    ));

  test('stays quick with thousands of rounds: fetched once, drawn thin, listed in part', () =>
    visit(startFakeMesh({ done: 3000, target: 4000 }), async (page, { requests }) => {
      await page.waitForSelector('.rounds tbody tr');
      expect(await page.locator('.rounds tbody tr').count()).toBe(25);
      const before = requests.get('/api/rounds') ?? 0;
      expect(before).toBe(7);
      const asked = page.waitForRequest(/api\/rounds\?/);
      expect(Number(new URL((await asked).url()).searchParams.get('limit'))).toBeLessThan(20);
      expect((requests.get('/api/rounds') ?? 0) - before).toBeLessThanOrEqual(1);
      const longest = await page
        .locator('.series path')
        .evaluateAll((paths) => Math.max(...paths.map((path) => path.getAttribute('d')?.length ?? 0)));
      expect(longest).toBeLessThan(20_000);
      await page.getByRole('button', { name: /earlier rounds/ }).click();
      expect(await page.locator('.rounds tbody tr').count()).toBe(275);
    }));

  test('one run is held against another', () =>
    visit(startFakeMesh({ done: 40, target: 40 }), async (page) => {
      await page.waitForSelector('.rounds tbody tr');
      await page.click('text=All runs');
      await page.waitForSelector('#all-runs tbody input[type=checkbox] >> nth=1');
      for (const box of await page.locator('#all-runs tbody input[type=checkbox]').all()) await box.check();
      await page.click('text=Compare selected');
      // The charts of the one run stand there until the others have come.
      await expect.poll(() => text(page, '.chart.wide .readout')).toMatch(/judge frozen 3\d\.\d/);
      await page.locator('.rounds tbody tr:first-child a').click();
      await page.waitForSelector('.tasks a');
      expect(new URL(page.url()).hash).toContain('against=');
    }));

  test('fits a phone, dark and light: nothing wider than the screen', async () => {
    const before = tab.viewportSize()!;
    await tab.setViewportSize({ width: 360, height: 740 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.emulateMedia({ colorScheme });
      await visit(startFakeMesh({ done: 26, target: 40 }), async (page) => {
        await page.waitForSelector('.rounds tbody tr');
        const wider = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(await wider()).toBe(0);
        await page.locator('.rounds tbody tr:nth-child(2) a').click();
        await page.waitForSelector('.tasks a');
        await page.locator('.tasks a').nth(4).click();
        await page.waitForSelector('.solution');
        expect(await wider()).toBe(0);
      });
    }
    await tab.emulateMedia({ colorScheme: null });
    await tab.setViewportSize(before);
  });

  test('a run is named, tagged, found by its tag, hidden and deleted; the token is asked for once', () =>
    visit(
      startFakeMesh({ done: 40, target: 40 }),
      async (page) => {
        const rows = page.locator('#all-runs tbody tr');
        await page.waitForFunction(() => document.querySelectorAll('#all-runs tbody tr').length === 2);
        await rows
          .first()
          .getByRole('button', { name: /^Edit the label of / })
          .click();
        const form = page.locator('.run-label');
        await form.getByLabel('Name').fill('<b>baseline</b>');
        await form.getByLabel('Tags').fill('Paper  lr-3e-5');
        await form.getByRole('button', { name: 'Save' }).click();
        await form.getByLabel(/Token of whoever runs the mesh/).fill(OPERATOR_TOKEN);
        await form.getByRole('button', { name: 'Save' }).click();
        await page.waitForFunction(() => document.querySelector('#all-runs .tag'));
        expect(await rows.first().locator('a').innerText()).toBe('<b>baseline</b>');
        expect(await rows.first().locator('.tag').allInnerTexts()).toEqual(['#paper', '#lr-3e-5']);

        await rows.first().locator('.tag').first().click();
        expect(await rows.count()).toBe(1);
        await page.getByRole('searchbox').fill('');
        await page.waitForFunction(() => document.querySelectorAll('#all-runs tbody tr').length === 2);

        await rows
          .first()
          .getByRole('button', { name: /^Edit the label of / })
          .click();
        await form.getByLabel('hidden').check();
        await form.getByRole('button', { name: 'Save' }).click();
        await page.waitForFunction(() => document.querySelectorAll('#all-runs tbody tr').length === 1);
        await page.getByLabel('show hidden').check();
        expect(await rows.count()).toBe(2);

        await rows
          .first()
          .getByRole('button', { name: /^Edit the label of / })
          .click();
        await form.getByRole('button', { name: 'Delete' }).click();
        expect(await rows.count()).toBe(2);
        await form.getByRole('button', { name: 'Delete for good' }).click();
        await page.waitForFunction(() => document.querySelectorAll('#all-runs tbody tr').length === 1);
      },
      { at: '#view=runs', expected: /401/ },
    ));

  test('an empty mesh says how to start', () =>
    visit(startFakeMesh({ empty: true }), async (page) => {
      await page.waitForSelector('#empty:not([hidden])');
      expect(await text(page, '#empty')).toContain('npx rollmesh start');
    }));
});
