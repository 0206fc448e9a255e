/**
 * Nodes take part in a run: the versions are the bytes of one process, whoever sampled, and each node's share is known. Afterwards a node
 * elsewhere trains a version again.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changedRecipe } from '../../cli/changed-recipe.ts';
import { startThreads } from '../../cli/node/threads.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { imagesShown } from '../../core/images/shown.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeArguments } from '../../local/mesh/installation.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { referenceSolution } from '../../worlds/arithmetic/aided.ts';
import { writeSolution } from '../../worlds/arithmetic/family.ts';
import { openPlaying, type Playing } from '../mesh/playing.ts';
import { temporaryFolder } from '../mesh/scene.ts';
import { honestly, startNode } from './in-process-node.ts';

const PLAYED = ['trio', 'ssp'];
/** Its hinter is shown reference solutions. */
const HINTED = 'sage';
/** Each stage has more requests than one node holds at once. */
const ORDER = { seed: 6, rounds: 1, freeze: [], tasks: 8, groupSize: 4, engine: 'kernels' as const };

let playing: Playing;
let pictures: NonNullable<Awaited<ReturnType<typeof changedRecipe>>>;
beforeAll(async () => {
  pictures = (await changedRecipe('dapo', [], 'canvas'))!;
  const opened = await openRecipes([await pictures.write(temporaryFolder())]);
  playing = await openPlaying(
    [...[...PLAYED, HINTED].map((name) => shipped.find(name).startPolicy), 'canvas'],
    {
      vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '300' },
      cronMs: 500,
      recipes: opened.modules.map(({ file }) => file),
    },
    opened.registry,
  );
});
afterAll(() => playing.stop());

/** Whoever has work waits for the others, so that a fast node does not take it all; no longer than this, since there may be too little for all, ms. */
const PATIENCE_MS = 5_000;
function meeting(size: number): (who: string) => Promise<void> {
  const come = new Set<string>();
  let all = () => {};
  const met = new Promise<void>((resolve) => {
    all = resolve;
  });
  return async (who) => {
    if (come.add(who).size === size) all();
    await Promise.race([met, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  };
}

test.each(PLAYED)(
  '%s: sampled by two nodes of the mesh’s owner, the bytes of one process',
  async (recipe) => {
    const { gateway, url } = playing;
    const tokens = await Promise.all(
      ['a', 'b'].map(async (n) => (await gateway.makeNode(`${recipe}-${n}`, { seesGold: true })).token),
    );
    const both = meeting(tokens.length);
    const nodes = await Promise.all(
      tokens.map((token) => {
        const compute = honestly();
        return startNode(url, token, async (...asked) => {
          await both(token);
          return compute(...asked);
        });
      }),
    );
    const { mesh, alone } = await playing.play({ recipe, ...ORDER });
    for (const node of nodes) await node.stop();
    expect(mesh).toEqual(alone);
    const own = (await gateway.listNodes()).filter(({ name }) => name.startsWith(recipe));
    for (const { requests, audited, state } of own) {
      expect(requests).toBeGreaterThan(0);
      expect(audited).toBeGreaterThan(0);
      expect(state).toBe('away');
    }
  },
);

test('pictures travel to a thread of a node by their hashes: the bytes of one process', async () => {
  const { gateway, url } = playing;
  const { token } = await gateway.makeNode('sees');
  // A thread has no picture that it was not given.
  const [thread] = startThreads(1, null);
  await thread!.ready;
  const node = await startNode(url, token, thread!.compute);
  const order = { ...ORDER, recipe: pictures.recipe.name, variant: 'grpo', tasks: 3 };
  const { mesh, alone } = await playing.play(order);
  await node.stop();
  await thread!.stop();
  expect(mesh).toEqual(alone);
  const own = (await gateway.listNodes()).find(({ name }) => name === 'sees')!;
  expect(own.requests).toBeGreaterThan(0);
  expect(own.audited).toBeGreaterThan(0);
  const shown = await gateway.newestRounds();
  const images: string[] = [];
  for await (const { samples } of gateway.contentsOf(shown[0]!.id))
    images.push(...imagesShown(samples!.map(({ prompt }) => prompt)));
  expect(images.length).toBeGreaterThan(0);
  expect(node.fetched).toEqual(expect.arrayContaining(images));
});

/** Plays a round of sage with a node, and tells what of its prompts the node was given. */
async function playHinted(seed: number, name: string, seesGold: boolean) {
  const { gateway, url } = playing;
  const { token } = await gateway.makeNode(name, { seesGold });
  const files = await readPolicyFolder(join('models', shipped.find(HINTED).startPolicy));
  const tokenizer = tokenizerOf(files, HINTED);
  const compute = honestly();
  const given: string[] = [];
  const node = await startNode(url, token, (requests, ...rest) => {
    for (const { prompts } of requests) given.push(...prompts.map(({ ids }) => tokenizer.decode(ids)));
    return compute(requests, ...rest);
  });
  const played = await playing.play({ recipe: HINTED, ...ORDER, seed });
  await node.stop();
  const own = (await gateway.listNodes()).find((one) => one.name === name)!;
  const [round] = await gateway.newestRounds();
  const isolates = (await gateway.getShares(round!.id)).find((share) => share.node === null);
  return { ...played, own, isolates, given: (role: string) => given.filter((text) => text.startsWith(role)) };
}

test('no node is given a reference solution, but one whose token says so: the bytes of one process', async () => {
  const ordinary = await playHinted(6, 'ordinary', false);
  expect(ordinary.mesh).toEqual(ordinary.alone);
  expect(ordinary.given('<solve>').length).toBeGreaterThan(0);
  expect(ordinary.given('<propose>')).toEqual([]);
  // The hints were asked for all the same.
  expect(ordinary.isolates!.samples).toBeGreaterThan(0);
  expect(ordinary.own).toMatchObject({ seesGold: false, reason: null });
  const owners = await playHinted(7, 'of-the-owner', true);
  expect(owners.mesh).toEqual(owners.alone);
  expect(owners.given('<solve>').length).toBeGreaterThan(0);
  // The exact solution of the task stands in the prompt.
  const [prompt] = owners.given('<propose>');
  const [, task, solution] = /^<propose>(.*)<sep>(.*)<sep>\d<sep>$/.exec(prompt!)!;
  expect(solution).toBe(writeSolution(referenceSolution(task!)));
  expect(owners.own).toMatchObject({ seesGold: true, reason: null });
});

/** `rollmesh verify` in an empty folder, with one token and none of the mesh's secrets in its environment. */
async function verify(token: string, version: string): Promise<{ code: number | null; said: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-elsewhere-'));
  const { LEARNER_TOKEN: _, MESH_KEY: __, ROLLMESH_URL: ___, ...env } = process.env;
  const args = ['verify', version, '--mesh', playing.url, '--device', 'cpu', '--threads', '1'];
  const child = spawn(process.execPath, [...nodeArguments('cli/rollmesh'), ...args], {
    cwd: folder,
    env: { ...env, ROLLMESH_NODE_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Uint8Array) => {
      said += new TextDecoder().decode(chunk);
    });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  rmSync(folder, { recursive: true });
  return { code, said };
}

test('a verifier elsewhere trains the version again, and a node that samples may not', async () => {
  const { gateway } = playing;
  const { settings } = runOf(shipped, { recipe: 'trio', ...ORDER });
  const verifier = await gateway.makeNode('elsewhere', { reads: 'verifier' });
  const version = `${settings.policy}@1`;
  const right = await verify(verifier.token, version);
  expect(right.said).toContain(`same bytes  version 1 of ${settings.policy}`);
  expect(right.said).toContain('the seals were not checked');
  expect(right.code).toBe(0);
  const node = await gateway.makeNode('samples');
  const refused = await verify(node.token, version);
  expect(refused.said).toContain('token.wrong');
  expect(refused.code).toBe(1);
});
