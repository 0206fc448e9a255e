/** The files of registrations and of attempts, and what version control says of a registration. */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Engine, wrongInput } from 'rollmesh';
import { readStart } from 'rollmesh/local';
import * as v from 'valibot';
import { type Attempts, attempts, PILOT_BUDGET, type Pilot, pilotMinutes } from '../rule/attempts.ts';
import { ONE_START, startOfClaim } from '../rule/claim.ts';
import { sha256Hex } from '../rule/digest.ts';
import {
  digestOf,
  type Registered,
  type Registration,
  register,
  registration,
} from '../rule/registration.ts';
import { finishedRunsOf } from './finished-runs.ts';

const registrationFile = (recipe: string) => join('records', 'registered', `${recipe}.json`);
const attemptsFile = (recipe: string) => join('records', 'attempts', `${recipe}.json`);

async function readJson<S extends v.GenericSchema>(
  file: string,
  schema: S,
): Promise<v.InferOutput<S> | undefined> {
  return existsSync(file) ? v.parse(schema, JSON.parse(await readFile(file, 'utf8'))) : undefined;
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  // A process that is killed while it writes leaves the file as it was.
  await writeFile(`${file}.part`, `${JSON.stringify(value, null, 1)}\n`);
  await rename(`${file}.part`, file);
}

export const readRegistration = (recipe: string): Promise<Registration | undefined> =>
  readJson(registrationFile(recipe), registration);

/** Nothing was tried before where there is no file. */
export const readAttempts = async (recipe: string): Promise<Attempts> =>
  (await readJson(attemptsFile(recipe), attempts)) ?? {
    recipe,
    earlier: [],
    starts: 0,
    moved: [],
    pilots: [],
  };

/** Adds a pilot to the attempts of a claim, in the place of what is noted of a pilot that began at the same time. */
export async function writePilot(recipe: string, pilot: Pilot): Promise<void> {
  const before = await readAttempts(recipe);
  const others = before.pilots.filter(({ at }) => at !== pilot.at);
  await writeJson(attemptsFile(recipe), { ...before, pilots: [...others, pilot] });
}

/** Throws `claims.pilots` where the claim's pilots have taken all the time that they may. */
export async function expectPilotTime(recipe: string): Promise<void> {
  const spent = pilotMinutes(await readAttempts(recipe));
  if (spent < PILOT_BUDGET) return;
  throw wrongInput('claims.pilots', `The pilots of ${recipe} have taken ${Math.round(spent)} minutes.`, {
    expected: `at most ${PILOT_BUDGET} minutes of pilots a claim, in all`,
    next: 'Register what is known with `--register`, and play it.',
  });
}

/** Digest of the weights that a recipe's runs begin from. */
async function startDigest(policy: string): Promise<string> {
  const { 'model.safetensors': weights } = await readStart(policy);
  return sha256Hex(weights!);
}

/** Says of a registered run that was stopped what the table of earlier attempts says. */
async function writeStopped({ recipe, attempt, reason, seeds, rounds, arms }: Registration, ended: number) {
  const before = await readAttempts(recipe);
  const runs = arms.reduce((sum, arm) => sum + arm.seeds.length, 0);
  const what = reason ?? (attempt === 1 ? 'the first run' : 'the registered run');
  const stopped: Attempts['earlier'][number] = {
    seeds: [...seeds],
    rounds,
    verdict: 'stopped',
    held: 0,
    conditions: 0,
    commit: null,
    registered: true,
    changed: `${what}; stopped after ${ended} of ${runs} runs`,
  };
  await writeJson(attemptsFile(recipe), { ...before, earlier: [...before.earlier, stopped] });
}

interface Registering {
  /** The digest of the registration whose run has a record; undefined where none has. */
  readonly played?: string | undefined;
  /** The folder of the runs of a claim that is not finished. */
  readonly state: string;
  /** Why there is another attempt. */
  readonly reason?: string;
}

/**
 * Writes the registration of a recipe's claim. Throws `claims.registered` where a registered run was played, or was stopped after some of its
 * runs, and no reason is given for another attempt. A run that was stopped is added to the earlier attempts.
 */
export async function writeRegistration(
  recipe: Registered,
  engine: Engine,
  { played, state, reason }: Registering,
): Promise<string> {
  const { name } = recipe;
  const earlier = await readRegistration(name);
  const digest = earlier && digestOf(earlier);
  const isPlayed = digest !== undefined && digest === played;
  if (isPlayed && reason === undefined)
    throw wrongInput(
      'claims.registered',
      `The claim of ${name} was registered and played: its verdict stands.`,
      {
        expected: 'one registered attempt',
        next: 'To count another, register it with `--register --again REASON`.',
      },
    );
  const ended = digest && !isPlayed ? await finishedRunsOf(state, name, digest) : 0;
  if (ended && reason === undefined)
    throw wrongInput(
      'claims.registered',
      `The registered run of ${name} has begun: ${ended} of its runs ${ended === 1 ? 'has' : 'have'} ended, and ${ended === 1 ? 'its result is' : 'their results are'} known.`,
      {
        expected: 'one registered attempt, which is played to its end',
        next: `Go on with \`npm run claims -- ${name}\`, or count what was stopped as an attempt with \`--register --again REASON\`.`,
      },
    );
  const { startSeeds } = recipe.claim;
  const policy = startOfClaim(recipe);
  const attempt =
    isPlayed || ended
      ? earlier!.attempt + 1
      : (earlier?.attempt ?? (await readAttempts(name)).earlier.length + 1);
  const made = register(recipe, {
    attempt,
    ...(reason === undefined ? {} : { reason }),
    registeredAt: new Date().toISOString(),
    engine,
    start: {
      policy,
      sha256: await startDigest(policy),
      seeds: startSeeds ?? ONE_START,
    },
  });
  await writeJson(registrationFile(name), made);
  if (ended) await writeStopped(earlier!, ended);
  return registrationFile(name);
}

/** Throws `claims.start` where the start is not the registered one. */
export async function expectRegisteredStart({
  recipe,
  start: { policy, sha256 },
}: Registration): Promise<void> {
  const found = await startDigest(policy);
  if (found === sha256) return;
  throw wrongInput('claims.start', `The start ${policy} of ${recipe} has the digest ${found}.`, {
    expected: `the registered weights, ${sha256}`,
    next: `Restore models/${policy}, or register another attempt with \`--register --again REASON\`.`,
  });
}

/** The commit that holds the registration as it is in the file. Throws `claims.registration` where none does. */
export function commitOfRegistration(recipe: string): { readonly commit: string; readonly at: string } {
  const file = registrationFile(recipe);
  const git = (...args: string[]) => {
    try {
      return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch (cause) {
      throw wrongInput('claims.registration', `Git does not know the registration ${file}.`, {
        expected: 'a Git repository, in which the registration is committed before its run is played',
        next: `Commit it: git init && git add ${file} && git commit`,
        cause,
      });
    }
  };
  if (!existsSync(file))
    throw wrongInput(
      'claims.registration',
      `The claim of ${recipe} is not registered: there is no ${file}.`,
      {
        next: 'Write it with `--register`, and commit it.',
      },
    );
  const [commit, at] = git('log', '-1', '--format=%h %cI', '--', file).split(' ');
  if (commit && at && git('status', '--porcelain', '--', file) === '') return { commit, at };
  throw wrongInput('claims.registration', `The registration ${file} is not committed.`, {
    expected: 'a registration that is committed before its run is played',
    next: `Commit it: git add ${file} && git commit`,
  });
}
