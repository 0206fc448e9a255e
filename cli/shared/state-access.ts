/**
 * Gives access to the mesh of a state folder: the one that runs there, or else one whose clock stands still, for as long as the caller
 * works. Two meshes never share a folder, because their databases are files.
 */

import { RollmeshError } from '../../core/errors.ts';
import { readSecrets } from '../../local/mesh/secrets.ts';
import type { Mesh, MeshOptions } from '../../local/mesh/start.ts';
import { ensureIfStart, ensureShipped } from '../../local/starts.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { refuseFull } from '../mesh-watch.ts';
import { type Claim, claim, lockPath, type Owner, ownerOf } from './state-lock.ts';

/** How long a command waits for another that uses the folder alone, and how often it checks, in ms. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 200;

export interface OpenStore {
  readonly gateway: GatewayClient;
  close(): Promise<void>;
}

export interface OwnMesh {
  readonly mesh: Mesh;
  /** Stops the mesh and releases the folder. */
  stop(): Promise<void>;
}

const busy = (stateDir: string, { pid, url }: Owner) =>
  new RollmeshError(
    'retry',
    'state.busy',
    `Process ${pid} runs a mesh on ${stateDir}${url ? ` at ${url}` : ''}.`,
    {
      expected: 'only one mesh on a state folder at a time',
      next: `Wait for it or end it, or choose another folder with --state DIR. If no such process is rollmesh's, remove ${lockPath(stateDir)}.`,
    },
  );

/** Throws `state.busy` where any process uses the folder; called before the folder is deleted. */
export function refuseBusy(stateDir: string): void {
  const other = ownerOf(stateDir);
  if (other) throw busy(stateDir, other);
}

/** Throws `state.busy` where a shared mesh runs on the folder: another one would wait in vain. */
export function refuseShared(stateDir: string): void {
  const other = ownerOf(stateDir);
  if (other?.url) throw busy(stateDir, other);
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * The address of the mesh that others may use on the folder; undefined where nothing uses the folder. A command that uses it alone is waited for.
 *
 * @throws RollmeshError `state.busy` where that takes too long.
 */
export async function addressOf(stateDir: string, patienceMs = PATIENCE_MS): Promise<string | undefined> {
  const until = performance.now() + patienceMs;
  for (let waited = false; ; waited = true) {
    const other = ownerOf(stateDir);
    if (!other) return undefined;
    if (other.url) return other.url;
    if (performance.now() > until) throw busy(stateDir, other);
    if (!waited) console.error(`Waiting for process ${other.pid}, which uses ${stateDir} …`);
    await sleep(LOOK_MS);
  }
}

/** Claims the folder as soon as it is free, or returns the address of the mesh that others may use there. */
async function claimOrJoin(stateDir: string): Promise<Claim | string> {
  for (;;) {
    const joined = (await addressOf(stateDir)) ?? claim(stateDir);
    if (joined) return joined;
  }
}

/** The gateway of a mesh that this process started. */
export const gatewayOf = ({ url, secrets }: Pick<Mesh, 'url' | 'secrets'>): GatewayClient =>
  new GatewayClient({ url, token: secrets.LEARNER_TOKEN });

async function startClaimed(
  held: Claim,
  options: MeshOptions,
  recipes?: () => Promise<readonly string[]>,
): Promise<OwnMesh> {
  try {
    // Loaded only now, since it takes a second and most commands find a running mesh.
    const { startMesh } = await import('../../local/mesh/start.ts');
    const mesh: Mesh = await startMesh({
      ...options,
      ...(recipes ? { recipes: await recipes() } : {}),
      pause: true,
      bringStart: (name) => ensureIfStart(gatewayOf(mesh), name),
    });
    const stop = async () => {
      await mesh.stop();
      held.release();
    };
    return { mesh, stop };
  } catch (error) {
    held.release();
    throw error;
  }
}

/**
 * Starts a mesh that other commands may use while it runs.
 *
 * @throws RollmeshError `state.busy` where another process runs one on the folder, `disk.full` where its disk has no room for one.
 */
export async function startSharedMesh(
  options: MeshOptions & { readonly stateDir: string },
): Promise<OwnMesh> {
  refuseFull(options.stateDir);
  const held = await claimOrJoin(options.stateDir);
  if (typeof held === 'string') throw busy(options.stateDir, ownerOf(options.stateDir)!);
  const own = await startClaimed(held, options);
  held.share(own.mesh.url);
  return own;
}

/** The gateway of a mesh that another process of this folder runs. */
export const gatewayAt = (url: string): GatewayClient =>
  new GatewayClient({ url, token: readSecrets('.').LEARNER_TOKEN ?? '' });

/**
 * Opens the store of a state folder, with the start policy in it: through the mesh that runs there, else through one whose clock
 * stands still. `recipes`: gives the files of recipe modules that such a mesh knows beside the shipped ones.
 *
 * @throws RollmeshError `state.busy` where another command keeps the folder for itself for too long.
 */
export async function openStore(
  stateDir: string,
  recipes: () => Promise<readonly string[]> = async () => [],
): Promise<OpenStore> {
  const held = await claimOrJoin(stateDir);
  if (typeof held === 'string') return { gateway: gatewayAt(held), close: async () => {} };
  const { mesh, stop } = await startClaimed(held, { stateDir, cronMs: 0 }, recipes);
  const gateway = gatewayOf(mesh);
  try {
    await ensureShipped(gateway);
  } catch (error) {
    await stop();
    throw error;
  }
  return { gateway, close: stop };
}
