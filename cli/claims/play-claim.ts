/** Runs a claim's arms: in full, as a quick check that every arm works, or as a pilot by which settings are chosen. */
import { type Arm, type Claim, claimOf } from '../../core/claim.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe.ts';
import { EVALUATE_EVERY, type Played } from './record.ts';
import type { ArmRun, Players } from './run-arms.ts';

export interface PlaySettings {
  readonly quick: boolean;
  /** Uses other seeds, and other tasks for evaluation. */
  readonly pilot: boolean;
  /** Runs only these arms. */
  readonly arms?: readonly string[];
  readonly seeds?: number;
  readonly rounds?: number;
}

/** A quick check's tiny rounds: two, or as many as come before the policy's turn. They run each arm's real code but prove nothing. */
const QUICK = { rounds: 2, tasks: 8, groupSize: 4 };
/** A pilot's first seed: far from any claim's. */
const PILOT_SEED = 100;

function chosenArms({ name }: Recipe, { arms }: Claim, names?: readonly string[]): readonly Arm[] {
  const unknown = names?.find((wanted) => arms.every((arm) => arm.name !== wanted));
  if (unknown === undefined) return names ? arms.filter((arm) => names.includes(arm.name)) : arms;
  throw wrongInput('claims.arm', `The claim of ${name} has no arm "${unknown}".`, {
    expected: arms.map((arm) => `"${arm.name}"`).join(', '),
  });
}

function seedsOf(claim: Claim, { quick, pilot, seeds }: PlaySettings): readonly number[] {
  if (pilot) return Array.from({ length: seeds ?? claim.seeds.length }, (_, i) => PILOT_SEED + i);
  return quick ? claim.seeds.slice(0, 1) : claim.seeds;
}

/** Runs a claim's arms. Throws `wrong-input` for an arm that the claim lacks. */
export async function playClaim(
  recipe: Recipe,
  settings: PlaySettings,
  players: Players,
): Promise<Pick<Played, 'arms' | 'seeds' | 'rounds'>> {
  const claim = claimOf(recipe);
  const {
    rounds,
    evaluateEvery: evalEvery = EVALUATE_EVERY,
    quickRounds = QUICK.rounds,
    tasks,
    groupSize,
  } = claim;
  const seeds = seedsOf(claim, settings);
  const sizes = settings.quick
    ? { ...QUICK, rounds: quickRounds, evalEvery: quickRounds }
    : {
        rounds: settings.rounds ?? rounds,
        evalEvery,
        ...(tasks ? { tasks } : {}),
        ...(groupSize ? { groupSize } : {}),
      };
  const arms = chosenArms(recipe, claim, settings.arms);
  const runs = arms.flatMap((arm) =>
    seeds.map((seed): ArmRun => ({ recipe: recipe.name, arm, seed, ...sizes })),
  );
  const summaries = await players.play(runs, ({ arm, seed }, { heldout, wallMs }) => {
    const [first, last] = [heldout[0], heldout.at(-1)].map((point) =>
      (100 * (point?.accuracy ?? Number.NaN)).toFixed(1),
    );
    console.log(
      `${recipe.name} ${arm.name}, seed ${seed}: greedy ${first} -> ${last} %, ${Math.round(wallMs / 1000)} s`,
    );
  });
  return {
    rounds: sizes.rounds,
    seeds,
    arms: arms.map((arm, a) => ({
      ...arm,
      runs: summaries.slice(a * seeds.length, (a + 1) * seeds.length),
    })),
  };
}
