/** The settings of a run on the page /try, and the link that encodes them. */
import * as v from 'valibot';
import { LARGEST_GROUP, MOST_TASKS } from '../../core/schema/round.ts';

const whole = (least: number, most: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,16}$/), v.transform(Number), v.minValue(least), v.maxValue(most));

/** Rounds that one press of the button plays at most. */
export const MOST_PLAYED = 1000;

/** The settings, each from the text that a link has of it. A text that does not fit is as if it were not there. */
const read = v.object({
  recipe: v.fallback(v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/))), undefined),
  reward: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(64))), undefined),
  variant: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(64))), undefined),
  freeze: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(256))), undefined),
  start: v.fallback(v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/))), undefined),
  registered: v.fallback(v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9.-]{1,96}\.svg$/))), undefined),
  seed: v.fallback(v.optional(whole(0, Number.MAX_SAFE_INTEGER)), undefined),
  rounds: v.fallback(v.optional(whole(1, MOST_PLAYED)), undefined),
  tasks: v.fallback(v.optional(whole(1, MOST_TASKS)), undefined),
  group: v.fallback(v.optional(whole(1, LARGEST_GROUP)), undefined),
});

export interface TrySettings {
  readonly recipe: string;
  readonly reward: string;
  /** A change of the recipe; empty = none. */
  readonly variant: string;
  /** Roles that keep version 0, separated by commas; empty = none. */
  readonly freeze: string;
  /** A start policy in place of the recipe's; empty = the recipe's. */
  readonly start: string;
  /** The file of the picture of a registered run that is shown beside this one; empty = none. */
  readonly registered: string;
  readonly seed: number;
  /** Rounds that the run is to have. */
  readonly rounds: number;
  readonly tasks: number;
  readonly group: number;
}

/** The settings in the hash of an address; undefined for each that is absent or does not fit. */
export const settingsIn = (hash: string): { [Name in keyof TrySettings]: TrySettings[Name] | undefined } =>
  v.parse(read, Object.fromEntries(new URLSearchParams(hash.replace(/^#/, '')))) as ReturnType<
    typeof settingsIn
  >;

/** The hash that encodes the settings. */
export const hashOf = (settings: TrySettings): string =>
  `#${new URLSearchParams(Object.entries(settings).flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]])))}`;
