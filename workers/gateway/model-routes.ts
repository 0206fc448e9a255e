/**
 * The model endpoints: OpenAI's `/v1/…` and vLLM's tokens in, tokens out, in front of any version of any policy. The rollout Worker samples;
 * here it is decided who may ask. They write nothing.
 */
import { Hono } from 'hono';
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import { positionsOf } from '../../core/renderer/policy-text.ts';
import { loadCommitted, type VersionStore } from '../shared/committed.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { listPolicies, type PolicyRow } from '../store/policies.ts';
import { parseJson, readBytes } from './body.ts';
import { callersOnly } from './guards.ts';
import { HttpError, toldError } from './http-error.ts';
import { notFound } from './parameters.ts';
import type { GatewayTypes } from './services.ts';
import { policyOrStart } from './start-policies.ts';

const BODY_LIMIT = 1 << 20;
const KEPT_LENGTHS = 1024;

/** By policy: all of its versions have one config, and version 0 is never pruned. */
const lengths = new Map<string, number | null>();

/** The most tokens of a prompt with its answer; null where the policy has no config that says so. */
export async function longestOf(store: VersionStore, name: string): Promise<number | null> {
  const known = lengths.get(name);
  if (known !== undefined) return known;
  const { 'config.json': config } = await loadCommitted(store, { name, version: 0 }, ['config.json']);
  const length = config ? positionsOf(config, name) : null;
  if (lengths.size >= KEPT_LENGTHS) lengths.clear();
  lengths.set(name, length);
  return length;
}

/** As OpenAI has it, with vLLM's `max_model_len`, by which clients that render prompts themselves leave out what is too long. */
const modelView = async (store: VersionStore, { name, current, updatedAt }: PolicyRow) => ({
  id: name,
  object: 'model' as const,
  created: Math.floor(updatedAt / 1000),
  owned_by: 'rollmesh',
  max_model_len: await longestOf(store, name),
  version: current,
});

/** The model as it is listed; null for one whose files are damaged or gone, which is named in the log and does not hide the others. */
const listedView = (store: VersionStore, policy: PolicyRow) =>
  modelView(store, policy).catch((error: unknown) => {
    if (!(error instanceof RollmeshError)) throw error;
    log('error', 'model.unreadable', { policy: policy.name, ...failureOf(error) });
    return null;
  });

/** The field of a request that names a policy, or a version of one as NAME@N. */
const modelAsked = v.looseObject({ model: v.string() });

export const modelRoutes = new Hono<GatewayTypes>()
  .use('/v1/*', callersOnly)
  .use('/inference/*', callersOnly)
  .get('/v1/models', async (c) => {
    const { services } = c.var;
    const views = await Promise.all(
      (await listPolicies(services.db)).map((policy) => listedView(services, policy)),
    );
    return c.json({ object: 'list', data: views.filter((view) => view !== null) });
  })
  .get('/v1/models/:model', async (c) => {
    const policy = await policyOrStart(c.var.services, c.req.param('model'));
    if (!policy) throw notFound('model', c.req.param('model'));
    return c.json(await modelView(c.var.services, policy));
  })
  .on(
    'POST',
    ['/v1/chat/completions', '/v1/responses', '/v1/completions', '/inference/v1/generate'],
    async (c) => {
      const { sampler } = c.var.services;
      if (!sampler)
        throw new HttpError(501, 'sampler.missing', 'This mesh has no Worker that answers for its models.', {
          next: 'Give the gateway the service binding SAMPLER of wrangler.toml and deploy it again.',
        });
      const body = parseJson(await readBytes(c.req.raw, BODY_LIMIT));
      const asked = v.is(modelAsked, body) ? body.model.split('@')[0]! : null;
      if (asked !== null) await policyOrStart(c.var.services, asked);
      const answer = await sampler.fetch(
        new Request(`https://rollout${c.req.path}`, { method: 'POST', body: JSON.stringify(body) }),
      );
      return new Response(answer.body, {
        status: answer.status,
        headers: { 'content-type': answer.headers.get('content-type') ?? 'application/json' },
      });
    },
  )
  .onError(toldError);
