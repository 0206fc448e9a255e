/** What was tried before a claim's registered run: earlier sets of seeds, conditions that were moved, and pilots with the time that they took. */
import * as v from 'valibot';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const attempts = v.strictObject({
  recipe: v.string(),
  /** Earlier runs of the whole claim, each with its verdict by the rule of its day (decisions/0008-claims.md, 0012-one-rule.md). */
  earlier: v.array(
    v.strictObject({
      seeds: v.array(count),
      rounds: count,
      /** It was registered before it was played. */
      registered: v.exactOptional(v.literal(true)),
      verdict: v.string(),
      held: count,
      conditions: count,
      /** The commit of its first record; null where none was committed. */
      commit: v.nullable(v.string()),
      /** What was changed for it, compared with the attempt before. */
      changed: v.string(),
    }),
  ),
  /** How many start policies these attempts began from. */
  starts: count,
  /** Conditions that were changed, left out or added between attempts: what was asked before, and what became of it. */
  moved: v.array(v.strictObject({ asked: v.string(), now: v.string() })),
  pilots: v.array(
    v.strictObject({
      at: v.pipe(v.string(), v.isoTimestamp()),
      commit: v.string(),
      /** Processor time of all of its runs that ended. */
      minutes: v.number(),
      arms: v.array(v.string()),
      seeds: count,
      rounds: count,
      /** How many of its runs had ended, of a pilot that was stopped before the others did. */
      runs: v.exactOptional(count),
    }),
  ),
});
export type Attempts = Readonly<v.InferOutput<typeof attempts>>;
export type Pilot = Attempts['pilots'][number];

/** Minutes of pilots that a claim may take in all. */
export const PILOT_BUDGET = 120;

export const pilotMinutes = ({ pilots }: Pick<Attempts, 'pilots'>): number =>
  pilots.reduce((sum, { minutes }) => sum + minutes, 0);
