/**
 * The mesh of a state folder, for whatever needs its store: the one that runs there, or a quiet one for as long as the caller
 * works. Two meshes never share a folder: their databases are files.
 */
import { GatewayClient } from '../../api/gateway-client.ts';
import { RollmeshError } from '../../core/errors.ts';
import { readSecrets } from '../../mesh/secrets.ts';
import type { Mesh, MeshOptions } from '../../mesh/start.ts';
import { ensureShipped } from './import-policy.ts';
import { type Claim, claim, lockPath, type Owner, ownerOf } from './state-lock.ts';

/** How long a command waits for another one that uses the folder for itself, and how often it looks, ms. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 200;

export interface OpenStore {
  readonly gateway: GatewayClient;
  close(): Promise<void>;
}

export interface OwnMesh {
  readonly mesh: Mesh;
  /** Stops the mesh and gives the folder up. */
  stop(): Promise<void>;
}

const busy = (stateDir: string, { pid, url }: Owner) =>
  new RollmeshError(
    'retry',
    'state.busy',
    `Process ${pid} runs a mesh on ${stateDir}${url ? ` at ${url}` : ''}.`,
    {
      expected: 'one mesh a state folder',
      next: `Wait for it or end it, or choose another folder with --state DIR. If no such process is rollmesh's, remove ${lockPath(stateDir)}.`,
    },
  );

/** Throws `state.busy` where anybody uses the folder: before it is deleted. */
export function refuseBusy(stateDir: string): void {
  const other = ownerOf(stateDir);
  if (other) throw busy(stateDir, other);
}

/** Throws `state.busy` where a mesh that others may use runs on the folder: another one would wait for nothing. */
export function refuseShared(stateDir: string): void {
  const other = ownerOf(stateDir);
  if (other?.url) throw busy(stateDir, other);
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Claims the folder as soon as it is free, or returns the address of the mesh that others may use there. */
async function claimOrJoin(stateDir: string, patienceMs: number): Promise<Claim | string> {
  const until = performance.now() + patienceMs;
  for (let waited = false; ; waited = true) {
    const other = ownerOf(stateDir);
    if (other?.url) return other.url;
    if (!other) {
      const mine = claim(stateDir);
      if (mine) return mine;
      continue;
    }
    if (performance.now() > until) throw busy(stateDir, other);
    if (!waited) console.error(`Waiting for process ${other.pid}, which uses ${stateDir} …`);
    await sleep(LOOK_MS);
  }
}

async function startClaimed(held: Claim, options: MeshOptions): Promise<OwnMesh> {
  try {
    // Only now, since it takes a second to load: most commands find a mesh that runs.
    const { startMesh } = await import('../../mesh/start.ts');
    const mesh = await startMesh(options);
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
 * A mesh of one's own that other commands may use while it runs.
 *
 * @throws RollmeshError `state.busy` where another process runs one on the folder.
 */
export async function startSharedMesh(
  options: MeshOptions & { readonly stateDir: string },
): Promise<OwnMesh> {
  const held = await claimOrJoin(options.stateDir, PATIENCE_MS);
  if (typeof held === 'string') throw busy(options.stateDir, ownerOf(options.stateDir)!);
  const own = await startClaimed(held, options);
  held.share(own.mesh.url);
  return own;
}

/**
 * The store of a state folder, with the start policy in it: through the mesh that runs there, else through a quiet one, whose clock
 * stands still.
 *
 * @throws RollmeshError `state.busy` where another command keeps the folder for itself for too long.
 */
export async function openStore(stateDir: string): Promise<OpenStore> {
  const held = await claimOrJoin(stateDir, PATIENCE_MS);
  if (typeof held === 'string') {
    const token = readSecrets('.').LEARNER_TOKEN ?? '';
    return { gateway: new GatewayClient({ url: held, token }), close: async () => {} };
  }
  const { mesh, stop } = await startClaimed(held, { stateDir, cronMs: 0 });
  const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
  try {
    await ensureShipped(gateway);
  } catch (error) {
    await stop();
    throw error;
  }
  return { gateway, close: stop };
}
