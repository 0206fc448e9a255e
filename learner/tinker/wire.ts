/**
 * The JSON half of Tinker's training API, by its public types (thinking-machines-lab/tinker, src/tinker/types). Two kinds of bodies are protobuf instead
 * (messages.ts): what `forward_backward` is sent, and what it and a sample answer.
 */
import * as v from 'valibot';

/** The release of Tinker's client library whose requests and answers these are. Since it, `forward_backward` is protobuf both ways. */
export const SDK_VERSION = '0.25.0';

export const PROTOBUF = 'application/x-protobuf';

/** The losses that both ends here know. Each is a sum over tokens. */
export const LOSSES = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'] as const;
export type LossName = (typeof LOSSES)[number];

/** Bounds of the ratio where a request names none: of PPO, and of CISPO, which leaves the lower side open. */
export const CLIP_BOUNDS: Readonly<Record<'ppo' | 'cispo', readonly [low: number, high: number]>> = {
  ppo: [0.8, 1.2],
  cispo: [0, 4],
};

/** Text that may stand in a path and in a file's name. */
const word = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/, 'Expected a plain name'));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const finite = v.pipe(v.number(), v.finite());
const atLeastZero = v.pipe(finite, v.minValue(0));
const beta = v.pipe(finite, v.minValue(0), v.ltValue(1));

export const createSession = v.object({ sdk_version: v.string() });
export const sessionCreated = v.looseObject({
  session_id: v.string(),
  error_message: v.nullish(v.string()),
});

export const createModel = v.object({
  session_id: v.string(),
  model_seq_id: count,
  base_model: v.string(),
  lora_config: v.object({
    rank: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1024)),
    seed: v.nullish(v.pipe(v.number(), v.safeInteger())),
    train_unembed: v.optional(v.boolean(), true),
    train_mlp: v.optional(v.boolean(), true),
    train_attn: v.optional(v.boolean(), true),
  }),
});
export const modelCreated = v.looseObject({ model_id: v.string() });

export const adamParams = v.object({
  learning_rate: v.optional(atLeastZero, 1e-4),
  beta1: v.optional(beta, 0.9),
  beta2: v.optional(beta, 0.95),
  eps: v.optional(atLeastZero, 1e-12),
  weight_decay: v.optional(atLeastZero, 0),
  /** 0 = the gradient is not clipped. */
  grad_clip_norm: v.optional(atLeastZero, 0),
});
export type AdamParams = v.InferOutput<typeof adamParams>;

export const optimStep = v.object({ model_id: v.string(), seq_id: count, adam_params: adamParams });
export const optimStepped = v.looseObject({ metrics: v.nullish(v.record(v.string(), v.number())) });

export const saveWeights = v.object({
  model_id: v.string(),
  seq_id: count,
  path: v.nullish(word),
  sampling_session_seq_id: v.nullish(count),
  overwrite: v.optional(v.boolean(), false),
});
export const weightsSaved = v.looseObject({ path: v.string() });

export const loadWeights = v.object({
  model_id: v.string(),
  seq_id: count,
  path: v.string(),
  optimizer: v.boolean(),
});

export const ofModel = v.object({ model_id: v.string() });
export const ofSession = v.object({ session_id: v.string() });
export const weightsInfo = v.object({ tinker_path: v.string() });

export const retrieveFuture = v.object({ request_id: v.string() });
/** What a request answers at once: where its result is to be asked for. */
export const promised = v.looseObject({ request_id: v.string() });
export const notYet = v.looseObject({ type: v.literal('try_again') });
export const failed = v.looseObject({ error: v.string(), category: v.optional(v.string(), 'unknown') });

export const capabilities = v.looseObject({
  supported_models: v.array(v.looseObject({ model_name: v.nullish(v.string()) })),
});
export const archiveAt = v.looseObject({ url: v.string() });

const textChunk = v.object({ type: v.literal('encoded_text'), tokens: v.array(count) });
export const createSampler = v.object({
  session_id: v.string(),
  sampling_session_seq_id: count,
  base_model: v.nullish(v.string()),
  model_path: v.nullish(v.string()),
});
export const sample = v.object({
  sampling_session_id: v.nullish(v.string()),
  seq_id: v.nullish(count),
  base_model: v.nullish(v.string()),
  model_path: v.nullish(v.string()),
  num_samples: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1024)), 1),
  prompt: v.object({
    chunks: v.pipe(v.array(textChunk, 'Expected chunks of encoded text alone'), v.minLength(1)),
  }),
  sampling_params: v.object({
    max_tokens: v.nullish(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
    seed: v.nullish(v.pipe(v.number(), v.safeInteger())),
    stop: v.nullish(v.union([v.string(), v.array(v.string()), v.array(count)])),
    temperature: v.optional(atLeastZero, 1),
    top_k: v.optional(v.pipe(v.number(), v.safeInteger()), -1),
    top_p: v.optional(v.pipe(finite, v.gtValue(0), v.maxValue(1)), 1),
  }),
  prompt_logprobs: v.nullish(v.boolean()),
  topk_prompt_logprobs: v.optional(count, 0),
});
export type SampleRequest = v.InferOutput<typeof sample>;

/** The parts of a checkpoint's address, `tinker://RUN/weights/NAME` or `tinker://RUN/sampler_weights/NAME`. */
export interface Address {
  /** The run, which is the id of the model that saved it. */
  readonly run: string;
  readonly kind: 'weights' | 'sampler_weights';
  readonly name: string;
}

export const addressOf = ({ run, kind, name }: Address): string => `tinker://${run}/${kind}/${name}`;

/** The parts of an address; undefined where it is none. */
export function parseAddress(text: string): Address | undefined {
  const [, run, kind, name] = /^tinker:\/\/([^/]+)\/(weights|sampler_weights)\/([^/]+)$/.exec(text) ?? [];
  return v.is(word, run) && v.is(word, name) ? { run, kind: kind as Address['kind'], name } : undefined;
}
