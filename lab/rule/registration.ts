/** The registration of a claim: what its one run will be, written and committed before the run is played. */
import { canonicalJson, ENGINES, wrongInput } from 'rollmesh';
import * as v from 'valibot';
import { armsRead } from './arms-read.ts';
import {
  type Arm,
  armSeeds,
  type Claim,
  type ClaimedRecipe,
  type Condition,
  EVALUATE_EVERY,
  LEAST_SEEDS,
  seedsOf,
  startOfClaim,
} from './claim.ts';
import { sha256Hex } from './digest.ts';
import { boundOf } from './rule.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const texts = v.array(v.string());
const condition = v.strictObject({
  description: v.string(),
  bound: v.string(),
  control: v.exactOptional(v.literal(true)),
});

export const registration = v.strictObject({
  /** The claim's name. */
  recipe: v.string(),
  /** The recipe, where it has another name. */
  plays: v.exactOptional(v.string()),
  /** Earlier attempts at this claim, of other seeds, starts or conditions, plus one. */
  attempt: count,
  /** Why there is another attempt after a registered one. */
  reason: v.exactOptional(v.string()),
  registeredAt: v.pipe(v.string(), v.isoTimestamp()),
  claim: v.string(),
  engine: v.picklist(ENGINES),
  start: v.strictObject({
    policy: v.string(),
    /** Of the weights' file. */
    sha256: v.string(),
    /** How the seed of the start itself varies over the claim's seeds, or why it does not. */
    seeds: v.string(),
  }),
  settings: v.strictObject({
    tasks: count,
    groupSize: count,
    evaluateEvery: count,
    tokens: v.exactOptional(count),
    sets: v.record(v.string(), v.unknown()),
  }),
  rounds: count,
  seeds: v.array(count),
  arms: v.array(
    v.strictObject({
      name: v.string(),
      reward: v.exactOptional(v.string()),
      freeze: v.exactOptional(texts),
      variant: v.exactOptional(v.string()),
      seeds: v.array(count),
    }),
  ),
  conditions: v.array(condition),
  observations: v.array(condition),
});
export type Registration = Readonly<v.InferOutput<typeof registration>>;

/** The parts of a recipe that a registration fixes. */
export type Registered = Pick<
  ClaimedRecipe,
  'name' | 'startPolicy' | 'sets' | 'tasks' | 'groupSize' | 'claim'
>;

/** What a registration says beyond the recipe and its claim. */
export type Circumstances = Pick<Registration, 'attempt' | 'reason' | 'registeredAt' | 'engine' | 'start'>;

/** The settings that all runs of a claim have in common. */
export function settingsOf(recipe: Registered): Registration['settings'] {
  const {
    tasks = recipe.tasks,
    groupSize = recipe.groupSize,
    evaluateEvery = EVALUATE_EVERY,
    tokens,
  } = recipe.claim;
  return { tasks, groupSize, evaluateEvery, ...(tokens ? { tokens } : {}), sets: recipe.sets };
}

const stated = (one: Condition) => ({
  description: one.description,
  bound: boundOf(one),
  ...(one.control ? { control: true as const } : {}),
});

const playedAs = (claim: Claim, arm: Arm) => ({
  name: arm.name,
  ...(arm.reward ? { reward: arm.reward } : {}),
  ...(arm.freeze ? { freeze: [...arm.freeze] } : {}),
  ...(arm.variant ? { variant: arm.variant } : {}),
  seeds: [...armSeeds(claim, arm)],
});

/** The conditions that are no controls and measure an arm of fewer than eight seeds, with the names of these arms. */
export const conditionsOfFewSeeds = (
  claim: Claim,
): readonly { condition: Condition; arms: readonly string[] }[] => {
  const few = claim.arms.filter((arm) => armSeeds(claim, arm).length < LEAST_SEEDS).map(({ name }) => name);
  return claim.conditions
    .filter(({ control }) => !control)
    .map((condition) => ({ condition, arms: armsRead(condition, claim).filter((arm) => few.includes(arm)) }))
    .filter(({ arms }) => arms.length > 0);
};

/**
 * The registration of a recipe's claim as it stands. Throws `wrong-input` where a condition's bound is 0, and where a condition that is no
 * control measures an arm of fewer than eight seeds.
 */
export function register(recipe: Registered, circumstances: Circumstances): Registration {
  const [first] = conditionsOfFewSeeds(recipe.claim);
  if (first)
    throw wrongInput(
      'claims.seeds',
      `The condition "${first.condition.description}" measures ${first.arms.join(' and ')} on fewer than ${LEAST_SEEDS} seeds.`,
      {
        expected: `${LEAST_SEEDS} seeds for every arm that a condition measures, unless the condition is a control`,
        next: 'Give the arm all seeds, or leave the condition to the observations.',
      },
    );
  return stateOf(recipe, circumstances);
}

function stateOf(recipe: Registered, circumstances: Circumstances): Registration {
  const claim = recipe.claim;
  const made = {
    recipe: recipe.name,
    ...(claim.recipe ? { plays: claim.recipe } : {}),
    ...circumstances,
    claim: claim.description,
    settings: settingsOf(recipe),
    rounds: claim.rounds,
    seeds: [...seedsOf(claim)],
    arms: claim.arms.map((arm) => playedAs(claim, arm)),
    conditions: claim.conditions.map(stated),
    observations: (claim.observations ?? []).map(stated),
  };
  // As it is read from its file: what is undefined is absent.
  return v.parse(registration, JSON.parse(JSON.stringify(made)));
}

export const digestOf = (registered: Registration): string =>
  sha256Hex(new TextEncoder().encode(canonicalJson(registered)));

/** Throws `claims.registration`, which names the first field that differs, unless the recipe's claim still is what was registered. */
export function expectUnchanged(recipe: Registered, registered: Registration): void {
  const { attempt, reason, registeredAt, engine, start } = registered;
  const today = stateOf(recipe, {
    attempt,
    ...(reason === undefined ? {} : { reason }),
    registeredAt,
    engine,
    start: { ...start, policy: startOfClaim(recipe) },
  });
  const field = (Object.keys(today) as (keyof Registration)[]).find(
    (key) => canonicalJson(today[key]) !== canonicalJson(registered[key]),
  );
  if (!field) return;
  throw wrongInput(
    'claims.registration',
    `The claim of ${recipe.name} is not what was registered: its ${field} differ. Registered: ${canonicalJson(registered[field])}. Now: ${canonicalJson(today[field])}.`,
    {
      expected: 'the arms, conditions, seeds, settings and start of the registration',
      next: 'Undo the change, or register another attempt with `--register --again REASON`.',
    },
  );
}
