/** The results file of a claim: it is committed as data, and docs/claims.md is made from it. */
import {
  type Arm,
  type Claim,
  type Condition,
  claimOf,
  type JudgedCondition,
  judgeCondition,
  type Verdict,
  verdictOf,
} from '../../core/claim.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe.ts';
import type { Summary } from '../../core/schema/summary.ts';

export interface MeasuredOn {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly commit: string;
  readonly at: string;
}

export interface PlayedArm extends Arm {
  /** One run for each seed. */
  readonly runs: readonly Summary[];
  /** The machine, if the arm was run later than the record's other arms. */
  readonly machine?: MeasuredOn;
}

/** The settings that all runs of a claim have in common, apart from the policy that they began with. */
export interface PlayedSettings {
  readonly start: string;
  /** The number of tasks of a round, and of samples of each task. */
  readonly tasks: number;
  readonly group: number;
  readonly evaluateEvery: number;
  /** The parameter sets and how each is optimised. */
  readonly sets: Recipe['sets'];
}

/** What was run of a claim, before it is judged. */
export interface Played {
  readonly recipe: string;
  readonly machine: MeasuredOn;
  readonly settings: PlayedSettings;
  readonly rounds: number;
  readonly seeds: readonly number[];
  readonly arms: readonly PlayedArm[];
}

export interface ClaimRecord extends Played {
  readonly claim: string;
  readonly verdict: Verdict;
  readonly conditions: readonly JudgedCondition[];
  readonly observations?: readonly JudgedCondition[];
  /** Titles of the curves, by figure; absent = the held-out accuracies. */
  readonly pictures?: Readonly<Record<string, string>>;
}

const armsWithoutRuns = ({ arms }: Played, recipe: Recipe): readonly string[] =>
  claimOf(recipe).arms.flatMap(({ name }) => (arms.some((played) => played.name === name) ? [] : [name]));

/** The rounds between two evaluations, for a claim that does not set them. */
export const EVALUATE_EVERY = 5;

export function settingsOf(recipe: Recipe): PlayedSettings {
  const { startPolicy: start, sets } = recipe;
  const {
    tasks = recipe.tasks,
    groupSize: group = recipe.groupSize,
    evaluateEvery = EVALUATE_EVERY,
  } = claimOf(recipe);
  return { start, tasks, group, evaluateEvery, sets };
}

/** An arm's name and description as the claim has them now, or as recorded where the claim no longer has the arm. */
const wordsOf = ({ name, description }: PlayedArm, { arms }: Claim) => ({
  description: arms.find((arm) => arm.name === name)?.description ?? description,
});

/** Judges what was run by the present conditions of its claim. Throws `wrong-input` where an arm was not run. */
export function judged(played: Played, theRecipe: Recipe): ClaimRecord {
  const { recipe, machine, settings, rounds, seeds, arms } = played;
  const claim = claimOf(theRecipe);
  const [lacking] = armsWithoutRuns(played, theRecipe);
  if (lacking !== undefined)
    throw wrongInput('claims.arm', `The record of ${recipe} has no runs of its arm "${lacking}".`, {
      next: `Play it: npm run claims -- ${recipe} --missing`,
    });
  const results = Object.fromEntries(arms.map(({ name, runs }) => [name, runs]));
  const judge = (condition: Condition) => judgeCondition(condition, results, seeds.length);
  const conditions = claim.conditions.map(judge);
  return {
    recipe,
    claim: claim.description,
    verdict: verdictOf(conditions),
    conditions,
    ...(claim.observations ? { observations: claim.observations.map(judge) } : {}),
    machine,
    settings,
    rounds,
    seeds,
    ...(claim.pictures ? { pictures: claim.pictures } : {}),
    arms: arms.map((arm) => ({ ...arm, ...wordsOf(arm, claim) })),
  };
}

/** The names of the claim's arms that the record lacks. Throws `wrong-input` where its runs are not comparable with new ones. */
export function missingArms(record: Played, recipe: Recipe): readonly string[] {
  const { name } = recipe;
  const claim = claimOf(recipe);
  const [asked, recorded] = [{ ...claim, settings: settingsOf(recipe) }, record].map(
    ({ seeds, rounds, settings }) =>
      `seeds ${seeds.join(', ')}, ${rounds} rounds, ${JSON.stringify(settings)}`,
  );
  if (asked !== recorded)
    throw wrongInput('claims.missing', `The record of ${name} was played otherwise: ${recorded}.`, {
      expected: asked!,
      next: `Play the whole claim: npm run claims -- ${name}`,
    });
  return armsWithoutRuns(record, recipe);
}

/** Adds further arms to a record, in the claim's order; each names the machine that it was run on. */
export function withArms(
  record: Played,
  added: readonly PlayedArm[],
  machine: MeasuredOn,
  recipe: Recipe,
): Played {
  const claim = claimOf(recipe);
  const all = [...record.arms, ...added.map((arm) => ({ ...arm, machine }))];
  return { ...record, arms: claim.arms.flatMap(({ name }) => all.filter((arm) => arm.name === name)) };
}
