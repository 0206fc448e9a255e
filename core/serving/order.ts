/**
 * The requests of the model endpoints, read into one form: OpenAI's chat completions and completions, and vLLM's tokens in, tokens out. A
 * field that is not heeded is refused by name, but for those that cannot change an answer and those whose value asks for what is done anyway.
 */
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import {
  ENGINES,
  type Engine,
  type PolicyRef,
  SMALLER_WEIGHTS,
  type SmallerWeights,
} from '../policy/policy.ts';
import { callArguments, type Message, TOO_DEEP_ARGUMENTS, type Tool } from '../renderer/message.ts';
import { finite } from '../schema/numbers.ts';
import { setName } from '../schema/policy.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { type JsonForm, jsonOf } from '../text/json-form.ts';
import { DEEPEST, isShallow } from '../text/nesting.ts';
import type { ToolCall } from './tool-calls.ts';

/** What a completion goes on from. */
export type Prompt =
  | {
      readonly kind: 'messages';
      readonly messages: readonly Message[];
      readonly tools: readonly Tool[] | undefined;
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ids'; readonly ids: readonly number[] };

export interface ServingOrder {
  /** As the caller named it: `NAME`, `NAME@VERSION`, either with `/SET`. */
  readonly model: string;
  readonly engine: Engine | undefined;
  readonly weights: SmallerWeights | undefined;
  readonly prompts: readonly Prompt[];
  /** Completions of each prompt. */
  readonly samples: number;
  /** New tokens at most, stop token included; undefined = what the context leaves, up to a bound. */
  readonly maxNew: number | undefined;
  readonly temperature: number;
  readonly topP: number;
  /** 0 = off. */
  readonly topK: number;
  /** Strings that end a completion; they are not part of its text. */
  readonly stopStrings: readonly string[];
  /** What every answer is: any object of JSON, or JSON of a schema; undefined = any text. */
  readonly form: JsonForm | undefined;
  /** Token ids that end a completion, besides the policy's own. */
  readonly stopIds: readonly number[];
  /** Does a completion go on past the policy's own end tokens? */
  readonly ignoreEnds: boolean;
  /** Equal seeds, prompts, settings and versions give equal tokens; undefined = another draw each time. */
  readonly seed: number | undefined;
  readonly stream: boolean;
  /** Does a last chunk of the stream tell the token counts? */
  readonly streamUsage: boolean;
  readonly logprobs: boolean;
  /** How many of the most likely tokens are told with each that was drawn. */
  readonly alternatives: number;
  /** Does the text of an answer begin with its prompt, and do its log-probabilities? */
  readonly echo: boolean;
  /** How many of the most likely tokens are told of each place of the prompt, as vLLM's `prompt_logprobs` has it; undefined = nothing is told of it. */
  readonly promptLogprobs: number | undefined;
  /** vLLM's `return_token_ids`. */
  readonly tokenIds: boolean;
  /** vLLM's `return_tokens_as_token_ids`: tokens are written `token_id:17`. */
  readonly tokensAsIds: boolean;
  /** Fields of the request that the answer of `/v1/responses` repeats. */
  readonly repeated?: Readonly<Record<string, unknown>>;
}

/** The most completions that one request may ask for, over all of its prompts. */
export const MOST_COMPLETIONS = 64;
/** The most alternatives to each token, as OpenAI and vLLM have it. */
const MOST_ALTERNATIVES = 20;
/** The most characters of all stop strings together: each may need a state of the automaton that ends a completion. */
const MOST_STOP_CHARACTERS = 64;
const MOST_TOOLS = 64;
/** New tokens are bounded by the policy's context; no larger number is read. */
const MOST_TOKENS = 2 ** 31 - 1;

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));
const idList = v.pipe(v.array(whole(0, 2 ** 31)), v.minLength(1));

const stopStrings = v.nullish(
  v.pipe(
    v.union([v.string(), v.array(v.string())]),
    v.transform((stop) => (typeof stop === 'string' ? [stop] : stop)),
    v.check(
      (stop) => stop.length <= 16 && !stop.includes(''),
      'Expected at most 16 strings, none of them empty',
    ),
    v.check(
      (stop) => stop.join('').length <= MOST_STOP_CHARACTERS,
      `Expected at most ${MOST_STOP_CHARACTERS} characters in all`,
    ),
  ),
  [],
);

const sampling = {
  temperature: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(100)), 1),
  top_p: v.nullish(v.pipe(v.number(), v.gtValue(0), v.maxValue(1)), 1),
  /** As vLLM has it: 0 and -1 mean all tokens. */
  top_k: v.nullish(whole(-1, 2 ** 31), 0),
  n: v.nullish(whole(1, MOST_COMPLETIONS), 1),
  seed: v.nullish(whole(-(2 ** 53) + 1, 2 ** 53 - 1)),
  stop: stopStrings,
  stop_token_ids: v.nullish(v.pipe(v.array(whole(0, 2 ** 31)), v.maxLength(64)), []),
  ignore_eos: v.nullish(v.boolean(), false),
  frequency_penalty: v.nullish(finite),
  presence_penalty: v.nullish(finite),
  repetition_penalty: v.nullish(finite),
  min_p: v.nullish(finite),
  logit_bias: v.nullish(v.record(v.string(), finite)),
};

const common = {
  model: v.pipe(v.string(), v.maxLength(160)),
  ...sampling,
  stream: v.nullish(v.boolean(), false),
  stream_options: v.nullish(v.looseObject({ include_usage: v.nullish(v.boolean(), false) })),
  response_format: v.nullish(
    v.looseObject({
      type: v.string(),
      json_schema: v.nullish(v.looseObject({ schema: v.optional(v.unknown()) })),
    }),
  ),
  prompt_logprobs: v.nullish(whole(0, MOST_ALTERNATIVES)),
  return_token_ids: v.nullish(v.boolean(), false),
  return_tokens_as_token_ids: v.nullish(v.boolean(), false),
  engine: v.nullish(v.picklist(ENGINES)),
  weights: v.nullish(v.picklist(SMALLER_WEIGHTS)),
};

const textPart = v.object({ type: v.picklist(['text', 'input_text', 'refusal']), text: v.string() });
/** As OpenAI has it; the texts that show images take the places of these parts before a request is read (image-parts.ts). */
const imagePart = v.looseObject({
  type: v.literal('image_url'),
  image_url: v.looseObject({ url: v.string() }),
});
const calls = v.pipe(
  v.array(
    v.looseObject({
      id: v.nullish(v.string()),
      function: v.object({ name: v.string(), arguments: v.string() }),
    }),
  ),
  v.maxLength(MOST_TOOLS),
);
const chatMessage = v.looseObject({
  role: v.picklist(['system', 'developer', 'user', 'assistant', 'tool']),
  content: v.nullish(v.union([v.string(), v.array(v.union([textPart, imagePart]))])),
  name: v.nullish(v.string()),
  reasoning_content: v.nullish(v.string()),
  tool_calls: v.nullish(calls),
  tool_call_id: v.nullish(v.string()),
});

const tool = v.pipe(
  v.looseObject({
    type: v.literal('function'),
    // Templates write the fields in the order in which they stand here, which is that of OpenAI's own clients and of vLLM.
    function: v.looseObject({
      name: v.string(),
      description: v.nullish(v.string()),
      parameters: v.nullish(v.record(v.string(), v.unknown())),
    }),
  }),
  v.check((value) => isShallow(value), `Expected at most ${DEEPEST} levels`),
);

export const chatRequest = v.looseObject({
  ...common,
  messages: v.pipe(v.array(chatMessage), v.minLength(1), v.maxLength(1024)),
  max_tokens: v.nullish(whole(1, MOST_TOKENS)),
  max_completion_tokens: v.nullish(whole(1, MOST_TOKENS)),
  logprobs: v.nullish(v.boolean(), false),
  top_logprobs: v.nullish(whole(0, MOST_ALTERNATIVES), 0),
  tools: v.nullish(v.pipe(v.array(tool), v.maxLength(MOST_TOOLS))),
  tool_choice: v.nullish(v.unknown()),
});

export const completionRequest = v.looseObject({
  ...common,
  prompt: v.union([
    v.string(),
    idList,
    v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(MOST_COMPLETIONS)),
    v.pipe(v.array(idList), v.minLength(1), v.maxLength(MOST_COMPLETIONS)),
  ]),
  /** 0 where the prompt alone is asked about. */
  max_tokens: v.nullish(whole(0, MOST_TOKENS), 16),
  logprobs: v.nullish(
    v.union(
      [v.boolean(), whole(0, MOST_ALTERNATIVES)],
      `Expected a whole number from 0 to ${MOST_ALTERNATIVES}`,
    ),
  ),
  echo: v.nullish(v.boolean()),
  suffix: v.nullish(v.string()),
  best_of: v.nullish(finite),
});

export const tokensRequest = v.looseObject({
  model: common.model,
  token_ids: idList,
  sampling_params: v.looseObject({
    ...sampling,
    max_tokens: v.nullish(whole(1, MOST_TOKENS)),
    logprobs: v.nullish(finite),
    prompt_logprobs: v.nullish(whole(0, MOST_ALTERNATIVES)),
  }),
  stream: v.nullish(v.boolean(), false),
  engine: common.engine,
  weights: common.weights,
});

export function readRequest<S extends v.GenericSchema>(schema: S, body: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, body, { abortEarly: true });
  if (result.success) return result.output;
  const issue = result.issues[0];
  const path = v.getDotPath(issue)?.slice(0, 80);
  throw wrongInput('serving.request', `${path ? `${path}: ` : ''}${issue.message.slice(0, 200)}.`);
}

export const unsupported = (field: string, next: string) =>
  wrongInput('serving.unsupported', `${field} is not supported.`, { next });

/** Refuses what would change the answer if it were heeded. */
function refuse(fields: {
  readonly frequency_penalty?: number | null | undefined;
  readonly presence_penalty?: number | null | undefined;
  readonly repetition_penalty?: number | null | undefined;
  readonly min_p?: number | null | undefined;
  readonly logit_bias?: Readonly<Record<string, number>> | null | undefined;
}): void {
  for (const [field, neutral] of [
    ['frequency_penalty', 0],
    ['presence_penalty', 0],
    ['repetition_penalty', 1],
    ['min_p', 0],
  ] as const)
    if ((fields[field] ?? neutral) !== neutral)
      throw unsupported(`${field} = ${fields[field]}`, `Leave it out, or set it to ${neutral}.`);
  if (Object.keys(fields.logit_bias ?? {}).length) throw unsupported('logit_bias', 'Leave it out.');
}

/** The form that a request asks for. Throws `serving.unsupported`, `serving.schema`. */
function formOf({ response_format: asked }: Pick<Common, 'response_format'>): JsonForm | undefined {
  const { type, json_schema: given } = asked ?? { type: 'text' };
  if (type === 'text') return undefined;
  if (type === 'json_object') return 'object';
  if (type !== 'json_schema')
    throw unsupported(
      `response_format of type ${JSON.stringify(type.slice(0, 40))}`,
      'Ask for "json_object" or "json_schema", or leave it out.',
    );
  if (given?.schema === undefined || !isShallow(given.schema))
    throw wrongInput('serving.request', 'response_format has no schema under json_schema.', {
      expected: `json_schema: {name, schema}, with at most ${DEEPEST} levels`,
    });
  const form = { schema: given.schema };
  jsonOf(form);
  return form;
}

/** Fields of clients that say who asks, or how the request is kept, queued or paid: no answer depends on them. */
const WITHOUT_EFFECT = new Set([
  'user',
  'metadata',
  'store',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'request_id',
  'priority',
  'cache_salt',
]);
/** Values of fields that ask for what is done anyway. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  add_generation_prompt: true,
  continue_final_message: false,
  add_special_tokens: true,
  skip_special_tokens: true,
  spaces_between_special_tokens: true,
  include_stop_str_in_output: false,
  include_reasoning: true,
  use_beam_search: false,
  min_tokens: 0,
  length_penalty: 1,
  best_of: 1,
  detokenize: true,
  typical_p: 1,
  tfs_z: 1,
  mirostat: 0,
  modalities: ['text'],
  parallel_tool_calls: true,
};

const isEmptyValue = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

/** Refuses fields that are not read here, at the first one. `under`: the field that they stand in. */
function refuseUnread(given: Readonly<Record<string, unknown>>, read: object, under = ''): void {
  for (const [field, value] of Object.entries(given)) {
    if (Object.hasOwn(read, field) || WITHOUT_EFFECT.has(field) || isEmptyValue(value)) continue;
    if (Object.hasOwn(NEUTRAL, field) && canonicalJson(NEUTRAL[field]) === canonicalJson(value)) continue;
    throw unsupported(`${under}${field.slice(0, 60)}`, 'Leave it out: it is not heeded.');
  }
}

/** `include_obfuscation`: padding of chunks, for the sake of who listens to their lengths. */
const STREAM_OPTIONS = { include_usage: true, include_obfuscation: true };

type Sampling = v.InferOutput<v.ObjectSchema<typeof sampling, undefined>>;

const samplingOf = (request: Sampling) => ({
  samples: request.n ?? 1,
  temperature: request.temperature ?? 1,
  topP: request.top_p ?? 1,
  topK: Math.max(0, request.top_k ?? 0),
  stopStrings: request.stop,
  stopIds: request.stop_token_ids ?? [],
  ignoreEnds: request.ignore_eos ?? false,
  seed: request.seed ?? undefined,
});

type Common = v.InferOutput<v.ObjectSchema<typeof common, undefined>>;

const commonOf = (request: Common) => ({
  model: request.model,
  engine: request.engine ?? undefined,
  weights: request.weights ?? undefined,
  ...samplingOf(request),
  form: formOf(request),
  stream: request.stream ?? false,
  streamUsage: request.stream_options?.include_usage ?? false,
  echo: false,
  promptLogprobs: request.prompt_logprobs ?? undefined,
  tokenIds: request.return_token_ids ?? false,
  tokensAsIds: request.return_tokens_as_token_ids ?? false,
});

function argumentsOf(text: string): unknown {
  const given = callArguments(text);
  if (given) return given.value;
  throw wrongInput('serving.request', `${TOO_DEEP_ARGUMENTS}.`, { expected: `at most ${DEEPEST} levels` });
}

function textOf(part: v.InferOutput<typeof textPart> | v.InferOutput<typeof imagePart>): string {
  if (part.type !== 'image_url') return part.text;
  throw unsupported('An image', 'Send it in a message of a chat or of a response, as a data URL.');
}

function messageOf(given: v.InferOutput<typeof chatMessage>): Message {
  const {
    role,
    content,
    name,
    reasoning_content: thought,
    tool_calls: called,
    tool_call_id: answered,
  } = given;
  return {
    role: role === 'developer' ? 'system' : role,
    content: typeof content === 'string' ? content : (content ?? []).map(textOf).join(''),
    ...(name ? { name } : {}),
    ...(thought ? { reasoning_content: thought } : {}),
    ...(called?.length
      ? {
          tool_calls: called.map(({ function: { name: wanted, arguments: text } }) => ({
            type: 'function' as const,
            function: { name: wanted, arguments: argumentsOf(text) },
          })),
        }
      : {}),
    ...(answered ? { tool_call_id: answered } : {}),
  };
}

/** An answer as the caller sends it back in the next request of the conversation. */
export const answeredMessage = ({
  text,
  calls,
}: {
  readonly text: string;
  readonly calls: readonly ToolCall[];
}): Message =>
  messageOf({
    role: 'assistant',
    content: text,
    tool_calls: calls.map((call) => ({ function: { ...call } })),
  });

/** Tools that are offered and may not be called are left out of the prompt. */
function toolsOf(tools: readonly Tool[] | null | undefined, choice: unknown): readonly Tool[] | undefined {
  if (choice === 'none' || !tools?.length) return undefined;
  if (choice === undefined || choice === null || choice === 'auto') return tools;
  throw unsupported('tool_choice other than "auto" and "none"', 'Leave it out: the model decides.');
}

/** A stream tells of what is drawn, piece by piece, and of nothing before it. */
function refuseReadingInStream({ stream, echo, promptLogprobs }: ServingOrder): void {
  if (stream && (echo || promptLogprobs !== undefined))
    throw unsupported(`${echo ? 'echo' : 'prompt_logprobs'} in a stream`, 'Ask without stream.');
}

/** Reads the body of `/v1/chat/completions`. Throws `serving.request`, `serving.unsupported`. */
export function chatOrder(body: unknown): ServingOrder {
  const request = readRequest(chatRequest, body);
  refuse(request);
  const { parallel_tool_calls: _, ...others } = request;
  // Where no tool is offered, none is called beside another.
  refuseUnread(request.tools?.length ? request : others, chatRequest.entries);
  refuseUnread(request.stream_options ?? {}, STREAM_OPTIONS, 'stream_options: ');
  request.messages.forEach((one, i) => {
    refuseUnread(one, chatMessage.entries, 'messages: ');
    // A call of tools needs no text.
    if (one.role !== 'assistant' && (one.content ?? null) === null)
      throw wrongInput('serving.request', `messages.${i}.content: Expected a text.`);
  });
  const [logprobs, alternatives] = [request.logprobs ?? false, request.top_logprobs ?? 0];
  if (alternatives && !logprobs)
    throw wrongInput('serving.request', `top_logprobs: ${alternatives} without logprobs.`, {
      next: 'Set logprobs to true.',
    });
  const order: ServingOrder = {
    ...commonOf(request),
    prompts: [
      {
        kind: 'messages',
        messages: request.messages.map(messageOf),
        tools: toolsOf(request.tools, request.tool_choice),
      },
    ],
    maxNew: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    logprobs,
    alternatives,
  };
  refuseReadingInStream(order);
  return order;
}

const isIds = (prompt: readonly unknown[]): prompt is readonly number[] => typeof prompt[0] === 'number';

function promptsOf(prompt: v.InferOutput<typeof completionRequest>['prompt']): Prompt[] {
  if (typeof prompt === 'string') return [{ kind: 'text', text: prompt }];
  if (isIds(prompt)) return [{ kind: 'ids', ids: prompt }];
  return (prompt as readonly (string | number[])[]).map((one) =>
    typeof one === 'string' ? { kind: 'text', text: one } : { kind: 'ids', ids: one },
  );
}

/** Reads the body of `/v1/completions`. Throws `serving.request`, `serving.unsupported`. */
export function completionOrder(body: unknown): ServingOrder {
  const request = readRequest(completionRequest, body);
  refuse(request);
  refuseUnread(request, completionRequest.entries);
  refuseUnread(request.stream_options ?? {}, STREAM_OPTIONS, 'stream_options: ');
  if (request.suffix) throw unsupported('suffix', 'Leave it out.');
  if (request.best_of && request.best_of !== (request.n ?? 1))
    throw unsupported(`best_of = ${request.best_of}`, 'Ask for n completions, and choose among them.');
  const prompts = promptsOf(request.prompt);
  if (prompts.length * (request.n ?? 1) > MOST_COMPLETIONS)
    throw wrongInput(
      'serving.request',
      `n: ${request.n} completions of ${prompts.length} prompts are too many.`,
      { expected: `at most ${MOST_COMPLETIONS} in all` },
    );
  const [maxNew, echo] = [request.max_tokens ?? 16, request.echo ?? false];
  if (maxNew === 0 && !echo && (request.prompt_logprobs ?? null) === null)
    throw wrongInput('serving.request', 'max_tokens: 0 without echo or prompt_logprobs asks for nothing.', {
      next: 'Ask for a token at least, or set echo to true.',
    });
  const order: ServingOrder = {
    ...commonOf(request),
    prompts,
    maxNew,
    echo,
    logprobs: request.logprobs !== null && request.logprobs !== undefined && request.logprobs !== false,
    alternatives: typeof request.logprobs === 'number' ? request.logprobs : 0,
  };
  refuseReadingInStream(order);
  return order;
}

/** Fields that say how ids are written as text: without effect where ids are answered. */
const OF_TEXT = { skip_special_tokens: true, spaces_between_special_tokens: true, detokenize: true };

/** Reads the body of `/inference/v1/generate`. Throws `serving.request`, `serving.unsupported`. */
export function tokensOrder(body: unknown): ServingOrder {
  const { sampling_params: params, ...request } = readRequest(tokensRequest, body);
  refuse(params);
  refuseUnread(request, tokensRequest.entries);
  refuseUnread(params, { ...tokensRequest.entries.sampling_params.entries, ...OF_TEXT }, 'sampling_params: ');
  if (request.stream) throw unsupported('stream', 'Leave it out, or stream from /v1/completions.');
  if ((params.logprobs ?? 0) > 1)
    throw unsupported(`logprobs = ${params.logprobs}`, 'Set it to 1: the drawn tokens have theirs.');
  return {
    model: request.model,
    engine: request.engine ?? undefined,
    weights: request.weights ?? undefined,
    ...samplingOf(params),
    form: undefined,
    prompts: [{ kind: 'ids', ids: request.token_ids }],
    maxNew: params.max_tokens ?? undefined,
    stream: false,
    streamUsage: false,
    logprobs: params.logprobs !== null && params.logprobs !== undefined,
    alternatives: 0,
    echo: false,
    promptLogprobs: params.prompt_logprobs ?? undefined,
    tokenIds: true,
    tokensAsIds: true,
  };
}

/** The exact name of a version, and of its parameter set where it is not the main one. */
export const nameOf = ({ name, version, set }: PolicyRef): string =>
  `${name}@${version}${set ? `/${set}` : ''}`;

/** The parts of a model's name. Throws `serving.model` where it is none. */
export function modelOf(model: string): {
  readonly name: string;
  readonly version: number | undefined;
  readonly set: string | undefined;
} {
  const [, name, version, set] =
    /^([a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?)(?:@(0|[1-9]\d{0,8}))?(?:\/([a-z0-9-]{1,64}))?$/.exec(model) ??
    [];
  if (name === undefined || (set !== undefined && !v.is(setName, set)))
    throw wrongInput('serving.model', `${JSON.stringify(model)} names no model.`, {
      expected:
        'NAME for the newest version of a policy, NAME@VERSION for an exact one, with /SET for another set',
      next: 'GET /v1/models lists them.',
    });
  return { name, version: version === undefined ? undefined : Number(version), set };
}
