/**
 * The routes of nodes: lease sampling requests, keep a lease alive, fetch the files that it needs, return a result, give back. A node's
 * token opens these routes and no others, and shows it what it leased and nothing else.
 */
import type { SQL } from 'drizzle-orm';
import type { Context } from 'hono';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import * as v from 'valibot';
import { completionFault } from '../../core/audit/read-completion.ts';
import type { Completion } from '../../core/policy.ts';
import { hash } from '../../core/schema/numbers.ts';
import { deltasOf, wholeOf } from '../../core/schema/policy.ts';
import { id } from '../../core/schema/sample.ts';
import {
  filesToOpen,
  type heartbeatAnswer,
  isCloseEngine,
  type LeaseAnswer,
  type LeasedFile,
  type LeaseOrder,
  leaseName,
  leaseOrder,
  NODE_ENGINES,
  type SamplingRequest,
  settingsOf,
  type WorkResult,
  weightsHash,
  workResult,
  type workTaken,
} from '../../core/schema/work.ts';
import { completionsSha256, isSealed } from '../../core/work-seal.ts';
import { type Statement, writeAll } from '../../store/database.ts';
import { getHolder, getNode, leaseToNode, type NodeRow, noteGone, noteSeen } from '../../store/nodes.ts';
import { putJsonFirst } from '../../store/objects.ts';
import {
  engineText,
  getWork,
  noteAnswer,
  prolong,
  releaseOf,
  resultKey,
  underLease,
  type WorkRow,
} from '../../store/work.ts';
import { check, readJsonBody } from './body.ts';
import { continueGroup } from './continue-group.ts';
import { fileBody } from './file-body.ts';
import { claimed, limitRate, nodeClaim } from './guards.ts';
import { HttpError } from './http-error.ts';
import { notFound } from './parameters.ts';
import type { GatewayTypes } from './services.ts';
import { accountedWithin } from './usage.ts';

/** Largest result, in bytes: sixteen completions of four thousand tokens with their log-probabilities take less than 3 MB. */
const RESULT_LIMIT = 4 * 1024 * 1024;
const ORDER_LIMIT = 4096;

interface NodeTypes {
  /** `held`: what the node holds under its leases. */
  Variables: GatewayTypes['Variables'] & { node: NodeRow; held: readonly WorkRow[] };
}

/** Whoever guesses a token is limited as readers are; a node is not, since it asks as often as it works. */
async function refuseStranger(c: Context<NodeTypes>): Promise<never> {
  await limitRate('reads')(c as unknown as Context<GatewayTypes>, async () => undefined);
  throw new HttpError(401, 'node.token', 'This needs the token of a node.', {
    expected: 'Authorization: Bearer <token>, as `rollmesh node-token create` printed it',
  });
}

function refuseEnded(row: NodeRow): void {
  if (row.revokedAt !== null)
    throw new HttpError(403, 'node.revoked', `The token of node ${row.name} was revoked.`, {
      next: 'Ask whoever runs the mesh for a new one.',
    });
  if (row.shutOutAt !== null)
    throw new HttpError(403, 'node.shut-out', `Node ${row.name} is shut out: ${row.reason}`, {
      next: 'Its results were not those of the versions that it named. Whoever runs the mesh can make a new token.',
    });
  if (row.verifies)
    throw new HttpError(403, 'node.verifier', `The token of ${row.name} is that of a verifier.`, {
      expected: 'the token of a node: a verifier sees answers of tasks, and samples nothing',
      next: 'Make another one where the mesh is: `npm run rollmesh -- node-token create NAME`.',
    });
}

/** Lets the holder of a node's token pass. */
const nodesOnly = createMiddleware<NodeTypes>(async function nodesOnly(c, next) {
  const claim = nodeClaim(c.req.header('authorization'));
  if (!claim) return refuseStranger(c);
  const { node, held } = await getHolder(c.var.services.db, claim.id);
  const row = claimed(claim, node);
  if (!row) return refuseStranger(c);
  refuseEnded(row);
  c.set('node', row);
  c.set('held', held);
  await next();
});

/** Leases to whom a token belongs: one call of D1 reads the node and leases, on the condition that the token may. */
async function leaseTo(c: Context<NodeTypes>): Promise<Response> {
  const claim = nodeClaim(c.req.header('authorization'));
  if (!claim) return refuseStranger(c);
  const { db, now, settings } = c.var.services;
  const order = await readJsonBody(c.req.raw, leaseOrder, ORDER_LIMIT).catch(async (error: unknown) => {
    // A stranger is told that first.
    const row = claimed(claim, await getNode(db, claim.id));
    if (!row) return refuseStranger(c);
    refuseEnded(row);
    throw error;
  });
  const inexact = order.serves ? 'a server of completions' : order.engines.find(isCloseEngine);
  const lease = crypto.randomUUID().replaceAll('-', '');
  const { leaseMs } = settings;
  const as = (close: boolean) =>
    leaseToNode(
      db,
      { ...claim, exactness: close ? 'close' : 'exact', kind: order.kind, threads: order.threads },
      {
        lease,
        engines: enginesOf(close ? { ...order, weights: [], grammars: false } : order),
        serves: order.serves,
        limit: order.limit,
        until: now() + leaseMs,
      },
      now(),
    );
  let { row, leased } = await as(inexact !== undefined);
  const node = claimed(claim, row);
  if (!node) return refuseStranger(c);
  refuseEnded(node);
  const close = node.exactness === 'close';
  if (inexact !== undefined && !close)
    throw new HttpError(403, 'node.exactness', `The token of node ${node.name} is that of an exact node.`, {
      expected: `the token of a close node for ${inexact}, whose last digits differ`,
      next: 'Make one where the mesh is: `npm run rollmesh -- node-token create NAME --close`.',
    });
  // A close node may compute by an exact engine, too.
  if (close && inexact === undefined) ({ leased } = await as(true));
  return c.json<LeaseAnswer>({
    node: node.id,
    lease: leased.length ? lease : null,
    leaseMs,
    work: leased.map(({ id, request }) => ({ id, request })),
  });
}

export const workRoutes = new Hono<NodeTypes>()
  .post('/lease', leaseTo)
  .use('*', nodesOnly)
  .post('/heartbeat', async (c) => {
    const { lease } = await readJsonBody(c.req.raw, leaseName, ORDER_LIMIT);
    const { db, now, settings } = c.var.services;
    const { leaseMs } = settings;
    const { node } = c.var;
    const requests = await prolong(db, node.id, lease, now(), now() + leaseMs);
    if (!requests) throw expired(lease);
    await noteSeen(db, node, node, now());
    return c.json<v.InferOutput<typeof heartbeatAnswer>>({ leaseMs, requests });
  })
  .post('/release', async (c) => {
    const { lease } = await readJsonBody(c.req.raw, v.partial(leaseName), ORDER_LIMIT);
    const { db } = c.var.services;
    const { id: node } = c.var.node;
    if (lease === undefined) await noteGone(db, node);
    else await writeAll(db, [releaseOf(node, lease)]);
    return c.json({ node });
  })
  .get('/files/:lease/:sha256', async (c) => {
    const lease = check(id, c.req.param('lease'), 'lease.id');
    const sha256 = check(hash, c.req.param('sha256'), 'file.hash');
    const { bucket, now } = c.var.services;
    const held = underLease(c.var.held, lease, now());
    if (!held.length) throw expired(lease);
    for (const { request } of held)
      for (const file of filesToOpen(request))
        for (const { sha256: named, bytes, objects } of partsOf(file)) {
          if (named !== sha256) continue;
          const body = await fileBody(bucket, request.policy.name, objects);
          const headers = {
            'content-type': 'application/octet-stream',
            'content-length': String(bytes),
            'cache-control': 'no-store',
          };
          return new Response(body, { headers });
        }
    throw new HttpError(403, 'file.foreign', 'The lease names no file with this hash.', {
      expected:
        'the hash of config.json, of the weights, of a delta of them or of the adapter of a leased request',
    });
  })
  .post('/result', async (c) => {
    const result = await readJsonBody(c.req.raw, workResult, RESULT_LIMIT);
    const { services, node } = c.var;
    const found =
      c.var.held.find(({ id }) => id === result.work) ?? (await getWork(services.db, result.work));
    const row = leasedBy(node, result, found, services.now());
    const { taken, whole } = await accountedWithin(row.round, (used) =>
      take(services, node, row, result, used),
    );
    if (!taken) throw expired(result.lease);
    if (whole) await continueGroup(services, row);
    return c.json<v.InferOutput<typeof workTaken>>({ work: row.id });
  });

/** What a node may fetch of a file by its hash: the file, or the anchor and the deltas that it is made of. */
const partsOf = (file: LeasedFile) => {
  const { sha256, bytes } = file.replay?.anchor ?? file;
  return [
    { sha256, bytes, objects: wholeOf(file.file, file, file.version) },
    ...deltasOf(file.file, file, file.version).map((delta) => ({ ...delta, objects: [delta] })),
  ];
};

/** What a node may lease, as `engineText` has it. A close node gets no grammar, since scores are those of a distribution without one. */
const enginesOf = ({
  engines,
  weights,
  grammars = false,
}: Pick<LeaseOrder, 'engines' | 'weights' | 'grammars'>): string[] =>
  (engines.some(isCloseEngine) ? NODE_ENGINES : engines).flatMap((engine) =>
    [undefined, ...weights].flatMap((form) =>
      (grammars ? [false, true] : [false]).map((grammar) =>
        engineText(engine === 'onnx' ? undefined : engine, form, grammar),
      ),
    ),
  );

const expired = (lease: string) =>
  new HttpError(409, 'lease.expired', `The lease ${lease} holds nothing any more.`, {
    next: 'What it held was taken back, since no heartbeat came in time. Lease again.',
  });

/** The request that a result answers. Refuses results for what the node does not hold: of another's lease, late, replayed, or of old weights. */
function leasedBy(
  node: NodeRow,
  { lease, weights, work }: WorkResult,
  row: WorkRow | undefined,
  now: number,
): WorkRow {
  if (!row) throw notFound('work', work);
  if (row.state === 'done' && row.node === node.id && row.lease === lease) throw answered(work);
  if (row.state === 'closed')
    throw new HttpError(409, 'work.closed', `The request ${row.id} is not needed any more.`, {
      next: 'Nothing to do: its group was completed without it.',
    });
  const held =
    row.state === 'leased' && row.lease === lease && row.leasedUntil !== null && row.leasedUntil >= now;
  if (held && row.node === node.id) return checkWeights(row, weights);
  if (row.lease === lease && row.node !== node.id)
    throw new HttpError(403, 'lease.foreign', `The lease ${lease} is another node's.`, {
      expected: 'a lease that was given to this token',
    });
  throw expired(lease);
}

const answered = (work: string) =>
  new HttpError(409, 'work.answered', `The request ${work} was answered under this lease before.`, {
    next: 'Nothing to do: the first answer counts.',
  });

function checkWeights(row: WorkRow, weights: string): WorkRow {
  const { policy } = row.request;
  const wanted = weightsHash(row.request);
  if (weights === wanted) return row;
  throw new HttpError(
    422,
    'result.weights',
    `The result was computed with other weights than those of ${policy.name}@${policy.version}.`,
    {
      expected: `weights with sha256 ${wanted}`,
      next: 'Fetch the file that the lease names.',
    },
  );
}

/** Checks a result and stores its completions. What was stored first under a lease is the answer: nothing is written over it. */
async function take(
  { db, bucket, now }: GatewayTypes['Variables']['services'],
  node: NodeRow,
  row: WorkRow,
  { work, lease, weights, completions, seal }: WorkResult,
  used: (held: SQL) => readonly Statement[],
) {
  checkCompletions(row.request, completions);
  const flat = completions.flat();
  const sha256 = completionsSha256(flat);
  if (!(await isSealed(node.publicKey, seal, { work, lease, node: node.id, weights, sha256 })))
    throw new HttpError(422, 'result.seal', 'The seal is not that of this node over this result.', {
      expected:
        'an Ed25519 signature with the key of the token, over request, lease, node, weights and completions',
    });
  if (!(await putJsonFirst(bucket, resultKey({ round: row.round, id: work, lease }), flat)))
    throw answered(work);
  const tokens = flat.reduce((sum, { ids }) => sum + ids.length, 0);
  return noteAnswer(
    db,
    { id: work, node: node.id, lease, sha256, seal, samples: flat.length, tokens },
    row,
    now(),
    used,
  );
}

/** Refuses completions that no policy could have sampled for the request; whether this version would have is what audits find out. */
function checkCompletions(request: SamplingRequest, completions: readonly (readonly Completion[])[]) {
  const { prompts, vocabSize } = request;
  const settings = settingsOf(request);
  const wrong = (what: string, expected: string) =>
    new HttpError(422, 'result.completions', what, { expected });
  if (completions.length !== prompts.length)
    throw wrong(`The result has completions of ${completions.length} prompts.`, `${prompts.length}`);
  for (const [p, { sampleIds }] of prompts.entries()) {
    const of = completions[p]!;
    if (of.length !== sampleIds.length)
      throw wrong(`Prompt ${p} has ${of.length} completions.`, `${sampleIds.length}`);
    for (const [s, completion] of of.entries()) {
      const at = `Completion ${s} of prompt ${p}`;
      const { ids, logprobs } = completion;
      const foreign = ids.find((token) => token >= vocabSize);
      if (foreign !== undefined)
        throw wrong(`${at} has the token ${foreign}.`, `token ids below ${vocabSize}`);
      if (logprobs.length !== ids.length)
        throw wrong(
          `${at} has ${ids.length} tokens and ${logprobs.length} log-probabilities.`,
          'one for each token',
        );
      const fault = completionFault(completion, settings);
      if (fault)
        throw wrong(
          `${at}: ${fault.message}`,
          'what this version can sample under the settings of the request',
        );
    }
  }
}
