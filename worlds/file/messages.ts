/**
 * Conversations as files have them, as messages: OpenAI's fields, with parts of content and JSON text as arguments, or ShareGPT's `from` and
 * `value`. A field that is null is as one that is not there. A field that would change what is learned and is not heeded is a fault by its name.
 */
import * as v from 'valibot';
import { callArguments, type Message, message, TOO_DEEP_ARGUMENTS } from '../../core/renderer/message.ts';
import { isObject } from '../../core/text/is-object.ts';

type Fields = Readonly<Record<string, unknown>>;
/** Roles by the names that files give them. */
const ROLES: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  gpt: 'assistant',
  chatgpt: 'assistant',
  model: 'assistant',
  tool: 'tool',
  observation: 'tool',
  function_response: 'tool',
};
const HEEDED = new Set(Object.keys(message.entries));
/** Fields that say where a message is from, and nothing about what it says. */
const IGNORED =
  /^(?:id|index|turn|source|model|language|lang|date|created|created_at|timestamp|metadata|from|value)$/;

/** The text of a content: a text, or parts that are texts. */
function contentOf(content: unknown, at: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new MessageFault(`${at}content: it is no text`);
  return content
    .map((part: unknown, i) => {
      if (typeof part === 'string') return part;
      if (isObject(part) && typeof part.text === 'string' && (part.type ?? 'text') === 'text')
        return part.text;
      const kind = isObject(part) ? JSON.stringify(part.type ?? null) : typeof part;
      throw new MessageFault(`${at}content.${i}: a part of type ${kind} is not heeded; expected texts`);
    })
    .join('');
}

function callOf(call: unknown, at: string): unknown {
  if (!isObject(call) || !isObject(call.function)) return call;
  const given = callArguments(call.function.arguments ?? {});
  if (!given) throw new MessageFault(`${at}${TOO_DEEP_ARGUMENTS}`);
  return { ...withoutNulls(call), function: { ...withoutNulls(call.function), arguments: given.value } };
}

const withoutNulls = (fields: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** Ends the reading of messages, with the place and what is wrong there. */
export class MessageFault extends Error {}

function messageOf(given: unknown, at: string): Message {
  if (!isObject(given)) throw new MessageFault(`${at}it is no object`);
  const fields = withoutNulls(given);
  const named = fields.role ?? fields.from;
  const role = typeof named === 'string' ? (ROLES[named.toLowerCase()] ?? named) : named;
  const other = Object.keys(fields).find((field) => !HEEDED.has(field) && !IGNORED.test(field));
  if (other !== undefined)
    throw new MessageFault(
      `${at}${other}: this field is not heeded; expected ${[...HEEDED].join(', ')}, so leave it out or write it into the content`,
    );
  const { tool_calls: calls } = fields;
  const content = fields.content ?? fields.value ?? (calls ? '' : undefined);
  if (content === undefined) throw new MessageFault(`${at}content: there is none`);
  const heeded = Object.entries(fields).filter(([field]) => HEEDED.has(field));
  const parsed = v.safeParse(message, {
    ...Object.fromEntries(heeded),
    role,
    content: contentOf(content, at),
    ...(Array.isArray(calls) ? { tool_calls: calls.map((call) => callOf(call, at)) } : {}),
  });
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new MessageFault(`${at}${v.getDotPath(issue) ?? ''}: ${issue.message}`);
}

/** The list in a text that is the JSON of a conversation, as columns of texts have it; other values as they are. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*\[\s*\{/.test(value)) return value;
  try {
    const list: unknown = JSON.parse(value);
    const isMessage = (one: unknown) => isObject(one) && ('role' in one || 'from' in one);
    return Array.isArray(list) && list.every(isMessage) ? list : value;
  } catch {
    return value;
  }
}

/** The messages of a conversation, which may be JSON as a text; `field` names it in what is wrong. Throws MessageFault. */
export function readMessages(given: unknown, field: string): Message[] {
  const value = unpacked(given);
  if (!Array.isArray(value) || value.length === 0)
    throw new MessageFault(`its ${field}: expected a list of messages`);
  return value.map((one, i) => messageOf(one, `its ${field}: ${i}.`));
}
