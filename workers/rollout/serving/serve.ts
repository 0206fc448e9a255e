/** Answers a request of a model endpoint. The gateway has checked who asks and how large the body is. */
import { RollmeshError } from '../../../core/errors.ts';
import { kernelEngineOf, type PolicyRef } from '../../../core/policy.ts';
import { deriveId } from '../../../core/random.ts';
import { adapterFile, MAIN_SET, weightsFile } from '../../../core/schema/policy.ts';
import { chatAnswer, completionAnswer, type Heading, tokensAnswer } from '../../../core/serving/answer.ts';
import { apiError } from '../../../core/serving/api-error.ts';
import {
  chatOrder,
  completionOrder,
  modelOf,
  type ServingOrder,
  tokensOrder,
} from '../../../core/serving/order.ts';
import { getPolicy, getVersion } from '../../../store/policies.ts';
import { expectUsable } from '../../../store/versions.ts';
import { failureOf, STATUS_OF_KIND } from '../../shared/failures.ts';
import { log } from '../../shared/log.ts';
import { loadText, manifestOf, type VersionStore } from '../../shared/open-policy.ts';
import type { StageMesh } from '../../shared/stage-mesh.ts';
import { choiceOf, nameOf, prepare, sample } from './sample.ts';
import { CompletionEvents, DONE, errorEvent } from './stream.ts';
import { StreamWriter } from './stream-writer.ts';

/** What each endpoint does with a body, and how it answers. */
const ENDPOINTS = {
  '/v1/chat/completions': { read: chatOrder, prefix: 'chatcmpl' },
  '/v1/completions': { read: completionOrder, prefix: 'cmpl' },
  '/inference/v1/generate': { read: tokensOrder, prefix: 'generate' },
} as const;
export type Endpoint = keyof typeof ENDPOINTS;

export const isEndpoint = (path: string): path is Endpoint => path in ENDPOINTS;

/** An error as OpenAI's clients read it. */
export function errorBody(error: unknown) {
  if (!(error instanceof RollmeshError))
    return {
      status: 503,
      body: apiError(503, 'internal', 'The policy could not be sampled. Try again; the log has the cause.'),
    };
  const status = STATUS_OF_KIND[error.kind];
  return { status, body: apiError(status, error.code, error.message) };
}

/** The exact version that a model's name means now. Throws `missing-version`. */
async function refOf(mesh: VersionStore, order: ServingOrder): Promise<PolicyRef> {
  const { db } = mesh;
  const { name, version: asked, set } = modelOf(order.model);
  const policy = await getPolicy(db, name);
  if (!policy)
    throw new RollmeshError('missing-version', 'model_not_found', `There is no model ${name}.`, {
      next: 'GET /v1/models lists them.',
    });
  const version = asked ?? policy.current;
  expectUsable({ name, version }, await getVersion(db, { name, version }));
  if (set && set !== MAIN_SET) await expectTrained(mesh, { name, version: policy.current }, set);
  const engine = kernelEngineOf(order.engine ?? 'kernels');
  return {
    name,
    version,
    ...(set && set !== MAIN_SET ? { set } : {}),
    ...(order.weights ? { weights: order.weights } : {}),
    ...(engine ? { engine } : {}),
  };
}

/** Throws `missing-version` for a parameter set that the policy's newest version does not have: nothing was trained under that name. */
async function expectTrained(store: VersionStore, newest: PolicyRef, set: string): Promise<void> {
  const { files } = await manifestOf(store, newest);
  if (files[weightsFile(set)] || files[adapterFile(set)]) return;
  throw new RollmeshError(
    'missing-version',
    'model_not_found',
    `${newest.name} has no parameter set ${set} of its own.`,
    { next: 'Leave the set out. A set that no round has trained is version 0 of the policy.' },
  );
}

/** A seed for a request that names none. */
const anySeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0]!;

/** `keep` holds the isolate until the work has ended: others wait for the policy that it uses. */
export async function serve(
  mesh: StageMesh,
  endpoint: Endpoint,
  body: unknown,
  keep: (work: Promise<unknown>) => void,
): Promise<Response> {
  const { read, prefix } = ENDPOINTS[endpoint];
  const order = read(body);
  const ref = await refOf(mesh, order);
  const text = await loadText(mesh, ref);
  const prepared = prepare(order, text);
  const seed = order.seed ?? anySeed();
  const now = mesh.now();
  const heading: Heading = {
    id: `${prefix}-${deriveId(nameOf(ref), seed, now, crypto.randomUUID())}`,
    created: Math.floor(now / 1000),
    model: nameOf(ref),
    fingerprint: `${ref.engine ?? 'onnx'}/${ref.weights ?? 'float32'}`,
    seed,
  };
  const budgetMs = mesh.cpuBudgetMs;
  if (!order.stream) {
    const work = mesh.session.use(ref, (policy) => sample(policy, prepared, seed, budgetMs));
    keep(work);
    const choices = (await work).flatMap((ofPrompt, p) =>
      ofPrompt.map((completion) => choiceOf(prepared, text, p, completion)),
    );
    const { prompts } = prepared;
    if (endpoint === '/v1/chat/completions')
      return Response.json(chatAnswer(heading, prompts[0]!, choices, order));
    const answer = endpoint === '/v1/completions' ? completionAnswer : tokensAnswer;
    return Response.json(answer(heading, prompts, choices, order));
  }
  const events = new CompletionEvents(order, endpoint === '/v1/chat/completions', heading, prepared, text);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = new StreamWriter(writable);
  const work = mesh.session.use(ref, (policy) =>
    sample(policy, prepared, seed, budgetMs, (soFar) => writer.tell(events.grow(soFar))),
  );
  const told = work
    .then((completions) => writer.tell(events.end(completions)))
    .catch((error: unknown) => {
      log('warn', 'serving.failed', failureOf(error));
      return writer.tell(errorEvent(errorBody(error).body) + DONE);
    })
    .finally(() => writer.close());
  keep(told);
  return new Response(readable, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
  });
}
