/** One run of a sweep, in this process: its versions and records lie in a folder of its own. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { tally } from '../../core/schema/evaluation.ts';
import { type Summary, summary } from '../../core/schema/summary.ts';
import { readStart } from '../../local/find-start.ts';
import { readSecrets } from '../../local/mesh/secrets.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import type { RunListener } from '../../local/run/play.ts';
import { newestEvaluation, progressOf } from '../../local/run/single-process.ts';
import { isStart } from '../../local/starts.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { withStore } from '../policy/command-line.ts';
import { listed } from '../policy/store-commands.ts';
import { fetchVersion, missingPolicy } from '../policy/stored-version.ts';
import { openRecipes } from '../recipe-modules.ts';
import { askedRun } from '../shared/asked-run.ts';
import { type AskedStartOptions, FASTEST, orderOf, startCommand } from '../shared/run-options.ts';
import { addTrainingTaskOptions, type TrainingTaskOptions } from '../training-task-options.ts';
import { FolderRunStore } from './folder-store.ts';

/**
 * A run that has been played to `rounds`, with what was asked for; `examined` is the bound on held-out tasks, null for all; `answers` is what its last version answered greedily
 * to the held-out questions `questions`.
 */
const finished = v.object({
  args: v.array(v.string()),
  examined: v.nullable(v.number()),
  rounds: v.number(),
  answers: v.exactOptional(tally),
  questions: v.exactOptional(v.string()),
  summary,
});
export type Finished = Readonly<v.InferOutput<typeof finished>>;

/** Parses the arguments of `rollmesh start`. */
const parseStart = (args: readonly string[]): AskedStartOptions & TrainingTaskOptions =>
  addTrainingTaskOptions(startCommand()).parse(args, { from: 'user' }).opts();

const RESULT = 'result.json';

/** A run that has been played before, as far as it was. Throws `sweep.other` where the folder holds a run of other arguments. */
export async function endedRun(
  folder: string,
  args: readonly string[],
  examine?: number,
): Promise<Finished | null> {
  const text = await readFile(join(folder, RESULT), 'utf8').catch(() => null);
  if (text === null) return null;
  const run = v.parse(finished, JSON.parse(text));
  if (JSON.stringify([run.args, run.examined]) === JSON.stringify([args, examine ?? null])) return run;
  throw wrongInput('sweep.other', `The folder ${folder} holds a run of other arguments.`, {
    expected: run.examined === null ? run.args.join(' ') : `${run.args.join(' ')} --examine ${run.examined}`,
    next: 'Choose another folder with --out.',
  });
}

/** Opens the run that the arguments describe, without doing it. Throws `wrong-input` as `rollmesh start` does. */
async function openRun(args: readonly string[], folder: string) {
  const asked = parseStart(args);
  if (asked.serve || asked.nodes || asked.engine === FASTEST || asked.weights === FASTEST)
    throw wrongInput('sweep.options', 'A sweep plays its runs in this process, with one engine.', {
      next: 'Leave --serve, --nodes, --engine fastest and --weights fastest out.',
    });
  const { files, known, options } = await askedRun(asked);
  const run = runOf(known.registry, orderOf(options));
  const bound = Object.values(bindingsOf(run.recipe, run.settings)).flatMap(({ fixed }) => fixed ?? []);
  // Every run begins from version 0 of the same policy, in a folder of its own.
  const versions: VersionToCopy[] = [
    {
      from: { name: options.policy ?? run.recipe.startPolicy, version: 0 },
      to: { name: run.settings.policy, version: 0 },
    },
    ...bound.map((ref) => ({ from: ref, to: ref })),
  ];
  const recipes = files
    ? () => files.write(join(folder, 'recipes')).then((file) => openRecipes([file]))
    : async () => known;
  return { run, versions, state: asked.state, options, recipes };
}

/** A version that a run needs in its folder, and what it is called there. */
interface VersionToCopy {
  readonly from: PolicyRef;
  readonly to: PolicyRef;
}

/** Is it a start policy, which has a folder of its own? All other versions are in the state folder. */
const hasFolder = ({ name, version }: PolicyRef): boolean => version === 0 && isStart(name);

/** Refuses what cannot be played, before anything is; returns its rounds. Throws `policy.missing` where a policy is not in the state folder. */
export async function checkRun(args: readonly string[]): Promise<number> {
  const { run, versions, state } = await openRun(args, '');
  const starts = versions.filter(({ from }) => hasFolder(from));
  for (const { from } of starts) await readStart(from.name);
  const stored = versions.flatMap(({ from }) => (hasFolder(from) ? [] : from.name));
  if (stored.length === 0) return run.rounds;
  const names = (await listed({ state })).map(({ name }) => name);
  const missing = stored.find((name) => !names.includes(name));
  if (missing === run.recipe.startPolicy) await readStart(missing);
  if (missing !== undefined) throw missingPolicy(missing, names);
  return run.rounds;
}

/** Copies versions into the folder of a run, those that are not there yet. Throws `policy.missing` or `version.missing`. */
async function copyVersions(
  versions: readonly VersionToCopy[],
  store: FolderRunStore,
  state: string,
): Promise<void> {
  const wanted = versions.filter(({ to }) => !store.hasVersion(to));
  const stored = wanted.filter(({ from }) => !hasFolder(from));
  for (const { from, to } of wanted)
    if (hasFolder(from)) await store.commitVersion(to, await readStart(from.name));
  if (stored.length === 0) return;
  await withStore({ state }, async (gateway) => {
    for (const { from, to } of stored)
      await store.commitVersion(to, (await fetchVersion(gateway, from)).files);
  });
}

export interface Part {
  /** To which round it is played; default: its last. */
  readonly rounds?: number;
  /** Held-out tasks of each family in an evaluation at most. */
  readonly examine?: number | undefined;
  /** Does it go on later? What that needs is kept. */
  readonly goesOn?: boolean;
}

/** Plays the run, or goes on with it. */
export async function playRun(
  args: readonly string[],
  folder: string,
  listener: Omit<RunListener, 'finished'>,
  { rounds, examine, goesOn = false }: Part = {},
): Promise<Finished> {
  const { run, versions, state, options, recipes } = await openRun(args, folder);
  const target = rounds ?? run.rounds;
  await mkdir(folder, { recursive: true });
  const store = new FolderRunStore(folder);
  let before = await endedRun(folder, args, examine);
  // What a run that had ended needs to go on is gone: it is played again.
  if (before && (await progressOf(run.settings, store)).done < before.rounds) {
    before = null;
    await store.clear();
  }
  const { policy } = run.settings;
  await copyVersions(versions, store, state);
  let ended: Summary | undefined;
  await playInProcess(
    { ...run, rounds: target },
    options,
    store,
    {
      ...listener,
      finished: (summary) => {
        ended = summary;
      },
    },
    { ...HELD_OUT, ...(examine === undefined ? {} : { examined: examine }) },
    await recipes(),
    readSecrets('.').REWARD_SECRET,
  );
  const evaluation = await newestEvaluation(run.settings, store);
  const answers = evaluation?.tallies?.accuracy;
  const questions = evaluation?.heldOut.questions;
  const result: Finished = {
    args: [...args],
    examined: examine ?? null,
    rounds: target,
    ...(answers ? { answers } : {}),
    ...(questions === undefined ? {} : { questions }),
    summary: { ...ended!, wallMs: ended!.wallMs + (before?.summary.wallMs ?? 0) },
  };
  const path = join(folder, RESULT);
  await writeFile(`${path}.writing`, `${JSON.stringify(result)}\n`);
  await rename(`${path}.writing`, path);
  // Last, since without its records a run would begin anew, from its last version.
  if (!goesOn) await store.keepLast(policy);
  return result;
}

/** Removes what a run that does not go on needs no more: all but its last version. */
export async function endRun(folder: string, { summary: { policy } }: Finished): Promise<void> {
  await new FolderRunStore(folder).keepLast(policy);
}
