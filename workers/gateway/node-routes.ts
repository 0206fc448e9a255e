/** Nodes as their operator and everybody sees them: make a token, revoke it, list nodes, who sampled what, and what audits found. */
import { Hono } from 'hono';
import type * as v from 'valibot';
import { makeNodeKeys, tokenSha256 } from '../../core/audit/work-seal.ts';
import { deriveId } from '../../core/random.ts';
import { id, name } from '../../core/schema/sample.ts';
import {
  auditedNodes,
  type NodeShutOut,
  type nodeListing,
  type nodeMade,
  nodeOrder,
  type nodeRevoked,
  type notedNodes,
  type RoundShares,
  type RoundWork,
  shutOutOrder,
} from '../../core/schema/work.ts';
import { getNode, insertNode, listNodes, nodeOfName, noteAudited, revokeNode } from '../store/nodes.ts';
import { getRound } from '../store/rounds.ts';
import { nodeWorkOf, sharesOf } from '../store/work.ts';
import { check, readJsonBody } from './body.ts';
import { learnerOnly } from './guards.ts';
import { HttpError } from './http-error.ts';
import { notFound } from './parameters.ts';
import type { GatewayTypes } from './services.ts';
import { shutNodeOut } from './shut-node-out.ts';

/** Largest list of audited nodes, in bytes. */
const AUDITED_LIMIT = 64 * 1024;

/** For readers: nodes and shares. */
export const nodeReadRoutes = new Hono<GatewayTypes>()
  .get('/nodes', async (c) => {
    const { db, now } = c.var.services;
    return c.json<v.InferOutput<typeof nodeListing>>({ nodes: await listNodes(db, now()) });
  })
  .get('/rounds/:id/shares', async (c) => {
    const { db } = c.var.services;
    const round = check(id, c.req.param('id'), 'round.id');
    if (!(await getRound(db, round))) throw notFound('round', round);
    return c.json<RoundShares>({ shares: await sharesOf(db, round) });
  });

/** With the learner's token: tokens of nodes, and what its audit needs and finds. */
export const nodeRoutes = new Hono<GatewayTypes>()
  .post('/api/nodes', learnerOnly, async (c) => {
    const order = await readJsonBody(c.req.raw, nodeOrder, 4096);
    const { name, exactness = 'exact', reads = null, seesGold = false } = order;
    const { db, now } = c.var.services;
    const node = deriveId('node', name, crypto.randomUUID());
    const { token, publicKey } = await makeNodeKeys(node);
    const of = { id: node, name, exactness, reads, seesGold };
    const row = { ...of, tokenSha256: tokenSha256(token), publicKey, createdAt: now() };
    if (!(await insertNode(db, row)))
      throw new HttpError(409, 'node.exists', `There is a node ${name} already.`, {
        next: 'Choose another name. A token is told once, and cannot be told again.',
      });
    return c.json<v.InferOutput<typeof nodeMade>>({ id: node, name, token }, 201);
  })
  .post('/api/nodes/:name/revoke', learnerOnly, async (c) => {
    const { db, now } = c.var.services;
    const wanted = check(name, c.req.param('name'), 'node.name');
    const node = await nodeOfName(db, wanted);
    if (!node) throw notFound('node', wanted);
    const released = await revokeNode(db, node.id, now());
    return c.json<v.InferOutput<typeof nodeRevoked>>({ id: node.id, name: node.name, released });
  })
  .post('/api/nodes/:id/shut-out', learnerOnly, async (c) => {
    const { services } = c.var;
    const wanted = check(id, c.req.param('id'), 'node.id');
    const { reason } = await readJsonBody(c.req.raw, shutOutOrder, 4096);
    const node = await getNode(services.db, wanted);
    if (!node) throw notFound('node', wanted);
    const redrawn = await shutNodeOut(services, node, reason);
    return c.json<NodeShutOut>({
      id: node.id,
      name: node.name,
      groups: redrawn.reduce((sum, { groups }) => sum + (groups?.length ?? 0), 0),
      rounds: redrawn.map(({ round }) => round),
    });
  })
  .get('/api/rounds/:id/work', learnerOnly, async (c) => {
    const { db } = c.var.services;
    const round = check(id, c.req.param('id'), 'round.id');
    if (!(await getRound(db, round))) throw notFound('round', round);
    return c.json<RoundWork>(await nodeWorkOf(db, round));
  })
  .post('/api/nodes/audited', learnerOnly, async (c) => {
    const audited = await readJsonBody(c.req.raw, auditedNodes, AUDITED_LIMIT);
    const { db, now } = c.var.services;
    return c.json<v.InferOutput<typeof notedNodes>>({ mismatch: await noteAudited(db, audited, now()) });
  });
