/** Dead letters: list them, and send one or all of them again where their round still waits for them. */
import { Hono } from 'hono';
import type * as v from 'valibot';
import type { deadLetterListing, Replayed, replayListing } from '../../core/schema/answers.ts';
import { deadLetterQuery, replayQuery } from '../../core/schema/queries.ts';
import { id } from '../../core/schema/sample.ts';
import { getDeadLetter, listDeadLetters } from '../store/dead-letters.ts';
import { check } from './body.ts';
import { learnerOnly } from './guards.ts';
import { HttpError } from './http-error.ts';
import { notFound } from './parameters.ts';
import { replay } from './replay.ts';
import type { GatewayTypes } from './services.ts';
import { deadLetterView } from './views.ts';

/** Most dead letters that one call replays; the caller calls again for the rest, with the place that the answer names. */
const REPLAY_ALL_LIMIT = 100;

export const deadLetterRoutes = new Hono<GatewayTypes>()
  .get('/', async (c) => {
    const { replayed, limit } = check(deadLetterQuery, c.req.query(), 'query');
    const letters = await listDeadLetters(c.var.services.db, { replayed: replayed === 'true', limit });
    return c.json<v.InferOutput<typeof deadLetterListing>>({ deadLetters: letters.map(deadLetterView) });
  })
  .post('/replay', learnerOnly, async (c) => {
    const { before } = check(replayQuery, c.req.query(), 'query');
    const limit = REPLAY_ALL_LIMIT;
    const letters = await listDeadLetters(c.var.services.db, { replayed: false, limit, before });
    const results: Replayed[] = [];
    for (const letter of letters) results.push(await replay(c.var.services, letter));
    const last = letters.length < limit ? undefined : letters.at(-1);
    const next = last ? `${last.at}-${last.id}` : null;
    return c.json<v.InferOutput<typeof replayListing>>({ results, next });
  })
  .post('/:id/replay', learnerOnly, async (c) => {
    const wanted = check(id, c.req.param('id'), 'dead-letter.id');
    const letter = await getDeadLetter(c.var.services.db, wanted);
    if (!letter) throw notFound('dead letter', wanted);
    const result = await replay(c.var.services, letter);
    if (result.state === 'refused')
      throw new HttpError(409, 'dead-letter.refused', result.reason, {
        next: 'The letter is kept. A webhook orders further rounds.',
      });
    return c.json<Replayed>(result, 202);
  });
