/**
 * The model endpoints: OpenAI's `/v1/…` and vLLM's tokens in, tokens out, in front of any version of any policy. The rollout Worker samples;
 * here it is decided who may ask. They write nothing.
 */
import { Hono } from 'hono';
import { apiError } from '../../core/serving/api-error.ts';
import { getPolicy, listPolicies, type PolicyRow } from '../../store/policies.ts';
import { parseJson, readBytes } from './body.ts';
import { callersOnly } from './guards.ts';
import { errorResponse, HttpError } from './http-error.ts';
import { notFound } from './parameters.ts';
import type { GatewayTypes } from './services.ts';

const BODY_LIMIT = 1 << 20;

const modelView = ({ name, current, updatedAt }: PolicyRow) => ({
  id: name,
  object: 'model' as const,
  created: Math.floor(updatedAt / 1000),
  owned_by: 'rollmesh',
  version: current,
});

export const modelRoutes = new Hono<GatewayTypes>()
  .use('/v1/*', callersOnly)
  .use('/inference/*', callersOnly)
  .get('/v1/models', async (c) =>
    c.json({ object: 'list', data: (await listPolicies(c.var.services.db)).map(modelView) }),
  )
  .get('/v1/models/:model', async (c) => {
    const policy = await getPolicy(c.var.services.db, c.req.param('model'));
    if (!policy) throw notFound('model', c.req.param('model'));
    return c.json(modelView(policy));
  })
  .on('POST', ['/v1/chat/completions', '/v1/completions', '/inference/v1/generate'], async (c) => {
    const { sampler } = c.var.services;
    if (!sampler)
      throw new HttpError(501, 'sampler.missing', 'This mesh has no Worker that answers for its models.', {
        next: 'Give the gateway the service binding SAMPLER of wrangler.toml and deploy it again.',
      });
    const body = parseJson(await readBytes(c.req.raw, BODY_LIMIT));
    const answer = await sampler.fetch(
      new Request(`https://rollout${c.req.path}`, { method: 'POST', body: JSON.stringify(body) }),
    );
    return new Response(answer.body, {
      status: answer.status,
      headers: { 'content-type': answer.headers.get('content-type') ?? 'application/json' },
    });
  })
  .onError((error, c) => {
    const { status, body } = errorResponse(error);
    const { code, message, expected, next } = body.error;
    const sentences = [message, expected && `Expected ${expected}.`, next].filter(Boolean).join(' ');
    return c.json(apiError(status, code, sentences), status);
  });
