/** Answers a request of a model endpoint. The gateway has checked who asks and how large the body is. */
import { RollmeshError } from '../../../core/errors.ts';
import { kernelEngineOf, type PolicyRef } from '../../../core/policy/policy.ts';
import { deriveId } from '../../../core/random.ts';
import type { PolicyText } from '../../../core/renderer/policy-text.ts';
import { adapterFile, MAIN_SET, weightsFile } from '../../../core/schema/policy.ts';
import type { Heading } from '../../../core/serving/answer.ts';
import { withImageTexts } from '../../../core/serving/image-parts.ts';
import { modelOf, nameOf, type ServingOrder } from '../../../core/serving/order.ts';
import { manifestOf, type VersionStore } from '../../shared/committed.ts';
import { loadText } from '../../shared/open-policy.ts';
import type { StageMesh } from '../../shared/stage-mesh.ts';
import { getPolicy, getVersion } from '../../store/policies.ts';
import { expectUsable } from '../../store/versions.ts';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';
import { respond } from './respond.ts';
import { prepare, sample, scorePrompts } from './sample.ts';

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

/** What an answer of this version says of itself. `id`: told from all others by it. */
export const headingOf = (
  endpoint: Endpoint,
  ref: PolicyRef,
  id: string,
  seed: number | null,
  now: number,
): Heading => ({
  id: `${ENDPOINTS[endpoint].prefix}-${id}`,
  created: Math.floor(now / 1000),
  model: nameOf(ref),
  fingerprint: `${ref.engine ?? 'onnx'}/${ref.weights ?? 'float32'}`,
  seed,
});

/** A seed for a request that names none. */
const anySeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0]!;

/** `keep` holds the isolate until the work has ended: others wait for the policy that it uses. */
export async function serve(
  mesh: StageMesh,
  endpoint: Endpoint,
  body: unknown,
  keep: (work: Promise<unknown>) => void,
): Promise<Response> {
  const order = ENDPOINTS[endpoint].read(await withImageTexts(body));
  const ref = await refOf(mesh, order);
  const own = await loadText(mesh, ref);
  const text: PolicyText = { ...own, contextLength: own.positions };
  const prepared = prepare(order, text);
  const seed = order.seed ?? anySeed();
  const now = mesh.now();
  const id = deriveId(nameOf(ref), seed, now, crypto.randomUUID());
  const heading = headingOf(endpoint, ref, id, seed, now);
  const { echo, logprobs, alternatives, promptLogprobs } = order;
  const isTold = promptLogprobs !== undefined || (echo && logprobs);
  const most = Math.max(promptLogprobs ?? 0, echo ? alternatives : 0);
  return respond(
    { endpoint, order, heading, prepared, text },
    (soFar) => mesh.session.use(ref, (policy) => sample(policy, prepared, seed, mesh.cpuBudgetMs, soFar)),
    keep,
    isTold
      ? () => mesh.session.use(ref, (policy) => scorePrompts(policy, prepared, most, mesh.cpuBudgetMs))
      : undefined,
  );
}
