/**
 * The Worker that `npx rollmesh deploy --check` puts on an account for a minute: the platform's checks, and a few tokens of a policy.
 * PUT /files/NAME takes a file of the policy, POST /sample/ENGINE draws from it, DELETE / empties the bucket, so that it can be deleted.
 */
import { ENGINES, kernelEngineOf } from '../../core/policy/policy.ts';
import { openVersion } from '../../infer/open-version.ts';
import { workerdEngines } from '../../infer/workerd-engines.ts';
import type { ConformanceEnv } from './checks/check.ts';
import { TRIAL, TRIAL_FILES } from './trial-sample.ts';
import { answerCheck, isAllowed, refused } from './worker.ts';

const PREFIX = 'files/';

async function sample({ BUCKET }: ConformanceEnv, engine: (typeof ENGINES)[number]): Promise<Response> {
  const began = Date.now();
  const read = async (name: string) => {
    const object = await BUCKET.get(`${PREFIX}${name}`);
    if (!object) throw new Error(`${name} is not in the bucket`);
    return new Uint8Array(await object.arrayBuffer());
  };
  const files = Object.fromEntries(
    await Promise.all(TRIAL_FILES.map(async (name) => [name, await read(name)] as const)),
  );
  const policy = await openVersion(
    workerdEngines,
    { ...TRIAL.policy, engine: kernelEngineOf(engine) },
    files,
  );
  const [samples] = await policy.generate([TRIAL.prompt], TRIAL.settings);
  // The clock of a Worker stands still until something is waited for.
  await BUCKET.head(`${PREFIX}config.json`);
  return Response.json({ ids: samples![0]!.ids, ms: Date.now() - began });
}

async function empty({ BUCKET }: ConformanceEnv): Promise<Response> {
  for (;;) {
    const { objects } = await BUCKET.list({ limit: 1000 });
    if (objects.length === 0) return Response.json({ empty: true });
    await BUCKET.delete(objects.map(({ key }) => key));
  }
}

export default {
  async fetch(request, env, context): Promise<Response> {
    if (!isAllowed(request, env)) return refused();
    const path = new URL(request.url).pathname.slice(1);
    if (request.method === 'PUT' && path.startsWith(PREFIX)) {
      await env.BUCKET.put(path, await request.arrayBuffer());
      return Response.json({ stored: path });
    }
    if (request.method === 'DELETE' && path === '') return empty(env);
    const engine = ENGINES.find((one) => path === `sample/${one}`);
    if (request.method === 'POST' && engine) return sample(env, engine);
    return answerCheck(request, env, context);
  },
} satisfies ExportedHandler<ConformanceEnv>;
