/**
 * The pace of the flagship in a browser tab without isolation, so on one thread, beside a run in one process of Node with one thread and the same kernels. The two
 * take turns, each begins anew, and their rounds are the same to the bit. Rounds that are evaluated are left out, and the first, in which code is compiled.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { thisMachine } from '../../local/machine.ts';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { buildTryPage } from '../../local/mesh/tab-pages.ts';
import { FLAGSHIP } from '../../recipes/flagship.ts';
import { shipped } from '../../recipes/index.ts';
import { openBrowser } from './browser/chromium.ts';
import { serveFolder } from './browser/serve-folder.ts';
import { summarise } from './statistics.ts';

const RESULT = 'test/bench/results/tab.json';
const ROUNDS = 7;
/** A tab evaluates after each second round. */
const isTimed = (round: number) => round > 1 && round % 2 === 1;
const SEED = 3;

/** Seconds of each timed round, by what the page says of it. */
async function inTab(url: string): Promise<number[]> {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(
      `${url}#${new URLSearchParams({ recipe: FLAGSHIP, seed: `${SEED}`, rounds: `${ROUNDS}` })}`,
    );
    await page.waitForSelector('#start:enabled');
    await page.evaluate(`
      const say = document.getElementById('say');
      globalThis.told = new Set();
      new MutationObserver(() => globalThis.told.add(say.textContent)).observe(say, { childList: true, subtree: true, characterData: true });
    `);
    await page.click('#start');
    while (!(await page.textContent('#say'))?.includes('The run has its')) await setTimeout(200);
    const told = (await page.evaluate('[...globalThis.told]')) as string[];
    const times = told.flatMap((text) => {
      const [, round, seconds] = /^Round (\d+) of \d+ took ([\d.]+)\s*s/.exec(text) ?? [];
      return seconds && isTimed(Number(round)) ? [Number(seconds)] : [];
    });
    const wanted = Array.from({ length: ROUNDS }, (_, i) => i + 1).filter(isTimed).length;
    if (times.length !== wanted)
      throw new Error(
        `internal: the page told of ${times.length} timed rounds of ${wanted}: ${told.join(' | ')}`,
      );
    return times;
  } finally {
    await browser.close();
  }
}

/** Seconds of each timed round, by what the command says of it. */
function inNode(): number[] {
  const state = mkdtempSync(join(tmpdir(), 'rollmesh-pace-'));
  const flags = ['--in-process', '--threads', '1', '--engine', 'kernels', '--seed', `${SEED}`];
  const more = ['--rounds', `${ROUNDS}`, '--eval-every', '2', '--headless', '--json', '--state', state];
  const args = [
    ...NODE_FLAGS,
    '--import',
    './cli/install/typescript.mjs',
    'cli/rollmesh.ts',
    'start',
    ...flags,
    ...more,
  ];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  rmSync(state, { recursive: true, force: true });
  if (status !== 0) throw new Error(`The run in Node ended with ${status}: ${stderr}`);
  return stdout.split('\n').flatMap((line) => {
    const { round, wallMs } = (line ? JSON.parse(line) : {}) as { round?: number; wallMs?: number };
    return typeof round === 'number' && wallMs && isTimed(round) ? [wallMs / 1000] : [];
  });
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { turns: { type: 'string', default: '3' }, json: { type: 'boolean', default: false } },
  });
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-tab-'));
  await buildTryPage(folder, '../glossary.html', [shipped.find(FLAGSHIP).startPolicy]);
  const { server, url } = await serveFolder(folder);
  const tab: number[] = [];
  const node: number[] = [];
  try {
    for (let turn = 0; turn < Number(values.turns); turn++) {
      node.push(...inNode());
      tab.push(...(await inTab(url)));
    }
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const [tabSeconds, nodeSeconds] = [summarise(tab), summarise(node)];
  const pace = nodeSeconds.median / tabSeconds.median;
  const result = { machine: thisMachine(), recipe: FLAGSHIP, tabSeconds, nodeSeconds, pace };
  if (values.json) console.log(JSON.stringify(result));
  else {
    writeFileSync(RESULT, `${JSON.stringify(result, null, 1)}\n`);
    for (const [name, { median, low, high }] of Object.entries({ 'a tab': tabSeconds, Node: nodeSeconds }))
      console.log(`${name}: ${median.toFixed(1)} s a round (${low.toFixed(1)} to ${high.toFixed(1)})`);
    console.log(`A tab has ${pace.toFixed(2)} times the pace of Node.`);
  }
}
