/** Runs a claim's arms: in full, as a quick check that every arm works, or as a pilot by which settings are chosen. */
import { type Engine, wrongInput } from 'rollmesh';
import type { Summary } from 'rollmesh/local';
import type { Pilot } from '../rule/attempts.ts';
import { type Arm, armSeeds, type Claim, type ClaimedRecipe, seedsOf } from '../rule/claim.ts';
import { settingsOf } from '../rule/registration.ts';
import { expectedMinutes, minutesByPilots } from './expected-time.ts';
import type { FinishedRuns } from './finished-runs.ts';
import type { Played } from './record.ts';
import type { ArmRun, Players } from './run-arms.ts';

export interface PlaySettings {
  readonly quick: boolean;
  /** Uses other seeds, and other tasks for evaluation. */
  readonly pilot: boolean;
  /** Runs only these arms. */
  readonly arms?: readonly string[];
  /** At most so many seeds; of a pilot so many. */
  readonly seeds?: number;
  /** Rounds of a pilot. */
  readonly rounds?: number;
  /** Of a quick check: the first arm of each claim is run alone. */
  readonly first?: boolean;
  readonly engine: Engine;
  /** Rounds from one evaluation to the next; default the claim's. */
  readonly evaluateEvery?: number;
}

/** A quick check's tiny rounds: two, or as many as come before the policy's turn. They run each arm's real code but prove nothing. */
const QUICK = { rounds: 2, tasks: 4, groupSize: 4 };
/** A pilot's first seed, far from any claim's, and how many seeds it has unless asked for more. */
const PILOT_SEED = 100;
const PILOT_SEEDS = 3;

function chosenArms({ name }: ClaimedRecipe, { arms }: Claim, names?: readonly string[]): readonly Arm[] {
  const unknown = names?.find((wanted) => arms.every((arm) => arm.name !== wanted));
  if (unknown === undefined) return names ? arms.filter((arm) => names.includes(arm.name)) : arms;
  throw wrongInput('claims.arm', `The claim of ${name} has no arm "${unknown}".`, {
    expected: arms.map((arm) => `"${arm.name}"`).join(', '),
  });
}

function seedsPlayed(claim: Claim, arm: Arm, { quick, pilot, seeds }: PlaySettings): readonly number[] {
  if (pilot) return Array.from({ length: seeds ?? PILOT_SEEDS }, (_, i) => PILOT_SEED + i);
  return quick ? seedsOf(claim).slice(0, 1) : armSeeds(claim, arm).slice(0, seeds);
}

/** The runs of a claim, arm by arm, as the settings ask for them. Throws `wrong-input` for an arm that the claim lacks. */
function runsOf(
  recipe: ClaimedRecipe,
  settings: PlaySettings,
): readonly { readonly arm: Arm; readonly runs: ArmRun[] }[] {
  const claim = recipe.claim;
  const { rounds, quickRounds = QUICK.rounds, tokens, tasks, groupSize } = claim;
  const quickSizes = { ...QUICK, rounds: quickRounds, evalEvery: quickRounds };
  const sizes = {
    rounds: settings.rounds ?? rounds,
    evalEvery: settings.evaluateEvery ?? settingsOf(recipe).evaluateEvery,
    ...(tokens ? { tokens } : {}),
    ...(tasks ? { tasks } : {}),
    ...(groupSize ? { groupSize } : {}),
  };
  const { engine } = settings;
  const chosen = settings.first ? claim.arms.slice(0, 1) : chosenArms(recipe, claim, settings.arms);
  return chosen.map((arm) => ({
    arm,
    runs: seedsPlayed(claim, arm, settings).map(
      (seed): ArmRun => ({
        claim: recipe.name,
        recipe: claim.recipe ?? recipe.name,
        arm,
        seed,
        engine,
        ...(settings.quick ? quickSizes : sizes),
      }),
    ),
  }));
}

/** Says before a claim is played how long it will take, by its last record, or by its pilots where it has none. */
export function sayExpectedTime(
  recipe: ClaimedRecipe,
  { engine, jobs }: { readonly engine: Engine; readonly jobs: number },
  { record, pilots }: { readonly record: Played | undefined; readonly pilots: readonly Pilot[] },
): void {
  const claim = recipe.claim;
  const runs = claim.arms.reduce((sum, arm) => sum + armSeeds(claim, arm).length, 0);
  const minutes = expectedMinutes(claim, engine, record) ?? minutesByPilots(claim, pilots);
  const total = minutes && [...minutes.values()].reduce((sum, value) => sum + value, 0);
  console.log(
    `${recipe.name}: ${claim.arms.length} arms, ${runs} runs of ${claim.rounds} rounds, engine ${engine}, ${jobs} at a time: ` +
      (total
        ? `about ${Math.ceil(total / jobs)} minutes, by its ${record ? 'last record' : 'pilots, which may have had other settings'}; the longest arm takes ${Math.ceil(Math.max(...minutes.values()) / jobs)}.`
        : 'how long they take is not known, as there is no earlier record and no pilot.'),
  );
}

interface Continued {
  /** Keeps the runs that have ended. */
  readonly finished?: FinishedRuns;
  /** The folder of the policy that a seed begins from; undefined = the recipe's start. */
  readonly startOf?: (seed: number) => string | undefined;
  /** By what the step sizes of all runs are multiplied. */
  readonly stepSizes?: number;
  /** Called as a run ends, with all runs that were asked for. It ends the whole where it throws. */
  readonly onEnded?: (summary: Summary, runs: readonly ArmRun[]) => Promise<void>;
}

/** Runs a claim's arms and says after each run how far the arm and the claim are. */
export async function playClaim(
  recipe: ClaimedRecipe,
  settings: PlaySettings,
  players: Players,
  { finished, startOf, stepSizes, onEnded }: Continued = {},
): Promise<Pick<Played, 'arms' | 'seeds' | 'rounds'> & { readonly began: string }> {
  const arms = runsOf(recipe, settings).map(({ arm, runs }) => ({
    arm,
    runs: runs.map((run): ArmRun => {
      const start = startOf?.(run.seed);
      return { ...run, ...(start ? { start } : {}), ...(stepSizes === undefined ? {} : { stepSizes }) };
    }),
  }));
  const runs = arms.flatMap((arm) => arm.runs);
  const earlier = await Promise.all(runs.map((run) => finished?.read(run)));
  const left = runs.filter((_, i) => !earlier[i]);
  if (left.length < runs.length)
    console.log(
      `${recipe.name}: goes on; ${runs.length - left.length} of ${runs.length} runs were played before.`,
    );
  const startedAt = new Date().toISOString();
  const began = [startedAt, ...earlier.flatMap((run) => (run ? [run.began] : []))].sort()[0]!;
  const clock = performance.now();
  const done = new Map(
    arms.map(({ arm, runs: of }) => [arm.name, of.filter((run) => !left.includes(run)).length]),
  );
  let ended = 0;
  const played = await players.play(left, async (run, summary) => {
    await finished?.write(run, startedAt, summary);
    const { name } = run.arm;
    done.set(name, done.get(name)! + 1);
    ended++;
    const of = arms.find(({ arm }) => arm.name === name)!.runs.length;
    const minutes = ((performance.now() - clock) / ended / 60_000) * (left.length - ended);
    const [first, last] = [summary.heldout[0], summary.heldout.at(-1)].map((point) =>
      (100 * (point?.accuracy ?? Number.NaN)).toFixed(1),
    );
    console.log(
      `${recipe.name} ${name}, seed ${run.seed}: greedy ${first} -> ${last} %, ${Math.round(summary.wallMs / 1000)} s; ` +
        `${done.get(name)} of ${of} seeds, ${runs.length - left.length + ended} of ${runs.length} runs, about ${Math.ceil(minutes)} min left`,
    );
    await onEnded?.(summary, runs);
  });
  const summaries = new Map(left.map((run, i) => [run, played[i]!]));
  const of = (run: ArmRun) => summaries.get(run) ?? earlier[runs.indexOf(run)]!.summary;
  return {
    rounds: runs[0]!.rounds,
    seeds: [...new Set(runs.map(({ seed }) => seed))],
    began,
    arms: arms.map((one) => ({ ...one.arm, runs: one.runs.map(of) })),
  };
}
