/** The routes of Tinker's training API over a service, as a Hono app. Who may call is decided before (serve.ts). */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { decodeForwardBackward } from '../../learner/tinker/messages.ts';
import {
  type Address,
  addressOf,
  createModel,
  createSampler,
  createSession,
  loadWeights,
  ofModel,
  ofSession,
  optimStep,
  PROTOBUF,
  parseAddress,
  retrieveFuture,
  SDK_VERSION,
  sample,
  saveWeights,
  weightsInfo,
} from '../../learner/tinker/wire.ts';
import type { TinkerService } from './service.ts';

/** The longest body. The client library cuts its requests at 5 MB. */
const MOST_BYTES = 64 * 2 ** 20;
/** How long a question for a result is held back. The client library waits 45 s for an answer. */
const WAIT_MS = 20_000;
const ARCHIVE_MS = 15 * 60_000;

export interface RouteOptions {
  /** The key that callers must send; absent = none is asked for. */
  readonly apiKey?: string | undefined;
  readonly waitMs?: number;
}

const isKey = (given: string | undefined, key: string): boolean => {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
};

const STATUS = {
  'wrong-input': 400,
  'missing-version': 404,
  'give-up': 400,
  'over-budget': 429,
  retry: 503,
} as const;

/** A body of JSON. What a page of a site may send without asking, text, is none. @throws RollmeshError `tinker.request` */
async function bodyOf<S extends v.GenericSchema>(c: Context, schema: S): Promise<v.InferOutput<S>> {
  if (!c.req.header('content-type')?.startsWith('application/json'))
    throw wrongInput('tinker.request', 'The body is not JSON.', {
      expected: 'content-type: application/json',
    });
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), await c.req.text());
  if (parsed.success) return parsed.output as v.InferOutput<S>;
  const [issue] = parsed.issues;
  throw wrongInput(
    'tinker.request',
    `The body is wrong at ${v.getDotPath(issue) ?? 'its root'}: ${issue.message}.`,
  );
}

export function tinkerRoutes(service: TinkerService, { apiKey, waitMs = WAIT_MS }: RouteOptions = {}): Hono {
  const app = new Hono();
  const archives = new Map<string, { readonly at: Address; readonly until: number }>();

  app.onError((error, c) => {
    const known = error instanceof RollmeshError;
    return c.json(
      { detail: error.message, ...(known ? { code: error.code } : {}) },
      known ? STATUS[error.kind] : 500,
    );
  });
  app.notFound((c) => c.json({ detail: `This server has no ${c.req.method} ${c.req.path}.` }, 404));

  /** An archive is fetched by its address alone, which is told to who has the key. */
  app.get('/archives/:token', async (c) => {
    const archive = archives.get(c.req.param('token'));
    if (!archive || archive.until < Date.now()) return c.json({ detail: 'The address has expired.' }, 403);
    return c.body(new Uint8Array(await service.checkpoints.archive(archive.at)), 200, {
      'content-type': 'application/x-tar',
    });
  });

  const api = app.basePath('/api/v1');
  api.use(async (c, next) => {
    if (apiKey === undefined || isKey(c.req.header('x-api-key'), apiKey)) return next();
    return c.json({ detail: 'The key is missing or wrong.' }, 401);
  });
  api.use(
    bodyLimit({
      maxSize: MOST_BYTES,
      onError: (c) => c.json({ detail: `The body has more than ${MOST_BYTES} bytes.` }, 413),
    }),
  );

  api.get('/healthz', (c) => c.json({ status: 'ok' }));
  api.get('/get_server_capabilities', (c) => c.json({ supported_models: service.supported() }));
  // Flags that the client library asks for: the defaults of its release.
  api.post('/client/config', (c) => c.json({}));
  api.post('/client/dynamic_config', (c) => c.json({}));
  api.post('/telemetry', (c) => c.json({ status: 'accepted' }));

  api.post('/create_session', async (c) => {
    await bodyOf(c, createSession);
    const info = `rollmesh speaks the API of release ${SDK_VERSION}. Adapters are on attention and MLP; train_unembed adds nothing.`;
    return c.json({ type: 'create_session', session_id: service.createSession(), info_message: info });
  });
  api.post('/session_heartbeat', async (c) => {
    service.session((await bodyOf(c, ofSession)).session_id);
    return c.json({ type: 'session_heartbeat' });
  });
  api.get('/sessions/:id', (c) => {
    const { models, samplers } = service.session(c.req.param('id'));
    return c.json({ training_run_ids: [...models], sampler_ids: [...samplers] });
  });

  api.post('/create_model', async (c) => {
    const { session_id, model_seq_id, base_model, lora_config } = await bodyOf(c, createModel);
    const { rank, seed, train_mlp, train_attn } = lora_config;
    if (!train_mlp || !train_attn)
      throw wrongInput(
        'tinker.request',
        `The adapter is asked for with train_attn ${train_attn} and train_mlp ${train_mlp}.`,
        {
          expected: 'adapters on both',
        },
      );
    const asked = { session: session_id, seq: model_seq_id, base: base_model, rank, seed: seed ?? undefined };
    return c.json({ request_id: service.createModel(asked) });
  });
  api.post('/get_info', async (c) => {
    const { model_id } = await bodyOf(c, ofModel);
    const { base, rank } = service.model(model_id);
    const model_data = {
      arch: service.architecture(base),
      model_name: base,
      tokenizer_id: service.folder(base),
    };
    return c.json({
      type: 'get_info',
      model_data,
      model_id,
      is_lora: true,
      lora_rank: rank,
      model_name: base,
    });
  });
  api.post('/unload_model', async (c) => {
    const { model_id } = await bodyOf(c, ofModel);
    return c.json({ request_id: service.unload(model_id), model_id });
  });

  api.post('/forward_backward', async (c) => {
    if (!c.req.header('content-type')?.startsWith(PROTOBUF))
      return c.json(
        {
          detail: `forward_backward takes ${PROTOBUF}, as the client library of release ${SDK_VERSION} and later sends it.`,
        },
        415,
      );
    if (c.req.header('content-encoding')) return c.json({ detail: 'Bodies are read uncompressed.' }, 415);
    const message = new Uint8Array(await c.req.arrayBuffer());
    const request = decodeForwardBackward(message);
    return c.json({ request_id: service.forwardBackward(request, message), model_id: request.modelId });
  });
  api.post('/optim_step', async (c) => {
    const { model_id, seq_id, adam_params } = await bodyOf(c, optimStep);
    return c.json({ request_id: service.optimStep(model_id, seq_id, adam_params), model_id });
  });
  api.post('/save_weights', async (c) => {
    const { model_id, seq_id, path, overwrite } = await bodyOf(c, saveWeights);
    return c.json({
      request_id: service.saveWeights(model_id, seq_id, path ?? `step-${seq_id}`, overwrite),
      model_id,
    });
  });
  api.post('/save_weights_for_sampler', async (c) => {
    const { model_id, seq_id, path, sampling_session_seq_id } = await bodyOf(c, saveWeights);
    const id = service.saveForSampler(
      model_id,
      seq_id,
      path ?? undefined,
      sampling_session_seq_id ?? undefined,
    );
    return c.json({ request_id: id, model_id });
  });
  api.post('/load_weights', async (c) => {
    const { model_id, seq_id, path, optimizer } = await bodyOf(c, loadWeights);
    return c.json({ request_id: service.loadWeights(model_id, seq_id, path, optimizer), model_id });
  });

  api.post('/retrieve_future', async (c) => {
    const { request_id } = await bodyOf(c, retrieveFuture);
    const result = await service.result(request_id, waitMs);
    if (result === undefined)
      return c.json(
        { detail: `This server knows no request ${request_id}: it was started again, or the result is old.` },
        410,
      );
    if (result === null) return c.json({ type: 'try_again', request_id, queue_state: 'active' });
    if ('error' in result || 'json' in result) return c.json('json' in result ? result.json : result);
    if (!c.req.header('accept')?.includes(PROTOBUF))
      return c.json({ detail: `The result is a message: ask with accept: ${PROTOBUF}.` }, 406);
    return c.body(new Uint8Array(result.message), 200, { 'content-type': PROTOBUF });
  });

  api.post('/create_sampling_session', async (c) => {
    const { session_id, sampling_session_seq_id, base_model, model_path } = await bodyOf(c, createSampler);
    const id = await service.createSampler(
      session_id,
      sampling_session_seq_id,
      base_model ?? undefined,
      model_path ?? undefined,
    );
    return c.json({ type: 'create_sampling_session', sampling_session_id: id });
  });
  api.get('/samplers/:id', (c) => {
    const sampler_id = c.req.param('id');
    const { base, at } = service.sampler(sampler_id);
    return c.json({ sampler_id, base_model: base, ...(at ? { model_path: addressOf(at) } : {}) });
  });
  api.post('/asample', async (c) => c.json({ request_id: await service.sample(await bodyOf(c, sample)) }));

  api.post('/weights_info', async (c) => {
    const { tinker_path } = await bodyOf(c, weightsInfo);
    const at = parseAddress(tinker_path);
    if (!at) throw wrongInput('tinker.request', `${tinker_path} is no address of a checkpoint.`);
    const { base, rank } = await service.checkpoints.about(at);
    return c.json({
      base_model: base,
      is_lora: true,
      lora_rank: rank,
      train_unembed: false,
      train_mlp: true,
      train_attn: true,
    });
  });
  const addressed = ({ run, kind = 'weights', name = 'any' }: Record<string, string>): Address => {
    const text = `tinker://${run}/${kind}/${name}`;
    const at = parseAddress(text);
    if (at) return at;
    throw wrongInput('tinker.request', `${text} is no address of a checkpoint.`);
  };
  api.get('/training_runs/:run/checkpoints', async (c) => {
    const checkpoints = (await service.checkpoints.list(addressed(c.req.param()).run)).map(
      ({ time, bytes, ...at }) => ({
        checkpoint_id: `${at.kind}/${at.name}`,
        checkpoint_type: at.kind === 'weights' ? 'training' : 'sampler',
        time,
        tinker_path: addressOf(at),
        size_bytes: bytes,
      }),
    );
    return c.json({ checkpoints });
  });
  api.get('/training_runs/:run/checkpoints/:kind/:name/archive', async (c) => {
    const at = addressed(c.req.param());
    await service.checkpoints.about(at);
    for (const [token, { until }] of archives) if (until < Date.now()) archives.delete(token);
    const token = randomUUID();
    const until = Date.now() + ARCHIVE_MS;
    archives.set(token, { at, until });
    const { origin } = new URL(c.req.url);
    return c.body(null, 302, {
      location: `${origin}/archives/${token}`,
      expires: new Date(until).toUTCString(),
    });
  });
  api.delete('/training_runs/:run/checkpoints/:kind/:name', async (c) => {
    await service.checkpoints.remove(addressed(c.req.param()));
    return c.body(null, 204);
  });
  return app;
}
