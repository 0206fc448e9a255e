/**
 * News for the page as server-sent events: `change` whenever a round of the run has moved. The page then reads what is new by the usual
 * routes, so that an event that is lost costs nothing but time. A stream ends after a while; the page opens another.
 */
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { eventsQuery } from '../../core/schema/queries.ts';
import { changeMark } from '../store/rounds.ts';
import { check } from './body.ts';
import type { GatewayTypes } from './services.ts';

const LOOK_MS = 1000;
/** How long a stream lasts: a Worker is not kept for a page that nobody looks at. */
const STREAM_MS = 120_000;

export const events = new Hono<GatewayTypes>().get('/events', (c) => {
  const { db } = c.var.services;
  const { run } = check(eventsQuery, c.req.query(), 'query');
  return streamSSE(c, async (stream) => {
    const end = Date.now() + STREAM_MS;
    for (let known = ''; !stream.aborted && Date.now() < end; ) {
      const mark = await changeMark(db, run);
      // A comment line keeps proxies from closing a silent stream.
      if (mark === known) await stream.write(': \n\n');
      else await stream.writeSSE({ event: 'change', data: '' });
      known = mark;
      await stream.sleep(LOOK_MS);
    }
  });
});
