/** The alternatives to compare with, on the same checkpoint and machine. They are large, so they are installed on demand. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ModelConfig } from '../../model/config.ts';
import type { Tensors } from '../../model/safetensors.ts';
import { type Summary, summarise } from '../statistics.ts';
import { MAX_NEW, warmUp } from './measure.ts';
import type { Shape } from './prompts.ts';

export const peersFolder = resolve('node_modules/.cache/rollmesh/bench-peers');

/** An npm package that the project does not depend on, in an exact version. */
export interface Peer {
  readonly package: string;
  readonly version: string;
}

export const folderOf = (peer: Peer): string => join(peersFolder, 'node_modules', peer.package);

function installed(peer: Peer): boolean {
  const manifest = join(folderOf(peer), 'package.json');
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === peer.version;
}

export async function install(peer: Peer): Promise<void> {
  if (installed(peer)) return;
  const manifest = join(peersFolder, 'package.json');
  await mkdir(peersFolder, { recursive: true });
  if (!existsSync(manifest)) await writeFile(manifest, '{"private":true}\n');
  const what = `${peer.package}@${peer.version}`;
  const flags = ['--save-exact', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...flags, what], { cwd: peersFolder, stdio: 'ignore' });
}

export interface BenchCheckpoint {
  readonly name: string;
  readonly config: ModelConfig;
  readonly tensors: Tensors;
}

export interface AgainstPeer extends Shape {
  readonly peer: string;
  /** Where the policy ran: the peers do not all run in one place. */
  readonly at: 'workerd' | 'Chromium';
  /** Tokens a second, prefill included. */
  readonly graph: Summary;
  readonly other: Summary;
  readonly speedup: Summary;
}

interface Sides {
  readonly peer: Peer;
  readonly at: AgainstPeer['at'];
  /** Milliseconds of one run. */
  ours(): Promise<number>;
  theirs(): Promise<number>;
}

/** Measures both in turns, after both are warmed up. */
export async function interleave(
  { peer, at, ours, theirs }: Sides,
  { groups, samples }: Shape,
  rounds: number,
): Promise<AgainstPeer> {
  await warmUp(async () => {
    await ours();
    await theirs();
  });
  const times: { graph: number; other: number }[] = [];
  for (let i = 0; i < rounds; i++) times.push({ graph: await ours(), other: await theirs() });
  const tokens = groups * samples * MAX_NEW;
  return {
    groups,
    samples,
    peer: `${peer.package}@${peer.version}`,
    at,
    graph: summarise(times.map(({ graph }) => (1000 * tokens) / graph)),
    other: summarise(times.map(({ other }) => (1000 * tokens) / other)),
    speedup: summarise(times.map(({ graph, other }) => other / graph)),
  };
}
