/** The alternatives to compare with, on the same checkpoint and machine. They are large, so they are installed on demand. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ModelConfig } from '../../../model/config.ts';
import type { Tensors } from '../../../model/safetensors.ts';
import { type Summary, summarise } from '../statistics.ts';
import { MAX_NEW } from './measure.ts';
import type { Shape } from './prompts.ts';
import { PEER_FORMS, type RunTime } from './turns.ts';

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

/** A peer beside this project's engines, on one checkpoint and machine, in turns. */
export interface AgainstPeer extends Shape {
  readonly peer: string;
  /** The peer's weights: float32, or 8 bits in the form that it computes fastest. */
  readonly weights: string;
  /** Where the project's engines ran: the peers do not all run in one place. */
  readonly at: 'workerd' | 'Chromium';
  /** The peer's tokens a second of its process's CPU time, prefill included. */
  readonly perCpuSecond: Summary;
  readonly ours: readonly {
    readonly way: OurWay;
    readonly perCpuSecond: Summary;
    /** Of the turns of one round: the peer's time over ours, by the processes' CPU time and by the wall clock. */
    readonly speedup: { readonly cpu: Summary; readonly wall: Summary };
  }[];
}

/** What is compared with peers: the ONNX policy and forms of the kernels engine. */
export const OUR_WAYS = ['graph', ...PEER_FORMS] as const;
export type OurWay = (typeof OUR_WAYS)[number];

/** Sums turns up; `name` is the peer's in them. */
export function against<Name extends string>(
  turns: readonly Record<Name | OurWay, RunTime>[],
  name: Name,
  { groups, samples }: Shape,
): Pick<AgainstPeer, 'groups' | 'samples' | 'perCpuSecond' | 'ours'> {
  const tokens = groups * samples * MAX_NEW;
  const perCpuSecond = (way: Name | OurWay) =>
    summarise(turns.map((turn) => (1000 * tokens) / turn[way].cpu));
  const speedup = (way: OurWay, clock: 'ms' | 'cpu') =>
    summarise(turns.map((turn) => turn[name][clock] / turn[way][clock]));
  return {
    groups,
    samples,
    perCpuSecond: perCpuSecond(name),
    ours: OUR_WAYS.map((way) => ({
      way,
      perCpuSecond: perCpuSecond(way),
      speedup: { cpu: speedup(way, 'cpu'), wall: speedup(way, 'ms') },
    })),
  };
}
