/**
 * The routes by which a reader has something sampled: a recorded sample again, or a version's answers to held-out tasks. The rollout Worker
 * samples. They write nothing, are bounded (see sample-again.ts) and have a rate limit of their own, so they need no more than reading does.
 */
import { Hono } from 'hono';
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import { samplingFailure } from '../../core/schema/answers.ts';
import { answersQuery, redrawQuery } from '../../core/schema/queries.ts';
import { id } from '../../core/schema/sample.ts';
import { getRound } from '../store/rounds.ts';
import { check } from './body.ts';
import { limitSamples } from './guards.ts';
import { HttpError } from './http-error.ts';
import { notFound } from './parameters.ts';
import { findSample } from './samples.ts';
import type { GatewayTypes, Services } from './services.ts';

/** Asks the rollout Worker; its failures become the gateway's answers. */
async function askRollout(sampler: Services['sampler'], path: string, order: object): Promise<Response> {
  if (!sampler)
    throw new HttpError(501, 'sampler.missing', 'This mesh has no Worker that samples for readers.', {
      next: 'Give the gateway the service binding SAMPLER of wrangler.toml and deploy it again.',
    });
  const answer = await sampler.fetch(
    new Request(`https://rollout${path}`, { method: 'POST', body: JSON.stringify(order) }),
  );
  if (answer.ok) return new Response(answer.body, { headers: { 'content-type': 'application/json' } });
  const { kind, code, message } = v.parse(samplingFailure, await answer.json());
  throw new RollmeshError(kind, code, message);
}

export const samplingRoutes = new Hono<GatewayTypes>()
  .use(limitSamples)
  .post('/samples/:id/redraw', async (c) => {
    const { db, bucket, sampler } = c.var.services;
    const sample = check(id, c.req.param('id'), 'sample.id');
    const { round } = check(redrawQuery, c.req.query(), 'query');
    const found = await findSample(db, bucket, sample, round);
    if (!found) throw notFound('sample', sample);
    // A proposal that was admitted names its group, but its record is that of the proposals.
    const group = found.proposal ? null : found.group;
    return askRollout(sampler, '/redraw', { round, group, sample });
  })
  .post('/rounds/:id/held-out', async (c) => {
    const { db, sampler } = c.var.services;
    const round = check(id, c.req.param('id'), 'round.id');
    const { version } = check(answersQuery, c.req.query(), 'query');
    if (!(await getRound(db, round))) throw notFound('round', round);
    return askRollout(sampler, '/answers', { round, version });
  });
