/**
 * The engines of a browser tab beside the kernels, which mixed.test.ts has: ONNX Runtime's wasm computes the bits of one process, its WebGPU is
 * a close node that is scored again, and a browser without a GPU is told so. The mesh is shared, and a browser by those who start it alike.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changedRecipe } from '../../cli/changed-recipe.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { CLOSE } from '../../core/schema/work.ts';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { lendTab, samplesOfTab, stopTab } from '../bench/browser/node-tab.ts';
import { openPlaying, type Playing } from '../mesh/playing.ts';
import { temporaryFolder } from '../mesh/scene.ts';

let playing: Playing;
/** Of each kind at most one, which the tests share. */
const browsers = new Map<boolean, Browser>();
let pictures: NonNullable<Awaited<ReturnType<typeof changedRecipe>>>;
beforeAll(async () => {
  pictures = (await changedRecipe('dapo', [], 'canvas'))!;
  const { registry, modules } = await openRecipes([await pictures.write(temporaryFolder())]);
  playing = await openPlaying(
    ['arithmetic-base', 'canvas'],
    { cronMs: 500, vars: { ISOLATES_WITH_NODES: 'rest' }, recipes: modules.map(({ file }) => file) },
    registry,
  );
});
afterAll(async () => {
  for (const browser of browsers.values()) await browser.close();
  await playing.stop();
});

const nodeOf = async (name: string) =>
  (await playing.gateway.listNodes()).find((node) => node.name === name)!;

/** The page /node with an engine chosen and the button pressed. */
async function lent(engine: string | undefined, token: string, webgpu: boolean): Promise<Page> {
  const browser = browsers.get(webgpu) ?? (await openBrowser({ webgpu }));
  browsers.set(webgpu, browser);
  const page = await browser.newPage();
  await lendTab(page, playing.url, token, engine);
  return page;
}

/** Stops the tab, and says what it counted and what it left in the browser. */
async function ended(page: Page) {
  const counted = await samplesOfTab(page);
  await stopTab(page);
  const trace = await page.evaluate(async () => [
    document.cookie,
    localStorage.length,
    sessionStorage.length,
    (await caches.keys()).length,
    (await indexedDB.databases()).length,
  ]);
  return { counted, trace };
}

const LEFT_NOTHING = ['', 0, 0, 0, 0];
const order = (seed: number) => ({ recipe: 'trio', seed, rounds: 1, freeze: [], tasks: 2, groupSize: 2 });

test.skipIf(!chromiumPath)(
  `a tab takes the work of either engine as it comes, with the bits of one process${CHROMIUM_NEEDED}`,
  async () => {
    const { token } = await playing.gateway.makeNode('wasm');
    // The engine that the page has chosen.
    const page = await lent(undefined, token, true);
    await expect.poll(async () => (await nodeOf('wasm')).state, { timeout: 60_000 }).toBe('idle');
    await page.locator('#node-status', { hasText: 'no round is sampling' }).waitFor({ timeout: 60_000 });
    const kernels = await playing.play({ ...order(41), engine: 'kernels' });
    expect(kernels.mesh).toEqual(kernels.alone);
    const ofKernels = await samplesOfTab(page);
    expect(ofKernels).toBeGreaterThanOrEqual(2 * 2);
    const { mesh, alone } = await playing.play(order(41));
    expect(mesh).toEqual(alone);
    expect(await samplesOfTab(page)).toBeGreaterThanOrEqual(ofKernels + 2 * 2);
    // Pictures travel to it by their hashes.
    const before = await samplesOfTab(page);
    const seen = await playing.play({
      ...order(41),
      recipe: pictures.recipe.name,
      variant: 'grpo',
      engine: 'kernels',
    });
    expect(seen.mesh).toEqual(seen.alone);
    expect(await samplesOfTab(page)).toBeGreaterThanOrEqual(before + 2 * 2);
    const { counted, trace } = await ended(page);
    const node = await nodeOf('wasm');
    expect(node).toMatchObject({ exactness: 'exact', kind: 'tab', reason: null });
    // Nobody else sampled: isolates rest while there is a node.
    expect(node.samples).toBe(counted);
    expect(node.samples).toBeGreaterThanOrEqual(2 * 2);
    expect(node.audited).toBeGreaterThan(0);
    expect(trace).toEqual(LEFT_NOTHING);
  },
);

test.skipIf(!chromiumPath)(
  `WebGPU in a tab is a close node, and what it answered is scored again${CHROMIUM_NEEDED}`,
  async () => {
    const { token } = await playing.gateway.makeNode('gpu', { exactness: 'close' });
    const page = await lent('webgpu', token, true);
    await expect.poll(async () => (await nodeOf('gpu')).state, { timeout: 90_000 }).toBe('idle');
    // Isolates do not rest beside a close node, and may take all that there is of a round.
    for (let seed = 42; seed < 52 && (await samplesOfTab(page)) === 0; seed++)
      await playing.playInMesh(order(seed));
    const { counted, trace } = await ended(page);
    const node = await nodeOf('gpu');
    expect(node).toMatchObject({ exactness: 'close', kind: 'tab', reason: null });
    expect(counted).toBeGreaterThan(0);
    expect(node.samples).toBe(counted);
    expect(node.audited).toBe(node.requests);
    const { tokens, sum, most } = node.mismatch;
    expect(tokens).toBeGreaterThan(0);
    // Float32 on either side: far nearer than a close node may be.
    expect(sum / tokens).toBeLessThan(CLOSE.mean / 20);
    expect(most).toBeLessThan(CLOSE.most / 20);
    console.log(`WebGPU in a tab: ${counted} completions, at most ${most.toExponential(1)} nats off`);
    expect(trace).toEqual(LEFT_NOTHING);
  },
);

test.skipIf(!chromiumPath)(
  `a tab that cannot compute so is told why, and leases nothing${CHROMIUM_NEEDED}`,
  async () => {
    const { token } = await playing.gateway.makeNode('none', { exactness: 'close' });
    const page = await lent('webgpu', token, false);
    await expect
      .poll(() => page.textContent('#node-status'), { timeout: 30_000 })
      .toMatch(/^This browser has (no WebGPU|WebGPU and finds no GPU for it)\./);
    expect(await page.textContent('#button')).toBe('Lend this tab');
    expect((await nodeOf('none')).seenAt).toBeNull();
    const exact = await playing.gateway.makeNode('exact');
    const other = await lent('webgpu', exact.token, true);
    await expect
      .poll(() => other.textContent('#node-status'), { timeout: 60_000 })
      .toMatch(/^The token of node exact is that of an exact node\./);
  },
);
