/**
 * OpenAI's Responses API, `POST /v1/responses`, which the clients for agents speak by default. A request is read as the chat completion that
 * asks the same, so that both refuse alike; nothing is kept of an answer, so that each request brings its whole conversation.
 */
import * as v from 'valibot';
import type { TokenIds } from '../policy/policy.ts';
import { type Choice, callsOf, chatLogprobs, type Heading, type Shown, usageOf } from './answer.ts';
import { chatOrder, chatRequest, readRequest, type ServingOrder, unsupported } from './order.ts';

const part = v.object({
  type: v.picklist(['input_text', 'output_text', 'text', 'refusal']),
  text: v.string(),
});
const text = v.union([v.string(), v.array(v.looseObject(part.entries))]);

const item = v.variant('type', [
  v.looseObject({
    type: v.optional(v.literal('message'), 'message'),
    role: v.picklist(['system', 'developer', 'user', 'assistant']),
    content: text,
  }),
  v.looseObject({
    type: v.literal('function_call'),
    call_id: v.string(),
    name: v.string(),
    arguments: v.string(),
  }),
  v.looseObject({ type: v.literal('function_call_output'), call_id: v.string(), output: text }),
]);
type Item = v.InferOutput<typeof item>;

const items = v.pipe(v.array(item), v.minLength(1), v.maxLength(1024));
const { max_tokens: most, tools: _, messages: __, prompt_logprobs: ___, ...asked } = chatRequest.entries;

export const responsesRequest = v.looseObject({
  model: asked.model,
  input: v.union([v.string(), items]),
  instructions: v.nullish(v.string()),
  max_output_tokens: most,
  temperature: asked.temperature,
  top_p: asked.top_p,
  top_logprobs: asked.top_logprobs,
  stream: asked.stream,
  seed: asked.seed,
  engine: asked.engine,
  weights: asked.weights,
  tools: v.nullish(v.array(v.looseObject({ type: v.string() }))),
  tool_choice: asked.tool_choice,
  text: v.nullish(v.looseObject({ format: v.nullish(v.looseObject({ type: v.string() })) })),
  include: v.nullish(v.array(v.string())),
  previous_response_id: v.nullish(v.string()),
  truncation: v.nullish(v.string()),
  background: v.nullish(v.boolean()),
});

/** As it is read: a text is one message, so that an item that is wrong is named. */
const itemised = v.looseObject({ ...responsesRequest.entries, input: items });

const LOGPROBS = 'message.output_text.logprobs';
/** What may be asked for beside: log-probabilities, and the thoughts that no policy here keeps from its reader. */
const INCLUDED = [LOGPROBS, 'reasoning.encrypted_content'];

/** Fields of chats that have no effect here, and what to do instead. */
const OF_CHATS: Readonly<Record<string, string>> = {
  messages: 'Send the conversation as input.',
  max_completion_tokens: 'Send max_output_tokens.',
  logprobs: `Send include: ["${LOGPROBS}"], or top_logprobs.`,
  response_format: 'Send text.format.',
  prompt_logprobs: 'Leave it out, or ask /v1/chat/completions.',
};

const textOf = (given: v.InferOutput<typeof text>): string =>
  typeof given === 'string' ? given : given.map((one) => one.text).join('');

/** The items as messages: calls that follow an answer belong to it. */
function messagesOf(items: readonly Item[]): object[] {
  const messages: { role: string; content: string; tool_calls?: object[]; tool_call_id?: string }[] = [];
  for (const one of items)
    if (one.type === 'message') messages.push({ role: one.role, content: textOf(one.content) });
    else if (one.type === 'function_call_output')
      messages.push({ role: 'tool', content: textOf(one.output), tool_call_id: one.call_id });
    else {
      const last = messages.at(-1);
      const answer = last?.role === 'assistant' ? last : { role: 'assistant', content: '' };
      if (answer !== last) messages.push(answer);
      const call = { id: one.call_id, function: { name: one.name, arguments: one.arguments } };
      answer.tool_calls = [...(answer.tool_calls ?? []), call];
    }
  return messages;
}

/** A function as chat completions have it; tools that a host runs are refused. `strict` is not enforced. */
function toolOf(given: Readonly<Record<string, unknown>>): object {
  const { type, name, description, parameters } = given;
  if (type !== 'function')
    throw unsupported(`A tool of type ${JSON.stringify(type).slice(0, 40)}`, 'Offer functions alone.');
  return { type, function: { name, description, parameters } };
}

/** Reads the body of `/v1/responses`. Throws `serving.request`, `serving.unsupported`. */
export function responsesOrder(body: unknown): ServingOrder {
  const request = readRequest(itemised, withItems(body));
  const {
    input,
    instructions,
    max_output_tokens,
    tools,
    text: form,
    include,
    truncation,
    background,
    previous_response_id,
    top_logprobs,
    ...rest
  } = request;
  for (const [field, next] of Object.entries(OF_CHATS))
    if ((rest[field] ?? false) !== false) throw unsupported(field, next);
  if (previous_response_id)
    throw unsupported('previous_response_id', 'Send the whole conversation as input: no answer is kept.');
  if (background) throw unsupported('background', 'Leave it out, and wait for the answer.');
  if (truncation && truncation !== 'disabled')
    throw unsupported(`truncation = ${JSON.stringify(truncation.slice(0, 40))}`, 'Leave it out.');
  const { format, ...others } = form ?? {};
  const [unread] = Object.entries(others).find(([, value]) => value !== null && value !== undefined) ?? [];
  if (unread !== undefined)
    throw unsupported(`text: ${unread.slice(0, 60)}`, 'Leave it out: it is not heeded.');
  const beyond = include?.find((one) => !INCLUDED.includes(one));
  if (beyond !== undefined) throw unsupported(`include: ${beyond.slice(0, 60)}`, 'Leave it out.');
  const said = instructions ? [{ type: 'message', role: 'system', content: instructions } as const] : [];
  const order = chatOrder({
    ...rest,
    // The same as in a chat, but that name and schema stand beside the type.
    response_format: format && { type: format.type, json_schema: format },
    messages: messagesOf([...said, ...input]),
    max_completion_tokens: max_output_tokens,
    tools: tools?.map(toolOf),
    logprobs: Boolean(top_logprobs) || (include ?? []).includes(LOGPROBS),
    top_logprobs,
  });
  if (order.samples !== 1)
    throw unsupported(`n = ${order.samples}`, 'Ask once for each answer, or ask /v1/chat/completions.');
  return {
    ...order,
    repeated: {
      instructions: instructions ?? null,
      max_output_tokens: max_output_tokens ?? null,
      temperature: order.temperature,
      top_p: order.topP,
      tools: tools ?? [],
      tool_choice: request.tool_choice ?? 'auto',
      text: { format: format ?? { type: 'text' } },
    },
  };
}

/** The body with its input as items: a text is a message of the user, and a message needs no type. */
function withItems(body: unknown): unknown {
  const { input, ...rest } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const typed = (one: unknown) =>
    typeof one === 'object' && one !== null && !('type' in one) ? { type: 'message', ...one } : one;
  if (typeof input === 'string')
    return { ...rest, input: [{ type: 'message', role: 'user', content: input }] };
  return { ...rest, input: Array.isArray(input) ? input.map(typed) : input };
}

const partOf = (written: string, logprobs: object[]) => ({
  type: 'output_text' as const,
  text: written,
  annotations: [],
  logprobs,
});

/** The log-probabilities of an answer's tokens; none where nobody asked for them. */
const logprobsOf = (choice: Parameters<typeof chatLogprobs>[0], shown: Shown) =>
  shown.logprobs ? chatLogprobs(choice, shown).content : [];

const tail = ({ id }: Heading) => id.slice(-16);

const messageItem = (heading: Heading, status: string, content: object[]) => ({
  type: 'message' as const,
  id: `msg_${tail(heading)}`,
  status,
  role: 'assistant' as const,
  content,
});

const callItems = (heading: Heading, choice: Choice) =>
  callsOf(choice.calls, heading, 0).map(({ id, function: { name, arguments: given } }, i) => ({
    type: 'function_call' as const,
    id: `fc_${tail(heading)}x${i.toString(36)}`,
    call_id: id,
    name,
    arguments: given,
    status: 'completed' as const,
  }));

/** The answer is cut off where the policy did not end it. */
const statusOf = ({ stopped, calls }: Choice) => (stopped || calls.length ? 'completed' : 'incomplete');

const bare = (heading: Heading, order: ServingOrder, status: string) => ({
  id: heading.id,
  object: 'response' as const,
  created_at: heading.created,
  status,
  background: false,
  error: null,
  incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
  model: heading.model,
  system_fingerprint: heading.fingerprint,
  seed: heading.seed,
  ...order.repeated,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  truncation: 'disabled',
  metadata: {},
});

/** The answer of `/v1/responses`: a message, unless there are calls alone, and the calls. `begun`: a stream has told of the message. */
export function responseAnswer(
  heading: Heading,
  prompt: TokenIds,
  choice: Choice,
  order: ServingOrder,
  begun = false,
) {
  const { prompt_tokens, completion_tokens, total_tokens } = usageOf([prompt], [choice]);
  const status = statusOf(choice);
  const said = begun || choice.text !== '' || choice.calls.length === 0;
  return {
    ...bare(heading, order, status),
    output: [
      ...(said ? [messageItem(heading, status, [partOf(choice.text, logprobsOf(choice, order))])] : []),
      ...callItems(heading, choice),
    ],
    usage: {
      input_tokens: prompt_tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completion_tokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens,
    },
    ...(order.tokenIds ? { token_ids: choice.ids, prompt_token_ids: prompt } : {}),
  };
}

/** The events of a streamed answer of `/v1/responses`, in OpenAI's order; each is numbered. */
export class ResponseStream {
  readonly #heading: Heading;
  readonly #order: ServingOrder;
  #number = 0;
  #begun = false;

  constructor(heading: Heading, order: ServingOrder) {
    this.#heading = heading;
    this.#order = order;
  }

  #event(type: string, fields: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#number++, ...fields })}\n\n`;
  }

  /** Where the message's text stands. */
  get #place() {
    return { item_id: `msg_${tail(this.#heading)}`, output_index: 0, content_index: 0 };
  }

  begin(): string {
    const response = { ...bare(this.#heading, this.#order, 'in_progress'), output: [], usage: null };
    return this.#event('response.created', { response }) + this.#event('response.in_progress', { response });
  }

  /** What the text gained, with the tokens that it came by. */
  add(text: string, tokens: Parameters<typeof chatLogprobs>[0]): string {
    if (text === '') return '';
    const opened = this.#begun ? '' : this.#open();
    const logprobs = logprobsOf(tokens, this.#order);
    return opened + this.#event('response.output_text.delta', { ...this.#place, delta: text, logprobs });
  }

  #open(): string {
    this.#begun = true;
    const item = messageItem(this.#heading, 'in_progress', []);
    return (
      this.#event('response.output_item.added', { output_index: 0, item }) +
      this.#event('response.content_part.added', { ...this.#place, part: partOf('', []) })
    );
  }

  end(prompt: TokenIds, choice: Choice): string {
    const response = responseAnswer(this.#heading, prompt, choice, this.#order, this.#begun);
    const told = response.output.map((item, output_index) =>
      item.type === 'message' ? this.#endMessage(item) : this.#call(item, output_index),
    );
    return [...told, this.#event(`response.${response.status}`, { response })].join('');
  }

  #endMessage(item: ReturnType<typeof messageItem>): string {
    const [part] = item.content as [ReturnType<typeof partOf>];
    const opened = this.#begun ? '' : this.#open();
    const { text, logprobs } = part;
    return (
      opened +
      this.#event('response.output_text.done', { ...this.#place, text, logprobs }) +
      this.#event('response.content_part.done', { ...this.#place, part }) +
      this.#event('response.output_item.done', { output_index: 0, item })
    );
  }

  #call(item: ReturnType<typeof callItems>[number], output_index: number): string {
    const at = { item_id: item.id, output_index };
    const begun = { ...item, arguments: '', status: 'in_progress' };
    return (
      this.#event('response.output_item.added', { output_index, item: begun }) +
      this.#event('response.function_call_arguments.delta', { ...at, delta: item.arguments }) +
      this.#event('response.function_call_arguments.done', {
        ...at,
        name: item.name,
        arguments: item.arguments,
      }) +
      this.#event('response.output_item.done', { output_index, item })
    );
  }

  fail(error: { readonly code: string; readonly message: string }): string {
    const { code, message } = error;
    return this.#event('error', { code, message, param: null });
  }
}
