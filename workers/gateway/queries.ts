/** The schemas of the routes' queries. */
import * as v from 'valibot';
import { id } from '../../core/schema/sample.ts';
import { GROUP_STATES } from '../../core/stages.ts';
import { fromIndex, indexOf, limitOf, versionText } from './parameters.ts';

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
