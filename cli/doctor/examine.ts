/** What this machine has for rollmesh, and which devices are used. Each finding is measured here and now; nothing is changed. */
import { existsSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installed } from '../../local/mesh/installation.ts';

/** Plain JavaScript that the install runs too, so that it is found from the installation. */
const { isCurrent, OLDEST_NODE } = (await import(
  pathToFileURL(installed('cli/install', 'node-version.mjs')).href
)) as typeof import('../install/node-version.mjs');

export interface Finding {
  readonly what: string;
  /** `missing` is no failure: a command that needs it says so. `bad`: the local mesh cannot run. */
  readonly state: 'good' | 'missing' | 'bad';
  readonly found: string;
  readonly follows: string;
}

const GIGABYTE = 1e9;
/** Mesh, learner and command take 0.4 to 0.7 GB each for the smallest policies. */
const NEEDED_MEMORY = 2 * GIGABYTE;
/** A run of 40 rounds of the flagship writes about 0.2 GB of versions. */
const NEEDED_DISK = GIGABYTE;
/** V8's pairing of SIMD operations, which makes the CPU learner nearly twice as fast. */
const FAST_NODE = 24;

const gigabytes = (bytes: number) => `${(bytes / GIGABYTE).toFixed(1)} GB`;

export function nodeFinding(version: string): Finding {
  const old = !isCurrent(version);
  const major = Number.parseInt(version.replace('v', ''), 10);
  const follows = old
    ? `rollmesh needs ${OLDEST_NODE} or later`
    : major < FAST_NODE
      ? `Node ${FAST_NODE} or later would train nearly twice as fast on the CPU, to the same bits`
      : 'the learner’s CPU device pairs SIMD operations';
  return { what: 'Node.js', state: old ? 'bad' : 'good', found: version, follows };
}

export function roomFinding(what: 'memory' | 'disk', free: number, of: number): Finding {
  const needed = what === 'memory' ? NEEDED_MEMORY : NEEDED_DISK;
  const enough = free >= needed;
  return {
    what,
    state: enough ? 'good' : 'bad',
    found: `${gigabytes(free)} free of ${gigabytes(of)}`,
    follows: enough
      ? what === 'memory'
        ? 'room for the local mesh and its learner'
        : 'room for local state'
      : `less than the ${gigabytes(needed)} that ${what === 'memory' ? 'a mesh with its learner takes' : 'a run of 40 rounds may write'}`,
  };
}

export function coresFinding(cores: number): Finding {
  return {
    what: 'cores',
    state: 'good',
    found: String(cores),
    follows:
      cores > 1
        ? 'Workers and learner each have one; with --ahead 1 both work at the same time'
        : 'Workers and learner take turns; --ahead gains nothing here',
  };
}

function portFinding(port: number): Promise<Finding> {
  return new Promise((settle) => {
    const server = createServer();
    const found = (state: Finding['state'], words: string, follows: string) =>
      settle({ what: `port ${port}`, state, found: words, follows });
    server.once('error', (error: NodeJS.ErrnoException) =>
      found(
        'missing',
        error.code ?? 'not free',
        'choose another with --port, or --port 0 for any that is free',
      ),
    );
    server.listen(port, '127.0.0.1', () =>
      server.close(() => found('good', 'free', 'the page and the webhook of a local mesh can be there')),
    );
  });
}

async function gpuFinding(): Promise<Finding> {
  const what = 'GPU';
  try {
    const { missingGpu } = await import('../../learner/device/webgpu/adapter.ts');
    const { openGpuBackend } = await import('../../learner/device/webgpu/index.ts');
    const opened = (await missingGpu(false)) ?? (await openGpuBackend());
    if (typeof opened === 'string')
      return {
        what,
        state: 'missing',
        found: opened.replace(/\.$/, ''),
        follows: 'the learner computes on the CPU',
      };
    const { vendor, architecture, description } = opened.gpu.info;
    opened.gpu.device.destroy();
    const found = description || [vendor, architecture].filter(Boolean).join(' ');
    return {
      what,
      state: 'good',
      found,
      follows: 'the learner takes it where it is faster than the CPU (--device auto)',
    };
  } catch (error) {
    const found = error instanceof Error ? error.message.split('\n')[0]! : String(error);
    return { what, state: 'missing', found, follows: 'the learner computes on the CPU' };
  }
}

export function accountFinding(env: Readonly<Record<string, string | undefined>>, folder: string): Finding {
  const what = 'Cloudflare account';
  if (env.CLOUDFLARE_API_TOKEN)
    return {
      what,
      state: 'good',
      found: 'CLOUDFLARE_API_TOKEN is set',
      follows: '`npx rollmesh deploy` can use it',
    };
  if (existsSync(join(folder, '.deploy')))
    return {
      what,
      state: 'good',
      found: 'a mesh was deployed from this folder',
      follows: '`npx rollmesh deploy` goes on from .deploy/',
    };
  return {
    what,
    state: 'missing',
    found: 'no CLOUDFLARE_API_TOKEN',
    follows:
      'the local mesh needs none; for `npx rollmesh deploy` log in with `npx wrangler login` or set it',
  };
}

/** The nearest folder above a path that exists: its disk is the one that state will be on. */
const existing = (path: string): string => (existsSync(path) ? path : existing(dirname(path)));

export async function examine(port: number, state: string): Promise<Finding[]> {
  const disk = statfsSync(existing(resolve(state)));
  return [
    nodeFinding(process.version),
    coresFinding(availableParallelism()),
    roomFinding('memory', freemem(), totalmem()),
    roomFinding('disk', disk.bavail * disk.bsize, disk.blocks * disk.bsize),
    await gpuFinding(),
    await portFinding(port),
    accountFinding(process.env, process.cwd()),
  ];
}
