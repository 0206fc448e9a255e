/**
 * Runs whose files are damaged at rest. `npx rollmesh start` is killed at a moment of a round, one file of its state folder is damaged, and the same
 * command is given again, as a person would. The run must come to the versions of the reference run, or name what was lost; then the file
 * is put back, and the run must go on.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../../core/random.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import { MAIN_SET, type Manifest, weightsFile } from '../../core/schema/policy.ts';
import { keys } from '../../core/schema/round.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { readStart } from '../../local/find-start.ts';
import { type RunOrder, runOf } from '../../recipes/run-order.ts';
import { type Damage, type DamageTarget, damageFile, fileOf, isDatabase } from '../faults/damage.ts';
import { followLog } from '../faults/log-tail.ts';
import { type FileHashes, referenceRun } from '../faults/reference-run.ts';
import { storedObjects } from '../faults/stored-files.ts';
import { type Watched, watchCommand } from '../faults/watched-command.ts';

/** Events of the mesh's log after which the run is killed. */
export const MOMENTS = ['propose.done', 'rollout.done', 'judge.done', 'version.committed'] as const;

export interface DamageCase {
  readonly target: DamageTarget;
  readonly damage: Damage;
  /** The run is killed after the first such event of this round. */
  readonly event: (typeof MOMENTS)[number];
  readonly round: number;
  readonly delayMs: number;
}

export interface DamageResult extends DamageCase {
  /** The key of the object that was damaged, or what kind of file it was. */
  readonly file: string;
  /** `same`: the versions are those of the reference run. `named`: something was lost, and said. */
  readonly ending: 'same' | 'named' | 'wrong';
  /** What was said of the loss, or what is wrong. */
  readonly said: string | null;
  /** How the run went on after a loss. */
  readonly wayOn: 'by itself' | 'the file was put back' | null;
  /** The longest time in which the terminal said nothing, ms. */
  readonly silenceMs: number;
  readonly wallMs: number;
}

/** A command that has not ended after this time hangs, ms. */
const LIMIT_MS = 15 * 60_000;

interface Soak {
  readonly order: RunOrder;
  readonly policy: string;
  readonly wanted: readonly FileHashes[];
}

/** The versions that all of the runs should come to. `recipes`: those that the order may name. */
export async function prepareDamage(recipes: Registry, order: RunOrder): Promise<Soak> {
  const run = runOf(recipes, order);
  const device = await openDevice({ device: 'cpu', threads: 1 });
  try {
    const wanted = await referenceRun(run, await readStart(run.recipe.startPolicy));
    return { order, policy: run.settings.policy, wanted };
  } finally {
    device.close();
  }
}

/** The arguments of `rollmesh` that play the order in a state folder, its output as lines of JSON. */
export const startArguments = (
  { recipe, seed, rounds, tasks, groupSize, engine }: RunOrder,
  state: string,
) => [
  'start',
  ...['--recipe', recipe, '--seed', String(seed), '--rounds', String(rounds)],
  ...['--tasks-per-round', String(tasks), '--group-size', String(groupSize), '--eval-every', '1000'],
  ...(engine === undefined ? [] : ['--engine', engine]),
  ...['--headless', '--json', '--port', '0', '--device', 'cpu', '--threads', '1', '--state', state],
];

/** Plays one case in a folder of its own, which is removed if all is well. */
export async function playDamage(soak: Soak, one: DamageCase, random: Random): Promise<DamageResult> {
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-damage-'));
  const state = join(folder, 'state');
  const start = () => watchCommand(startArguments(soak.order, state), LIMIT_MS);
  await killedAt(start, state, one);
  const found = fileOf(state, soak.policy, one.target, random);
  const result = (
    rest: Pick<DamageResult, 'ending' | 'said' | 'wayOn'>,
    silenceMs: number,
    file = found?.name ?? 'none',
  ): DamageResult => {
    // The folder is another one each time.
    const said = rest.said?.replaceAll(`${folder}/`, '') ?? null;
    return { ...one, file, ...rest, said, silenceMs, wallMs: Math.round(performance.now() - began) };
  };
  if (!found) {
    rmSync(folder, { recursive: true });
    return result({ ending: 'same', said: 'there was no such file yet', wayOn: null }, 0);
  }
  const backup = join(folder, 'backup');
  cpSync(state, backup, { recursive: true });
  const mend = damageFile(found.path, one.damage, random);
  const watched = await start().ended;
  const judged = await judge(soak, state, watched, async () => {
    if (isDatabase(one.target)) {
      rmSync(state, { recursive: true });
      cpSync(backup, state, { recursive: true });
    } else {
      mend();
      await watchCommand(['dead-letters', 'replay', '--state', state], LIMIT_MS).ended;
    }
    return start().ended;
  });
  if (judged.ending !== 'wrong') rmSync(folder, { recursive: true });
  return result(judged, watched.silenceMs);
}

/** Starts the run and kills it at the moment of the case. */
async function killedAt(
  start: () => ReturnType<typeof watchCommand>,
  state: string,
  { event, round, delayMs }: DamageCase,
): Promise<void> {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  let committed = 0;
  let aimed = false;
  const running = start();
  const stop = followLog(join(state, 'mesh.log'), (seen) => {
    if (!aimed && seen.event === event && committed === round - 1) {
      aimed = true;
      setTimeout(() => running.kill(), delayMs);
    }
    if (seen.event === 'version.committed') committed++;
  });
  await running.ended;
  stop();
}

async function judge(
  soak: Soak,
  state: string,
  watched: Watched,
  mendAndStart: () => Promise<Watched>,
): Promise<Pick<DamageResult, 'ending' | 'said' | 'wayOn'>> {
  const said = lossOf(watched);
  if (watched.endless) return { ending: 'wrong', said: 'the command did not end', wayOn: null };
  if (watched.code === 0) {
    if (isSame(soak, state)) return { ending: 'same', said, wayOn: null };
    return said === null
      ? { ending: 'wrong', said: 'the versions differ, and nothing was said', wayOn: null }
      : { ending: 'named', said, wayOn: 'by itself' };
  }
  if (said === null)
    return {
      ending: 'wrong',
      said: `exit status ${watched.code}: ${watched.lines.slice(-3).join(' | ')}`,
      wayOn: null,
    };
  const again = await mendAndStart();
  return again.code === 0
    ? { ending: 'named', said, wayOn: 'the file was put back' }
    : {
        ending: 'wrong',
        said: `${said} After the file was put back: ${again.lines.slice(-2).join(' | ')}`,
        wayOn: null,
      };
}

/** What the command said of a loss: its error, else a failed round or group. */
function lossOf({ lines }: Watched): string | null {
  const events = lines.flatMap((line) => {
    try {
      const event: unknown = JSON.parse(line);
      return typeof event === 'object' && event !== null ? [event as Record<string, unknown>] : [];
    } catch {
      return [];
    }
  });
  const error = events.find(({ kind }) => kind === 'error');
  if (error) return String(error.message).slice(0, 400);
  const notice = events.find(({ kind, text }) => kind === 'notice' && /failed|gives up/.test(String(text)));
  if (notice) return String(notice.text).slice(0, 400);
  const failed = events.find(
    ({ kind, groups }) => kind === 'round' && (groups as { failed: number }).failed > 0,
  );
  return failed ? `groups failed: ${JSON.stringify(failed.report).slice(0, 300)}` : null;
}

/** Do the manifests on disk name the files of the reference run, for every round? */
export function isSame({ policy, wanted }: Soak, state: string): boolean {
  const objects = storedObjects(state);
  return wanted.every((hashes, version) => {
    const path = objects.get(keys.version(policy, version, 'manifest.json'));
    if (!path || !existsSync(path)) return false;
    let files: Manifest['files'];
    try {
      ({ files } = JSON.parse(readFileSync(path, 'utf8')) as Manifest);
    } catch {
      return false;
    }
    // Version 0 has its start policy's files as they were; the reference run has them read.
    const compared = version === 0 ? [weightsFile(MAIN_SET)] : (Object.keys(hashes) as (keyof FileHashes)[]);
    return compared.every((file) => files[file]?.sha256 === hashes[file]);
  });
}
