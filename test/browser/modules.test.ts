/** The page's own modules, run where they run: each test imports them in the browser and hands back plain values. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { type FakeMesh, startFakeMesh } from './fake-mesh/server.ts';

describe.skipIf(!chromiumPath)(`the page’s modules${CHROMIUM_NEEDED}`, () => {
  let browser: Browser;
  let page: Page;
  let mesh: FakeMesh;
  beforeAll(async () => {
    browser = await openBrowser();
    mesh = await startFakeMesh({ empty: true });
    page = await browser.newPage();
    await page.goto(mesh.url);
  });
  afterAll(async () => {
    await browser?.close();
    await mesh?.close();
  });

  /** Runs source text in the page, since a test runner rewrites the imports of functions; `$` imports a module of the page. */
  const inPage = <T>(body: string): Promise<T> =>
    page.evaluate(`(async () => { const $ = (name) => import('/' + name + '.js'); ${body} })()`);

  /** The result of a module's function for each list of arguments. */
  const results = (module: string, name: string, calls: readonly unknown[][]): Promise<unknown[]> =>
    inPage(
      `const { ${name} } = await $('${module}'); return ${JSON.stringify(calls)}.map((call) => ${name}(...call));`,
    );

  test('an episode is shown with its reward, and each turn with its own where it has one', async () => {
    const turn = (id: string, rewards: object, more: object = {}) => ({
      ...{ id, role: 'solver', ids: [1], outcome: 'ok', rewards, ...more },
      text: { parts: [{ kind: 'note', text: id }], seen: [], tokens: [] },
    });
    const samples = [
      turn('one', { reward: 1, turn: 0.25 }),
      turn('two', { reward: 1, turn: 0.75 }, { of: 'one' }),
      turn('last', { reward: 1 }, { of: 'one' }),
    ];
    const group = { samples, judgments: [], answersExact: null, solutionsExact: null, proposal: [] };
    const shown = { ...group, title: [{ kind: 'note', text: 'Task' }], endings: {}, failure: null };
    const settings = { round: 'r', tint: 'text', cells: {} };
    const read = await inPage<string[]>(`
      const { taskView } = await $('task-view');
      const view = taskView(${JSON.stringify(shown)}, ${JSON.stringify(settings)});
      const texts = (which) => [...view.querySelectorAll(which)].map(({ textContent }) => textContent);
      return [...texts('h4'), ...texts('.wrote')];
    `);
    expect(read[0]).toBe('Episode 1 reward 1.00');
    expect(read[1]).toMatch(/one.*is paid 0\.25/);
    expect(read[2]).toMatch(/two.*is paid 0\.75/);
    expect(read[3]).not.toContain('paid');
  });

  test('length and repetition stand against the reward, a dot for each episode that has one', async () => {
    // Five runs of four tokens, of which the last stood before; three of which all are alike; none.
    expect(
      await results('length-view', 'repetition', [
        [[1, 2, 3, 4, 1, 2, 3, 4]],
        [[7, 7, 7, 7, 7, 7]],
        [[1, 2, 3]],
      ]),
    ).toEqual([expect.closeTo(1 / 5, 12), expect.closeTo(2 / 3, 12), 0]);
    // Deviations −1, 0, 1 and −4/3, −1/3, 5/3: 3 / √(2 · 14/3).
    const along = [
      [
        [1, 1],
        [2, 2],
        [3, 4],
      ],
    ];
    const apart = [
      [
        [1, 0],
        [2, 1],
        [3, 0],
      ],
    ];
    const alike = [
      [
        [5, 0],
        [5, 1],
      ],
    ];
    expect(await results('length-view', 'correlation', [along, apart, alike])).toEqual([
      expect.closeTo(3 / Math.sqrt(28 / 3), 12),
      expect.closeTo(0, 12),
      null,
    ]);
    const episode = (reward: number | null, ...turns: number[][]) => ({
      reward,
      turns: turns.map((ids) => ({ ids })),
    });
    const episodes = [
      episode(0, [7, 7, 7, 7, 7, 7]),
      episode(1, [1, 2, 3], [4]),
      episode(1, [5, 6]),
      // Without a reward, and without a token, there is no dot.
      episode(null, [1]),
      episode(1, []),
    ];
    const shown = await inPage<{ dots: number; cells: string[]; said: string }>(`
      const { lengthView } = await $('length-view');
      const view = lengthView(${JSON.stringify(episodes)});
      return {
        dots: view.querySelectorAll('circle').length,
        cells: [...view.querySelectorAll('tbody tr:last-child td')].map(({ textContent }) => textContent),
        said: view.querySelector('figcaption').textContent,
      };
    `);
    // 6 + 4 + 2 tokens, a mean repetition of (2/3)/3. Deviations 2, 0, −2 and −2/3, 1/3, 1/3: −2 / √(8 · 2/3) = −√3/2.
    // Two episodes without repetition are equally good, one dot.
    expect(shown.dots).toBe(3 + 2);
    expect(shown.cells.join(' ').replaceAll('\u202f', '')).toMatch(/0\.67 4\.0 22\.2%$/);
    expect(shown.said).toContain('−0.87');
    expect(await inPage(`return (await $('length-view')).lengthView([])`)).toBeNull();
  });

  test('an episode of several seats is read as a conversation, in the order of its turns', async () => {
    const turn = (id: string, role: string, number: number, rewards: object, of?: string) => ({
      ...{ id, role, turn: number, episode: 0, ids: [1], outcome: 'ok', rewards },
      ...(of ? { of } : {}),
      text: {
        parts: [{ kind: 'note', text: `says ${id}` }],
        seen: [{ kind: 'grid', text: 'x.\n..' }],
        tokens: [],
      },
    });
    const samples = [
      turn('a', 'buyer', 0, { reward: 1, turn: 0.25 }),
      turn('b', 'seller', 1, { reward: -1, turn: -1 }),
      turn('c', 'buyer', 2, { reward: 1, turn: 0.75 }, 'a'),
    ];
    const group = {
      ...{ samples, judgments: [], answersExact: null, solutionsExact: null, proposal: [] },
      ...{ title: [{ kind: 'note', text: 'Task' }], endings: {}, failure: null },
    };
    const read = await inPage<string[]>(`
      const { taskView } = await $('task-view');
      const view = taskView(${JSON.stringify(group)}, { round: 'r', tint: 'text', cells: {} });
      const texts = (which) => [...view.querySelectorAll(which)].map(({ textContent }) => textContent.trim());
      return [...texts('h3 + .note'), ...texts('h4'), ...texts('.wrote'), String(view.querySelectorAll('.board').length)];
    `);
    expect(read[0]).toMatch(/^1 episode, /);
    expect(read[1]).toBe('Episode 1 buyer 1.00 seller −1.00');
    expect(read[2]).toMatch(/buyer writes says a is paid 0\.25/);
    expect(read[3]).toMatch(/seller writes says b is paid −1\.00/);
    expect(read[4]).toMatch(/buyer writes says c is paid 0\.75/);
    // Each turn shows the board that its seat read.
    expect(read[5]).toBe('3');
  });

  test('where a group has samples of several roles, each is called by its role', async () => {
    const sample = (id: string, role: string) => ({
      ...{ id, role, ids: [1], outcome: 'ok', rewards: { reward: 1 } },
      text: { parts: [{ kind: 'note', text: id }], seen: [], tokens: [] },
    });
    const viewOf = (roles: readonly string[]) => {
      const group = {
        ...{ samples: roles.map((role, i) => sample(`s${i}`, role)), judgments: [], failure: null },
        ...{ answersExact: null, solutionsExact: null, proposal: [], title: [], endings: {} },
      };
      return inPage<string[]>(`
        const { taskView } = await $('task-view');
        const view = taskView(${JSON.stringify(group)}, { round: 'r', tint: 'text', cells: {} });
        return [...view.querySelectorAll('h4, h3 + .note')].map(({ textContent }) => textContent.trim());
      `);
    };
    expect(await viewOf(['solver', 'writer', 'solver'])).toEqual([
      '2 by solver, 1 by writer, mean reward 1.00.',
      'Solver 1 reward 1.00',
      'Writer 1 reward 1.00',
      'Solver 2 reward 1.00',
    ]);
    expect(await viewOf(['solver', 'solver'])).toEqual([
      '2 solutions, mean reward 1.00.',
      'Solution 1 reward 1.00',
      'Solution 2 reward 1.00',
    ]);
  });

  test('tasks are found by their mean reward, their outcomes and their texts', async () => {
    const sample = (id: string, reward: number, outcome: string, completion: string) => ({
      ...{ id, role: 'solver', ids: [1], outcome, rewards: { reward } },
      text: { completion },
    });
    const contents = [
      [sample('a', 0.2, 'ok', 'seven'), sample('b', 0.4, 'cut-off', 'eight')],
      [sample('c', 1, 'ok', 'Seven')],
      [],
    ].map((samples) => ({ task: 'sum', samples, judgments: [], answersExact: null, solutionsExact: null }));
    const found = (asked: object) =>
      inPage<number[]>(`
        const { selected, summaryOf } = await $('group-summary');
        const contents = ${JSON.stringify(contents)};
        const groups = contents.map(({ task }, index) => ({ group: String(index), task, index }));
        const summaries = new Map(contents.map((content, index) => [String(index), summaryOf(content)]));
        const nothing = { filter: 'all', order: 'index', text: '', least: NaN, most: NaN };
        return selected(groups, summaries, { ...nothing, ...${JSON.stringify(asked)} }).map(({ index }) => index);
      `);
    expect(await found({})).toEqual([0, 1, 2]);
    expect(await found({ least: 0.3 })).toEqual([0, 1]);
    expect(await found({ least: 0.31 })).toEqual([1]);
    expect(await found({ most: 0.31 })).toEqual([0]);
    expect(await found({ text: 'cut-off' })).toEqual([0]);
    expect(await found({ text: 'seven', order: 'best' })).toEqual([1, 0]);
  });

  test('a ladder has the newest figures of each level beside the first, and what was written last', async () => {
    const points = [
      { round: 0, report: { evaluation: { figures: { 'solved.1': 0.9, 'solved.2': 0.2, 'solved.10': 0 } } } },
      { round: 1, report: { figures: { 'written.1': 1 } } },
      {
        round: 2,
        report: {
          figures: { 'written.2': 0.75 },
          evaluation: { figures: { 'solved.1': 1, 'solved.2': 0.5, 'solved.10': 0.1, votes: 1 } },
        },
      },
    ];
    const seen = await inPage<{ rungs: unknown; none: unknown; named: unknown }>(`
      const { rungsOf, isRung } = await $('rungs');
      const points = ${JSON.stringify(points)};
      return {
        rungs: rungsOf(points),
        none: rungsOf([{ round: 1, report: { figures: { loss: 1 } } }]),
        named: ['solved.3', 'written.12', 'solved', 'solved.by', 'votes'].map(isRung),
      };
    `);
    expect(seen.rungs).toEqual([
      { level: 1, before: 0.9, solved: 1, written: null },
      { level: 2, before: 0.2, solved: 0.5, written: 0.75 },
      { level: 10, before: 0, solved: 0.1, written: null },
    ]);
    expect(seen.none).toEqual([]);
    expect(seen.named).toEqual([true, true, false, false, false]);
  });

  test('runs are compared by one line, which is named, and none is drawn for another', async () => {
    const report = (roles: Readonly<Record<string, number>>) => ({
      round: 1,
      report: {
        training: {
          roles: Object.fromEntries(Object.entries(roles).map(([role, klToStart]) => [role, { klToStart }])),
        },
      },
    });
    const families = [
      { name: 'trio', runs: [[report({ proposer: 0.1, judge: 0.2 })]] },
      { name: 'tango', runs: [[report({ judge: 0.4 })]] },
    ];
    const seen = await inPage<{ series: unknown; said: unknown }>(`
      const { CURVES, meaningsOf, plotOf } = await $('curves');
      const families = ${JSON.stringify(families)};
      const curve = CURVES.find(({ title }) => title === 'KL to version 0');
      const { series } = plotOf(curve, families[0].runs[0], 1, families);
      return { series: series.map(({ name, values }) => [name, values]), said: meaningsOf(curve, families) };
    `);
    expect(seen).toEqual({
      series: [
        ['trio', [0.2]],
        ['tango', [0.4]],
      ],
      said: [['Drawn', 'judge.']],
    });
  });

  test('a moving average weighs the past, passes over what was not measured and begins anew after a break', async () => {
    // JSON has no undefined: the page puts it in place of the text.
    const seen = await inPage<unknown[]>(`
      const { smoothed } = await $('scales');
      return smoothed([1, 3, undefined, 5, null, 2], 0.5).map((value) => (value === undefined ? 'unmeasured' : value));
    `);
    // (0.25·1 + 0.5·3) / 0.75 and (0.125·1 + 0.25·3 + 0.5·5) / 0.875
    expect(seen).toEqual([1, 1.75 / 0.75, 'unmeasured', 3.375 / 0.875, null, 2]);
  });

  test('by sampled tokens a round stands where its tokens end, seeds at their mean, and a stretch leaves the others out', async () => {
    const report = (round: number, tokens: number, reward: number) => ({
      round,
      report: { monitors: { tokens, reward } },
    });
    const one = [report(1, 100, 0), report(2, 300, 0.5), report(3, 600, 1)];
    const two = [report(1, 300, 0.5), report(2, 300, 1)];
    const seen = await inPage<object[]>(`
      const { plotOf } = await $('curves');
      const [one, two] = ${JSON.stringify([one, two])};
      const curve = { title: 'Reward', least: [0, 1], write: String, lines: () => [['reward', ({ monitors }) => monitors.reward]] };
      const along = 'tokens';
      const shown = [
        plotOf(curve, one, 3, [], { along, smoothing: 0, range: null }),
        plotOf(curve, one, 3, [{ name: 'both', runs: [one, two] }], { along, smoothing: 0, range: null }),
        plotOf(curve, one, 3, [], { along, smoothing: 0.5, range: [200, 900] }),
      ];
      return shown.map(({ xs, from, end, series: [{ values, low, high, measured }] }) => ({ xs, from, end, values, low, high, measured }));
    `);
    expect(seen).toEqual([
      { xs: [100, 400, 1000], from: 0, end: 1000, values: [0, 0.5, 1] },
      // (100 + 300) / 2, (400 + 600) / 2, and the third round of the one run that has it
      {
        xs: [200, 500, 1000],
        from: 0,
        end: 1000,
        values: [0.25, 0.75, 1],
        low: [0, 0.5, 1],
        high: [0.5, 1, 1],
      },
      { xs: [400], from: 200, end: 900, values: [0.5], measured: [0.5] },
    ]);
  });

  test('runs that are seen together are told apart by what not all of them have', async () => {
    const run = (more: object) => ({
      settings: { recipe: 'trio', rewardFunction: 'mix', freeze: [], tasks: 64, groupSize: 8, ...more },
    });
    expect(
      await results('overview', 'namesBeside', [
        [[run({}), run({ rewardFunction: 'judge', freeze: ['judge'] })]],
        [[run({}), run({ recipe: 'tango', tasks: 8 })]],
        [[run({}), run({})]],
        [[run({}), { ...run({ recipe: 'grpo-237cf4f545' }), called: 'grpo on gsm.jsonl' }]],
      ]),
    ).toEqual([
      ['trio, reward mix', 'trio, reward judge, judge frozen'],
      ['trio, 64 × 8', 'tango, 8 × 8'],
      ['trio, reward mix, 64 × 8', 'trio, reward mix, 64 × 8'],
      ['trio', 'grpo on gsm.jsonl'],
    ]);
    const own = { ...run({ recipe: 'grpo-237cf4f545', seed: 3 }), called: 'grpo on gsm.jsonl' };
    expect(
      await results('overview', 'runName', [
        [{ ...own, label: {} }],
        [{ ...own, label: { name: 'first try' } }],
        [{ ...run({ seed: 3 }), label: {} }],
      ]),
    ).toEqual([
      'grpo on gsm.jsonl, reward mix, seed 3, 64 × 8',
      'first try',
      'trio, reward mix, seed 3, 64 × 8',
    ]);
  });

  test('figures: missing is a dash, minus is a minus, spaces do not break', async () => {
    expect(await results('figures', 'percent', [[0.3416, 1], [null], [-0.05], [0]])).toEqual([
      '34.2\u202f%',
      '–',
      '−5\u202f%',
      '0\u202f%',
    ]);
    // what rounds to 0 has no sign, what is near it does
    expect(await results('figures', 'decimal', [[-0.004], [-0.02], [-0.5], [-10]])).toEqual([
      '0.00',
      '−0.02',
      '−0.50',
      '−10.00',
    ]);
    expect(await results('figures', 'points', [[0.1824], [-0.01], [0.0001], [null]])).toEqual([
      '+18.2',
      '−1.0',
      '±0.0',
      '–',
    ]);
    expect(
      await results('figures', 'significant', [[0.0123456], [0.00012], [0], [123456], [2.71904]]),
    ).toEqual(['0.0123', '1.2e-4', '0', '1.2e+5', '2.72']);
    expect(
      await results('figures', 'duration', [
        [840],
        [9_949],
        [9_950],
        [59_600],
        [187_000],
        [3_599_000],
        [7_500_000],
      ]),
    ).toEqual(
      ['0.8 s', '9.9 s', '10 s', '1:00 min', '3:07 min', '1 h 0 min', '2 h 5 min'].map((text) =>
        text.replaceAll(' ', '\u202f'),
      ),
    );
  });

  test('ticks are round numbers inside their bounds, and bounds hold every value', async () => {
    expect(
      await results('scales', 'ticks', [
        [0, 1, 5],
        [0, 40, 8],
        [0.4, 1, 3],
        [3, 3, 4],
      ]),
    ).toEqual([[0, 0.2, 0.4, 0.6, 0.8, 1], [0, 5, 10, 15, 20, 25, 30, 35, 40], [0.4, 0.6, 0.8, 1], [3]]);
    expect(
      await results('scales', 'bounds', [
        [
          [0.2, 0.7],
          [0, 1],
        ],
        [[3.7], [1, 3]],
        [
          [-0.3, 2],
          [0, 1],
        ],
      ]),
    ).toEqual([
      [0, 1],
      [1, 4],
      [-1, 2],
    ]);
    // a quarter of room, rounded up to half a power of ten; the target once it is less than 1.6 times that away
    expect(
      await results('scales', 'roundAxis', [
        [0, 40],
        [12, 40],
        [40, 40],
        [60, 5000],
        [3000, 4000],
      ]),
    ).toEqual([10, 15, 40, 75, 4000]);
  });

  test('thinning keeps every peak and the order', async () => {
    const points = Array.from({ length: 5000 }, (_, x) => ({ x, y: x === 1234 ? 9 : x === 1240 ? -9 : 0 }));
    const [thinned] = (await results('scales', 'thin', [[points, 100]])) as [typeof points];
    expect(thinned.length).toBeLessThanOrEqual(200);
    expect(thinned).toContainEqual({ x: 1234, y: 9 });
    expect(thinned).toContainEqual({ x: 1240, y: -9 });
    expect(thinned.map(({ x }) => x)).toEqual(thinned.map(({ x }) => x).toSorted((a, b) => a - b));
  });

  test('changed tokens are those outside the longest common subsequence', async () => {
    expect(
      await results('tokens', 'changed', [
        [
          ['a', 'b', 'c'],
          ['a', 'x', 'c', 'd'],
        ],
        [[], ['a']],
        [['a', 'b'], []],
        [
          ['7', '=', '7'],
          ['7', '=', '7'],
        ],
      ]),
    ).toEqual([[false, true, false, true], [true], [], [false, false, false]]);
    // a token is as surprising as it was unlikely: 1 - p in fifths
    expect(await results('tokens', 'surprise', [[0], [Math.log(0.8)], [Math.log(0.5)], [-20]])).toEqual([
      0, 1, 3, 5,
    ]);
  });

  test('names of figures become words', async () => {
    expect(
      await results('figures', 'humanised', [['approvalGap'], ['stepF1'], ['greedy-1'], ['ownF1Score']]),
    ).toEqual(['approval gap', 'step F1', 'greedy-1', 'own F1 score']);
  });

  test('CSV keeps commas, quotes and lines in a field, and runs no formula', async () => {
    expect(
      await results('download', 'csv', [
        [
          ['a', 'b'],
          [
            [1.5, null],
            ['x,"y"\n', '=1+1'],
          ],
        ],
      ]),
    ).toEqual(['a,b\r\n1.5,\r\n"x,""y""\n",\'=1+1\r\n']);
  });

  test('versions are spread from the first to the last', async () => {
    expect(await results('held-out-view', 'spread', [[[0, 1]], [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]])).toEqual([
      [0, 1],
      [0, 3, 6, 9],
    ]);
  });

  test('a line breaks where a figure is missing and goes on where none was measured', async () => {
    const drawn = await inPage<{ path: string; description: string }>(`
      const { Geometry, picture } = await $('chart-image');
      const { drawn } = await $('dom');
      const series = [{ name: 'a', ink: 1, values: [0, undefined, 1, null, 0.5, 0.5, 0.5] }];
      const plot = { xs: [0, 1, 2, 3, 4, 5, 6], end: 6, series, least: [0, 1], write: String, read: String };
      const at = new Geometry(plot, 354, 132);
      const image = drawn(picture(plot, at, { id: 'c', title: 'A' }));
      const path = image.querySelector('.series path').getAttribute('d');
      return { path, description: image.querySelector('desc').textContent };`);
    // 300 px for six rounds from x = 44, 100 px for values from y = 110 up to 10
    expect(drawn.path).toBe('M44.0 110.0L144.0 10.0M244.0 60.0L294.0 60.0L344.0 60.0');
    expect(drawn.description).toBe('a: from 0 to 0.5, lowest 0, highest 1');
  });

  test('attributes that could run something are refused', async () => {
    const refusal = (name: string) =>
      inPage<string | null>(`
        const { h } = await $('dom');
        try { h('p', { ${name}: 'x' }); return null; } catch (error) { return String(error); }`);
    for (const name of ['onclick', 'style', 'srcdoc']) expect(await refusal(name)).toContain('internal:');
    expect(await refusal('title')).toBeNull();
  });
});

/** Relative luminance of #rrggbb (WCAG 2.2). */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test('every ink can be read on its paper, light and dark: 4.5 to 1', () => {
  const css = readFileSync(new URL('../../web/dashboard/style.css', import.meta.url), 'utf8');
  const themes = css.split('@media (prefers-color-scheme: dark)').map((part) => {
    const block = part.slice(part.indexOf(':root'), part.indexOf('}', part.indexOf(':root')));
    return new Map(
      [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name, colour!]),
    );
  });
  expect(themes).toHaveLength(2);
  for (const colours of themes)
    for (const ground of ['paper', 'raised'])
      for (const name of [
        'ink',
        'soft',
        'ink-1',
        'ink-2',
        'ink-3',
        'ink-4',
        'ink-6',
        'ink-7',
        'ink-8',
        'good',
        'bad',
        'warn',
      ]) {
        const [a, b] = [luminance(colours.get(name)!), luminance(colours.get(ground)!)];
        expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), `${name} on ${ground}`).toBeGreaterThan(
          4.5,
        );
      }
});
