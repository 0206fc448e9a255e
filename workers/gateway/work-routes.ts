/**
 * The routes of nodes: lease sampling requests, keep a lease alive, fetch the files that it needs, return a result, give back. A node's
 * token opens these routes and no others, and shows it what it leased and nothing else.
 */
import type { Context } from 'hono';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import * as v from 'valibot';
import { completionFault } from '../../core/audit/read-completion.ts';
import { completionsSha256, isSealed } from '../../core/audit/work-seal.ts';
import { imagesShown } from '../../core/images/shown.ts';
import type { Completion } from '../../core/policy/policy.ts';
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
  RESULT_BYTES,
  type SamplingRequest,
  settingsOf,
  type WorkResult,
  type WorkResults,
  type WorkResultsTaken,
  weightsHash,
  workResult,
  workResults,
  type workTaken,
} from '../../core/schema/work.ts';
import { writeAll } from '../store/database.ts';
import { getHolder, getNode, leaseToNode, type NodeRow, noteGone, noteSeen } from '../store/nodes.ts';
import { putJsonFirst } from '../store/objects.ts';
import { readTasks } from '../store/stored-tasks.ts';
import {
  type Answer,
  engineText,
  getWork,
  noteAnswers,
  prolong,
  releaseOf,
  resultKey,
  underLease,
  type WorkRow,
} from '../store/work.ts';
import { check, readJsonBody } from './body.ts';
import { continueGroups } from './continue-groups.ts';
import { fileBody } from './file-body.ts';
import { claimed, countRequest, type NodeClaim, nodeClaim } from './guards.ts';
import { errorResponse, HttpError } from './http-error.ts';
import { type HeldWork, KeptLeases } from './kept-leases.ts';
import { notFound } from './parameters.ts';
import type { GatewayTypes } from './services.ts';
import { shutNodeOut } from './shut-node-out.ts';
import { accountedWithin } from './usage.ts';

const ORDER_LIMIT = 4096;

interface NodeTypes {
  /** `held`: what the node holds under its leases; undefined where it was not read, since the node is known to this isolate. */
  Variables: GatewayTypes['Variables'] & { node: NodeRow; held: readonly WorkRow[] | undefined };
}

const kept = new KeptLeases();

/** Whoever guesses a token is limited; a node is not, since it asks as often as it works. */
async function refuseStranger(c: Context<NodeTypes>): Promise<never> {
  await countRequest(c as unknown as Context<GatewayTypes>, 'strangers');
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
  if (row.reads !== null)
    throw new HttpError(403, 'node.reads', `The token of ${row.name} is that of a ${row.reads}.`, {
      expected: 'the token of a node: this one reads, and samples nothing',
      next: 'Make another one where the mesh is: `npx rollmesh node-token create NAME`.',
    });
}

/** The row, if the claim is right and its node may still do something. */
async function expectNode(
  c: Context<NodeTypes>,
  claim: NodeClaim,
  row: NodeRow | undefined,
): Promise<NodeRow> {
  const node = claimed(claim, row);
  if (!node) return refuseStranger(c);
  refuseEnded(node);
  return node;
}

/** The node of a token, and what it holds under its leases, as D1 has both now. */
async function readHolder(c: Context<NodeTypes>) {
  const claim = nodeClaim(c.req.header('authorization'));
  if (!claim) return refuseStranger(c);
  const { node, held } = await getHolder(c.var.services.db, claim.id);
  return { node: await expectNode(c, claim, node), held };
}

/** Lets the holder of a node's token pass. */
const nodesOnly = createMiddleware<NodeTypes>(async function nodesOnly(c, next) {
  const claim = nodeClaim(c.req.header('authorization'));
  if (!claim) return refuseStranger(c);
  c.set('node', await expectNode(c, claim, await getNode(c.var.services.db, claim.id)));
  await next();
});

/**
 * The same with what the node holds. For results a node that this isolate leased to is known, and nothing is read: the statement that notes them
 * takes nothing from a node whose right has ended.
 */
const holdersOnly = createMiddleware<NodeTypes>(async function holdersOnly(c, next) {
  const claim = nodeClaim(c.req.header('authorization'));
  const known = claim && c.req.method === 'POST' ? kept.nodeOf(claim) : undefined;
  const { node, held } = known ? { node: known, held: undefined } : await readHolder(c);
  c.set('node', node);
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
    await expectNode(c, claim, await getNode(db, claim.id));
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
        least: order.least,
        until: now() + leaseMs,
      },
      now(),
    );
  let { row, leased, soon } = await as(inexact !== undefined);
  const node = await expectNode(c, claim, row);
  const close = node.exactness === 'close';
  if (inexact !== undefined && !close)
    throw new HttpError(403, 'node.exactness', `The token of node ${node.name} is that of an exact node.`, {
      expected: `the token of a close node for ${inexact}, whose last digits differ`,
      next: 'Make one where the mesh is: `npx rollmesh node-token create NAME --close`.',
    });
  // A close node may compute by an exact engine, too.
  if (close && inexact === undefined) ({ leased, soon } = await as(true));
  if (leased.length) kept.keep(node, lease, leased);
  return c.json<LeaseAnswer>({
    node: node.id,
    lease: leased.length ? lease : null,
    leaseMs,
    work: leased.map(({ id, request }) => ({ id, request })),
    ...(soon ? { soon } : {}),
  });
}

export const workRoutes = new Hono<NodeTypes>()
  .post('/lease', leaseTo)
  .post('/result', holdersOnly, async (c) => {
    const { lease, ...result } = await readJsonBody(c.req.raw, workResult, RESULT_BYTES);
    const [outcome] = await takeResults(c, { lease, results: [result] });
    if (outcome!.error) throw outcome!.error;
    return c.json<v.InferOutput<typeof workTaken>>({ work: result.work });
  })
  .post('/results', holdersOnly, async (c) => {
    const outcomes = await takeResults(c, await readJsonBody(c.req.raw, workResults, RESULT_BYTES));
    return c.json<WorkResultsTaken>({
      taken: outcomes.flatMap(({ work, error }) => (error ? [] : [work])),
      refused: outcomes.flatMap(({ work, error }) => {
        if (!error) return [];
        const { status, body } = errorResponse(error);
        return [{ work, status, ...body }];
      }),
    });
  })
  .get('/files/:lease/:sha256', holdersOnly, async (c) => {
    const lease = check(id, c.req.param('lease'), 'lease.id');
    const sha256 = check(hash, c.req.param('sha256'), 'file.hash');
    const { bucket, now } = c.var.services;
    const held = underLease(c.var.held!, lease, now());
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
    const shown = held.flatMap(({ request: { prompts } }) => prompts.map(({ ids }) => ids));
    if (imagesShown(shown).includes(sha256))
      return new Response(await readTasks(bucket, sha256), {
        headers: { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' },
      });
    throw new HttpError(403, 'file.foreign', 'The lease names no file with this hash.', {
      expected:
        'the hash of config.json, of the weights, of a delta of them, of the adapter or of an image of a leased request',
    });
  })
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
  images = false,
}: Pick<LeaseOrder, 'engines' | 'weights' | 'grammars' | 'images'>): string[] => {
  const either = (knows: boolean) => (knows ? [false, true] : [false]);
  return (engines.some(isCloseEngine) ? NODE_ENGINES : engines).flatMap((engine) =>
    [undefined, ...weights].flatMap((form) =>
      either(grammars).flatMap((grammar) =>
        either(images).map((image) =>
          engineText(engine === 'onnx' ? undefined : engine, form, grammar, image),
        ),
      ),
    ),
  );
};

const expired = (lease: string) =>
  new HttpError(409, 'lease.expired', `The lease ${lease} holds nothing any more.`, {
    next: 'What it held was taken back, since no heartbeat came in time. Lease again.',
  });

type Result = WorkResults['results'][number];

/** What became of a result; no error = it was taken. */
interface Outcome {
  readonly work: string;
  readonly error?: HttpError;
}

/** A result that was found right, and stored. */
interface Checked {
  readonly result: Result;
  readonly round: string;
  readonly answer: Answer;
}

/** Checks, stores and notes results of a lease, each for itself. */
async function takeResults(
  c: Context<NodeTypes>,
  { lease, results }: WorkResults,
): Promise<readonly Outcome[]> {
  const { services, node } = c.var;
  let { held } = c.var;
  const { db, now } = services;
  const known = held ? undefined : kept.heldBy(node, lease);
  const heldNow = async () => (held ??= (await readHolder(c)).held);
  /** Throws why D1 says that the node may not answer this request; returns the request where it may. */
  const asStored = async ({ work, weights }: Result): Promise<HeldWork> => {
    const rows = await heldNow();
    return leasedBy(
      node,
      { work, lease, weights },
      rows.find(({ id }) => id === work) ?? (await getWork(db, work)),
      now(),
    );
  };
  const refused = new Map<string, HttpError>();
  const right = await Promise.all(
    results.map(async (result): Promise<Checked[]> => {
      try {
        const row = known?.get(result.work) ?? (await asStored(result));
        const answer = await checkedAnswer(services, node, lease, row, result);
        return [{ result, round: row.round, answer }];
      } catch (error) {
        refused.set(result.work, refusalOf(error));
        return [];
      }
    }),
  );
  const checked = right.flat();
  for (const round of new Set(checked.map((one) => one.round))) {
    const own = checked.filter((one) => one.round === round);
    const { taken, whole } = await accountedWithin(round, (used) =>
      noteAnswers(
        db,
        { round, node: node.id, lease },
        own.map(({ answer }) => answer),
        now(),
        used,
      ),
    );
    await continueGroups(services, whole);
    for (const { result } of own) {
      if (taken.has(result.work)) continue;
      held = undefined;
      refused.set(result.work, await asStored(result).then(() => expired(lease), refusalOf));
    }
  }
  if (known?.size && known.size === results.length) kept.drop(lease);
  return results.map(({ work }) => {
    const error = refused.get(work);
    return error ? { work, error } : { work };
  });
}

/** The error, if it refuses something; any other is thrown. */
function refusalOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  throw error;
}

/** The request that a result answers. Refuses results for what the node does not hold: of another's lease, late, replayed, or of old weights. */
function leasedBy(
  node: NodeRow,
  { lease, weights, work }: Pick<WorkResult, 'lease' | 'weights' | 'work'>,
  row: WorkRow | undefined,
  now: number,
): WorkRow {
  if (!row) throw notFound('work', work);
  if (row.state === 'done' && row.node === node.id && row.lease === lease) throw answered(work);
  if (row.state === 'closed')
    throw new HttpError(409, 'work.closed', `The request ${row.id} is not needed any more.`, {
      next: 'Nothing to do: its group is sampled without it.',
    });
  const held =
    row.state === 'leased' && row.lease === lease && row.leasedUntil !== null && row.leasedUntil >= now;
  if (held && row.node === node.id) {
    checkWeights(row.request, weights);
    return row;
  }
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

function checkWeights(request: SamplingRequest, weights: string): void {
  const { policy } = request;
  const wanted = weightsHash(request);
  if (weights === wanted) return;
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

/**
 * Checks a result and stores its completions. What was stored first under a lease is the answer: nothing is written over it. A node that has sealed
 * completions that no policy could have sampled is shut out, as one is that an audit finds.
 */
async function checkedAnswer(
  services: GatewayTypes['Variables']['services'],
  node: NodeRow,
  lease: string,
  { id, round, request }: HeldWork,
  { weights, completions, seal }: Result,
): Promise<Answer> {
  checkWeights(request, weights);
  const flat = completions.flat();
  const sha256 = await completionsSha256(flat);
  if (!(await isSealed(node.publicKey, seal, { work: id, lease, node: node.id, weights, sha256 })))
    throw new HttpError(422, 'result.seal', 'The seal is not that of this node over this result.', {
      expected:
        'an Ed25519 signature with the key of the token, over request, lease, node, weights and completions',
    });
  const fault = impossibleIn(request, completions);
  if (fault) {
    await shutNodeOut(services, node, `${fault.code}: ${fault.message} Request ${id} of round ${round}.`);
    throw fault;
  }
  if (!(await putJsonFirst(services.bucket, resultKey({ round, id, lease }), flat))) throw answered(id);
  const tokens = flat.reduce((sum, { ids }) => sum + ids.length, 0);
  return { id, sha256, seal, samples: flat.length, tokens };
}

/** What no policy could have sampled for the request, as it is refused; null = nothing. Whether this version would have is what audits find out. */
function impossibleIn(
  request: SamplingRequest,
  completions: readonly (readonly Completion[])[],
): HttpError | null {
  const { prompts, vocabSize } = request;
  const settings = settingsOf(request);
  const wrong = (what: string, expected: string) =>
    new HttpError(422, 'result.completions', what, { expected });
  if (completions.length !== prompts.length)
    return wrong(`The result has completions of ${completions.length} prompts.`, `${prompts.length}`);
  for (const [p, { sampleIds }] of prompts.entries()) {
    const of = completions[p]!;
    if (of.length !== sampleIds.length)
      return wrong(`Prompt ${p} has ${of.length} completions.`, `${sampleIds.length}`);
    for (const [s, completion] of of.entries()) {
      const at = `Completion ${s} of prompt ${p}`;
      const { ids, logprobs } = completion;
      const foreign = ids.find((token) => token >= vocabSize);
      if (foreign !== undefined)
        return wrong(`${at} has the token ${foreign}.`, `token ids below ${vocabSize}`);
      if (logprobs.length !== ids.length)
        return wrong(
          `${at} has ${ids.length} tokens and ${logprobs.length} log-probabilities.`,
          'one for each token',
        );
      const fault = completionFault(completion, settings);
      if (fault)
        return wrong(
          `${at}: ${fault.message}`,
          'what this version can sample under the settings of the request',
        );
    }
  }
  return null;
}
