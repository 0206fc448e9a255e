/** The schemas of the queries of the gateway's routes, and of versions and parts in a path. */
import * as v from 'valibot';
import { GROUP_STATES } from '../round/stages.ts';
import { id } from './sample.ts';

const versionNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** A version in a path: decimal digits only; other spellings of a number are refused. */
export const versionText = v.pipe(
  v.string(),
  v.regex(/^(?:0|[1-9]\d{0,15})$/, 'Expected a whole number from 0'),
  v.transform(Number),
  versionNumber,
);

/** The number of a part in a path, from 1. */
export const partText = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,4}$/, 'Expected a whole number from 1'),
  v.transform(Number),
);

/** `?limit=` of a listing: parses the text to a whole number from 1 to `most`. */
const limitOf = (most: number, fallback: number) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,6}$/, 'Expected a whole number'),
      v.transform(Number),
      v.minValue(1),
      v.maxValue(most),
    ),
    String(fallback),
  );

/** Where a listing goes on: an index from 0. */
const fromIndex = v.pipe(
  v.string(),
  v.regex(/^\d{1,6}$/, 'Expected a whole number from 0'),
  v.transform(Number),
);

/** A round's index in a query. */
const indexOf = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,8}$/, 'Expected a whole number from 1'),
  v.transform(Number),
);

export const roundsQuery = v.object({
  run: v.optional(id),
  before: v.optional(indexOf),
  /** `true`: only rounds that have not ended. */
  open: v.optional(
    v.pipe(
      v.picklist(['true', 'false']),
      v.transform((text) => text === 'true'),
    ),
  ),
  limit: limitOf(500, 50),
});
/** A page of contents reads two objects for each group at most, and a Worker may read some hundred. */
export const contentsQuery = v.object({ from: v.optional(fromIndex, '0'), limit: limitOf(64, 32) });
export const listQuery = v.object({ limit: limitOf(500, 50) });
export const groupsQuery = v.object({ state: v.optional(v.picklist(GROUP_STATES)) });
export const sampleQuery = v.object({ round: v.optional(id) });
export const redrawQuery = v.object({ round: id });
export const answersQuery = v.object({ version: versionText });
export const eventsQuery = v.object({ run: v.optional(id) });
/** Where the answer before ended, in the list of dead letters. */
export const replayQuery = v.object({
  before: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}-[0-9a-f]{32}$/, 'Expected what an answer says as `next`'),
      v.transform((place) => {
        const [at, id] = place.split('-') as [string, string];
        return { at: Number(at), id };
      }),
    ),
  ),
});
export const deadLetterQuery = v.object({
  replayed: v.optional(v.picklist(['true', 'false'])),
  limit: limitOf(500, 100),
});
