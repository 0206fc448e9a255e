/** The results file of a claim: it is committed as data, and docs/claims.md is made from it. */

import { wrongInput } from 'rollmesh';
import type { ShapeName } from 'rollmesh/local';
import type { Attempts } from '../rule/attempts.ts';
import type { Arm, Claim, ColumnsNote, Condition, Headline, RewardGap, Run } from '../rule/claim.ts';
import { digestOf, expectUnchanged, type Registered, type Registration } from '../rule/registration.ts';
import { type JudgedCondition, judgeCondition, type Verdict, verdictOf, voidOf } from '../rule/rule.ts';

export interface MeasuredOn {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly commit: string;
  readonly at: string;
}

export interface PlayedArm extends Arm {
  /** One run for each seed of the arm. */
  readonly runs: readonly Run[];
  /** The machine, if the arm was run later than the record's other arms. */
  readonly machine?: MeasuredOn;
}

/** The registration that a run was played under, and what the conditions measured when it ended. */
export interface PlayedUnder {
  readonly digest: string;
  /** The commit of the registration, and its time. */
  readonly commit: string;
  readonly at: string;
  /** When the first run began. */
  readonly began: string;
  /** Digests of the start policies' weights by seed, where every seed has its own. */
  readonly starts?: Readonly<Record<string, string>>;
  /** By condition, then observation: one number per seed, null where it is no finite number. */
  readonly measured: readonly (readonly (number | null)[])[];
}

/** What was run of a claim. A record that was played before registrations has none, and its arms have three or five seeds. */
export interface Played {
  readonly recipe: string;
  readonly machine: MeasuredOn;
  readonly settings: Registration['settings'] & { readonly start: string };
  readonly rounds: number;
  readonly seeds: readonly number[];
  readonly arms: readonly PlayedArm[];
  readonly registration?: PlayedUnder;
}

/** The shapes that are played besides that of the shipped starts, `nano`. */
export const SIZES = ['micro', 'mini'] as const satisfies readonly ShapeName[];
export type Size = (typeof SIZES)[number];

/** What was played of a recipe with one larger policy. */
export interface Sized extends Omit<Played, 'registration'> {
  readonly shape: Size;
  readonly parameters: number;
}

export interface Judged extends Played {
  readonly claim: string;
  readonly verdict: Verdict;
  readonly headline: Headline;
  readonly conditions: readonly JudgedCondition[];
  readonly observations: readonly JudgedCondition[];
  readonly attempts: Attempts;
  /** How many attempts the claim has had, the one of this record included. */
  readonly attempt: number;
  /** Titles of the curves, by figure; absent = the held-out accuracies. */
  readonly pictures?: Readonly<Record<string, string>>;
  /** On figures that are lacking or mean something else. */
  readonly columns?: ColumnsNote;
  /** What stands for the reward's gap to gold; absent = the monitor `gap`. */
  readonly gap?: RewardGap;
}

/** What each condition and then each observation measured in some runs. */
function judgeAll(claim: Claim, { arms, seeds }: Pick<Played, 'arms' | 'seeds'>) {
  const { conditions, observations = [] } = claim;
  const results = Object.fromEntries(arms.map(({ name, runs }) => [name, runs]));
  const judge = (condition: Condition): JudgedCondition => {
    const judged = judgeCondition(condition, results, seeds.length);
    const why = voidOf(condition, judged.measured, claim, results);
    return why ? { ...judged, outcome: 'void', why } : judged;
  };
  return { conditions: conditions.map(judge), observations: observations.map(judge) };
}

/** As JSON holds it. */
const finite = (measured: readonly number[]) =>
  measured.map((value) => (Number.isFinite(value) ? value : null));

/** What the conditions measure now, for the record of a run that has just ended. */
export function measuredNow(
  recipe: Registered,
  played: Pick<Played, 'arms' | 'seeds'>,
): PlayedUnder['measured'] {
  const { conditions, observations } = judgeAll(recipe.claim, played);
  return [...conditions, ...observations].map(({ measured }) => finite(measured));
}

/** Throws `claims.registration` where the record was not played under the registration, or before it. */
function expectPlayedUnder(
  { recipe, registration: under }: Played,
  registered: Registration | undefined,
): asserts registered is Registration {
  const next = 'Register the claim with `--register --again REASON` and play it again.';
  const refuse = (what: string) =>
    wrongInput('claims.registration', `The record of ${recipe} is not judged: ${what}.`, { next });
  if (!registered) throw refuse('its registration is gone');
  if (digestOf(registered) !== under!.digest) throw refuse('it was played under another registration');
  if (Date.parse(under!.at) >= Date.parse(under!.began))
    throw refuse(`its registration of ${under!.at} is younger than its run of ${under!.began}`);
}

/**
 * Judges what was run by the conditions of its claim. Throws `claims.registration` where the record, its registration and the claim do not
 * belong together, or where the conditions measure other numbers than they did when the run ended.
 */
export function judged(
  played: Played,
  recipe: Registered,
  attempts: Attempts,
  registered?: Registration,
): Judged {
  const claim = recipe.claim;
  const { registration: under } = played;
  if (under) {
    expectPlayedUnder(played, registered);
    expectUnchanged(recipe, registered);
  }
  const { conditions, observations } = judgeAll(claim, played);
  const measured = [...conditions, ...observations].map((one) => finite(one.measured));
  if (under && JSON.stringify(measured) !== JSON.stringify(under.measured))
    throw wrongInput(
      'claims.registration',
      `The conditions of ${recipe.name} measure other numbers than when its run ended.`,
      {
        expected: 'measures that nobody changed after the run',
        next: 'Undo the change of the recipe’s claim.',
      },
    );
  const { machine, settings, rounds, seeds, arms } = played;
  return {
    recipe: recipe.name,
    claim: claim.description,
    verdict: verdictOf(claim, conditions),
    headline: claim.headline ?? { condition: 0 },
    conditions,
    observations,
    attempts,
    attempt: under ? registered!.attempt : attempts.earlier.length,
    machine,
    settings,
    rounds,
    seeds,
    ...(under ? { registration: under } : {}),
    ...(claim.pictures ? { pictures: claim.pictures } : {}),
    ...(claim.columns ? { columns: claim.columns } : {}),
    ...(claim.gap ? { gap: claim.gap } : {}),
    arms: arms.map((arm) => ({ ...arm, description: descriptionOf(arm, claim) })),
  };
}

/** An arm's description as the claim has it now, or as recorded where the claim no longer has the arm. */
const descriptionOf = ({ name, description }: PlayedArm, { arms }: Claim) =>
  arms.find((arm) => arm.name === name)?.description ?? description;
