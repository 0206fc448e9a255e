/** `npm run claims -- NAME…`: registers claims, runs their arms, judges them and writes their records; `--page` makes the pages from them. */

import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ENGINES, type Engine, RollmeshError, wrongInput } from 'rollmesh';
import { ownFigures, startFolder, thisMachine } from 'rollmesh/local';
import { expectExplained } from 'rollmesh/testing';
import { claimed } from '../claims/index.ts';
import { type ArmResults, type ClaimedRecipe, seedsOf, startOfClaim } from '../rule/claim.ts';
import { curveOf } from '../rule/curves.ts';
import { digestOf, expectUnchanged, settingsOf } from '../rule/registration.ts';
import { judgeCondition } from '../rule/rule.ts';
import { differentRuns } from './compare-runs.ts';
import { judgedRecord, readRecord, writePages, writeRecord } from './files.ts';
import { FinishedRuns, keyOfDigest } from './finished-runs.ts';
import { picturesOf } from './page.ts';
import { notedPilot } from './pilot.ts';
import { type PlaySettings, playClaim, sayExpectedTime } from './play-claim.ts';
import { type Judged, measuredNow, type Played } from './record.ts';
import { asRead } from './record-file.ts';
import {
  commitOfRegistration,
  expectPilotTime,
  expectRegisteredStart,
  readAttempts,
  readRegistration,
  writeRegistration,
} from './registered.ts';
import { Players } from './run-arms.ts';
import { playSizes } from './sizes.ts';
import { startOfSeed } from './starts.ts';
import { trimmed } from './trim.ts';

interface ClaimsOptions extends Omit<PlaySettings, 'engine'> {
  readonly engine?: Engine;
  readonly jobs: number;
  readonly page: boolean;
  readonly register: boolean;
  readonly sizes: boolean;
  readonly again?: string;
  readonly state: string;
}

const DEFAULT_ENGINE: Engine = 'onnx';

/** Prints what a pilot measured: every condition for which it ran the arms, and each curve. */
function printPilot(recipe: ClaimedRecipe, played: Pick<Played, 'arms' | 'seeds'>): void {
  const claim = recipe.claim;
  const results: ArmResults = Object.fromEntries(played.arms.map(({ name, runs }) => [name, runs]));
  for (const condition of [...claim.conditions, ...(claim.observations ?? [])]) {
    const { description, bound, measured, outcome } = judgeCondition(condition, results, played.seeds.length);
    const values = measured.map((value) => value.toFixed(3)).join(', ');
    console.log(`${outcome.padEnd(12)} ${description}: ${values} (${bound})`);
  }
  const { pictures } = claim;
  const drawn = picturesOf({ ...(pictures ? { pictures } : {}), arms: played.arms });
  for (const { name, runs } of played.arms)
    for (const figure of Object.keys(drawn))
      runs.forEach((_, seed) => {
        const values = curveOf(results, name, seed, figure).map((value) => (100 * value).toFixed(1));
        console.log(`${name}, seed ${played.seeds[seed]}, ${figure}: ${values.join(' ')}`);
      });
}

/** Plays a pilot and notes the time that it takes. */
async function playPilot(recipe: ClaimedRecipe, options: ClaimsOptions, players: Players): Promise<void> {
  await expectPilotTime(recipe.name);
  const settings = { ...options, engine: options.engine ?? DEFAULT_ENGINE };
  const own = await ownStart(recipe);
  const played = await playClaim(recipe, settings, players, {
    startOf: () => own,
    onEnded: notedPilot(recipe.name, thisMachine().commit),
  });
  printPilot(recipe, played);
}

function printVerdict({ recipe, verdict, conditions, observations }: Judged): void {
  for (const { description, bound, outcome } of [...conditions, ...observations])
    console.log(`${outcome.padEnd(12)} ${description} (${bound})`);
  console.log(`${recipe}: ${verdict}`);
}

/** The folder of a claim’s own start policy; undefined where its runs begin from the recipe’s. */
async function ownStart(recipe: ClaimedRecipe): Promise<string | undefined> {
  const { startPolicy } = recipe.claim;
  return startPolicy === undefined ? undefined : startFolder(startPolicy);
}

/** The start policies of a claim in which every seed has its own. */
async function startsOf(recipe: ClaimedRecipe, state: string) {
  const starts = new Map<number, Awaited<ReturnType<typeof startOfSeed>>>();
  const claim = recipe.claim;
  if (claim.startSeeds === 'one each')
    for (const seed of seedsOf(claim)) starts.set(seed, await startOfSeed(state, startOfClaim(recipe), seed));
  return starts;
}

/** Throws `claims.differs` where a run that was played again is not that of the record. */
function expectSame(name: string, record: Played, again: Pick<Played, 'arms'>): void {
  const { runs, different } = differentRuns(record, again);
  const { commit, node } = record.machine;
  if (!different.length) {
    console.log(`${name}: all ${runs} runs are those of the record, to the last digit.`);
    return;
  }
  for (const { arm, seed, fields } of different)
    console.log(
      `${name} ${arm}, seed ${seed}: ${fields.length ? `other ${fields.join(', ')}` : 'not in both'}`,
    );
  throw new RollmeshError(
    'give-up',
    'claims.differs',
    `${different.length} of ${runs} runs of ${name} are not those of its record.`,
    {
      expected: `the runs of commit ${commit} on Node ${node}`,
      next: 'Play it at that commit and on that Node, which train these bits. The record is as it was.',
    },
  );
}

/**
 * Plays the registered run of a claim, or goes on with it, and writes its record. A claim that has its record is played again and held
 * against it; then nothing is written.
 */
async function playRegistered(
  recipe: ClaimedRecipe,
  options: ClaimsOptions,
  players: Players,
): Promise<void> {
  const { name } = recipe;
  const { commit, at } = commitOfRegistration(name);
  const registered = (await readRegistration(name))!;
  expectUnchanged(recipe, registered);
  await expectRegisteredStart(registered);
  const { engine } = registered;
  if (options.engine && options.engine !== engine)
    throw wrongInput('claims.engine', `The claim of ${name} is registered for engine ${engine}.`, {
      expected: `--engine ${engine}, or none`,
    });
  const digest = digestOf(registered);
  const before = await readRecord(name);
  const isPlayed = before?.registration?.digest === digest;
  if (isPlayed)
    console.log(
      `${name}: its registered run is played and its verdict stands. It is played again and compared with the record.`,
    );
  const { pilots } = await readAttempts(name);
  sayExpectedTime(recipe, { engine, jobs: options.jobs }, { record: before, pilots });
  const machine = thisMachine();
  const starts = await startsOf(recipe, options.state);
  const key = `${isPlayed ? 'again-' : ''}${keyOfDigest(digest)}-${machine.commit}`;
  const finished = new FinishedRuns(options.state, name, key);
  const settings = { ...options, engine, quick: false, pilot: false };
  const own = await ownStart(recipe);
  const startOf = (seed: number) => starts.get(seed)?.folder ?? own;
  const { began, ...played } = await playClaim(recipe, settings, players, { finished, startOf });
  if (isPlayed) {
    await finished.forget();
    return expectSame(name, before, asRead(trimmed(recipe, { ...before, arms: played.arms })));
  }
  await writeRecord(recipe, {
    recipe: name,
    machine,
    settings: { start: startOfClaim(recipe), ...settingsOf(recipe) },
    ...played,
    registration: {
      digest,
      commit,
      at,
      began,
      ...(starts.size
        ? { starts: Object.fromEntries([...starts].map(([seed, { sha256 }]) => [seed, sha256])) }
        : {}),
      measured: measuredNow(recipe, played),
    },
  });
  await finished.forget();
  printVerdict(await judgedRecord(recipe));
}

async function play(recipe: ClaimedRecipe, options: ClaimsOptions, players: Players): Promise<void> {
  if (options.sizes)
    return await playSizes(recipe, claimed, { ...options, engine: options.engine ?? 'kernels' }, players);
  if (options.pilot) return await playPilot(recipe, options, players);
  if (!options.quick) return await playRegistered(recipe, options, players);
  const { arms } = await playClaim(recipe, { ...options, engine: options.engine ?? 'kernels' }, players);
  expectExplained(
    recipe,
    arms.flatMap(({ runs }) => runs.flatMap(ownFigures)),
  );
  console.log(`${recipe.name}: ${options.first ? 'the first' : 'every'} arm ran`);
}

async function registerClaims(
  chosen: readonly ClaimedRecipe[],
  { engine, again, state }: ClaimsOptions,
): Promise<void> {
  for (const recipe of chosen) {
    const played = (await readRecord(recipe.name))?.registration?.digest;
    const file = await writeRegistration(recipe, engine ?? DEFAULT_ENGINE, {
      played,
      state,
      ...(again === undefined ? {} : { reason: again }),
    });
    console.log(`Written to ${file}. Commit it, then play the claim by the same command without --register.`);
  }
}

/** Throws `claims.options` and `claims.names` where the options do not go together. */
function checkOptions(names: readonly string[], options: ClaimsOptions): void {
  const { pilot, quick, register, page, sizes, again } = options;
  const wrong = (what: string, expected: string) => wrongInput('claims.options', what, { expected });
  if ((!pilot && (options.arms || options.seeds || options.rounds)) || (options.first && !quick))
    throw wrong(
      'A claim is all of its arms, seeds and rounds.',
      '--arms, --seeds and --rounds with --pilot only, and --first with --quick',
    );
  if ([pilot, quick, register, page, sizes].filter(Boolean).length > 1)
    throw wrong(
      'These options exclude each other.',
      'one of --pilot, --quick, --register, --page and --sizes',
    );
  if (again !== undefined && !register)
    throw wrong('--again is a reason to register.', '--register --again REASON');
  if (!names.length && !page)
    throw wrongInput('claims.names', 'No recipe is named.', {
      expected: `all, or some of ${claimed.recipes.map(({ name }) => name).join(', ')}`,
      next: 'All of them take hours; `npm run claims -- all --quick` takes minutes.',
    });
}

/** The recipes that are named. Throws `claims.none` for one of which nothing is claimed. */
export const claimsNamed = (names: readonly string[]): readonly ClaimedRecipe[] =>
  names.includes('all') ? claimed.recipes : names.map(claimed.find);

const whole = (text: string): number => {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number from 1.');
};

export const command = (): Command =>
  new Command('npm run claims --')
    .description(
      'Registers the recipes’ claims, runs their arms and judges them. A claim that has a record of its registered run is played again and compared.',
    )
    .argument('[recipes...]', 'recipes by name, or `all`: hours of two cores')
    .option(
      '--register',
      'write the registration of the claim, which is committed before its run is played',
      false,
    )
    .option(
      '--again <reason>',
      'with --register: count another attempt after a registered one that was played, or stopped after some of its runs',
    )
    .option('--quick', 'a few tiny rounds of every arm: does everything run?', false)
    .option(
      '--pilot',
      'other seeds, evaluated on other tasks, to choose settings; notes only its time',
      false,
    )
    .option('--arms <names>', 'of a pilot: only these arms, by commas', (text) => text.split(','))
    .option('--seeds <n>', 'of a pilot: so many seeds', whole)
    .option('--rounds <n>', 'of a pilot: so many rounds', whole)
    .option('--first', 'of a quick check: the first arm of each claim alone', false)
    .option(
      '--sizes',
      'play the arms with a partner trained and frozen with larger policies; no verdict',
      false,
    )
    .option('--page', 'only judge the records again and write the pages from them', false)
    .option('--jobs <n>', 'processes at once', whole, availableParallelism())
    .option('--state <dir>', 'folder of the runs of a claim that is not finished', '.rollmesh')
    .addOption(
      new Option('--engine <name>', 'the sampler (default: onnx; of a quick check kernels)').choices(ENGINES),
    )
    .action(async (names: readonly string[], options: ClaimsOptions) => {
      checkOptions(names, options);
      const chosen = claimsNamed(names);
      if (options.register) return await registerClaims(chosen, options);
      const isFinal = !options.quick && !options.pilot;
      const players = new Players(options.jobs, options.pilot ? 'pilot' : options.quick ? 'quick' : 'full');
      try {
        for (const recipe of options.page ? [] : chosen) await play(recipe, options, players);
      } finally {
        players.stop();
      }
      if (options.page || isFinal) await writePages(claimed);
    });
