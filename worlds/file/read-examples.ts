/**
 * Rows of a file as examples to learn from: conversations that end with the assistant's answer, and pairs of answers of which one is
 * preferred. Both are kept as tasks: the conversation before the last answer, that answer, and a rejected one in the metadata.
 */
import * as v from 'valibot';
import type { Message } from '../../core/renderer/message.ts';
import { fieldsOf, messagesSchema, RowFault, readEach } from './read-tasks.ts';
import type { Row } from './rows.ts';
import type { FileTask, PlacedTask } from './task.ts';

function conversation(value: unknown, field: string): Message[] {
  const parsed = v.safeParse(messagesSchema, value);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new RowFault(`its ${field}: ${v.getDotPath(issue) ?? 'all'}: ${issue.message}`);
}

/** The first of the fields that the row has. */
function fieldOf(row: Row['value'], fields: readonly string[]): string {
  const found = fields.find((field) => row[field] !== undefined);
  if (found !== undefined) return found;
  throw new RowFault(
    `it has no ${fields.map((field) => `"${field}"`).join(' or ')}; its fields are ${fieldsOf(row)}`,
  );
}

function text(value: unknown, field: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new RowFault(`its ${field} is no text`);
}

/** A conversation, or a text that the user says. */
function promptOf(row: Row['value'], system: string | undefined): Message[] {
  const field = fieldOf(row, ['messages', 'prompt', 'question']);
  const value = row[field];
  const messages: Message[] =
    typeof value === 'string' ? [{ role: 'user', content: text(value, field) }] : conversation(value, field);
  return system === undefined || messages[0]!.role === 'system'
    ? messages
    : [{ role: 'system', content: system }, ...messages];
}

/** A text, or a list with the assistant's message alone. */
function answerOf(value: unknown, field: string): string {
  if (!Array.isArray(value)) return text(value, field);
  const messages = conversation(value, field);
  if (messages.length === 1 && messages[0]!.role === 'assistant') return text(messages[0]!.content, field);
  throw new RowFault(`its ${field} is not one message of the assistant`);
}

const example = (messages: Message[], answer: string, metadata: FileTask['metadata'] = {}): FileTask => {
  const { role } = messages.at(-1)!;
  if (role !== 'user' && role !== 'tool')
    throw new RowFault(`its last message before the answer is the ${role}’s, so that nothing is answered`);
  return { messages, answer, metadata, difficulty: null };
};

function conversationOf(row: Row['value'], system: string | undefined): FileTask {
  const messages = promptOf(row, system);
  if (row.messages === undefined) {
    const field = fieldOf(row, ['completion', 'answer']);
    return example(messages, answerOf(row[field], field));
  }
  const last = messages.at(-1)!;
  if (last.role !== 'assistant')
    throw new RowFault(`its last message is the ${last.role}’s, so that there is no answer to learn from`);
  if (messages.length === 1) throw new RowFault('its only message is the assistant’s');
  return example(messages.slice(0, -1), text(last.content, 'last message'));
}

function pairOf(row: Row['value'], system: string | undefined): FileTask {
  const [chosen, rejected] = (['chosen', 'rejected'] as const).map((field) =>
    answerOf(row[fieldOf(row, [field])], field),
  );
  if (chosen === rejected) throw new RowFault('its chosen and its rejected answer are the same');
  return example(promptOf(row, system), chosen!, { rejected: rejected! });
}

const CONVERSATION =
  '{"messages": […]} that ends with the assistant’s message, or {"question": "…", "answer": "…"} on every line';
const PAIR = '{"question": "…" or "messages": […], "chosen": "…", "rejected": "…"} on every line';

/** All conversations of a file. Throws as `readTasks`. */
export const readConversations = (name: string, bytes: Uint8Array, system?: string): Promise<PlacedTask[]> =>
  readEach(name, bytes, (row) => conversationOf(row, system), CONVERSATION);

/** All pairs of a file. Throws as `readTasks`. */
export const readPairs = (name: string, bytes: Uint8Array, system?: string): Promise<PlacedTask[]> =>
  readEach(name, bytes, (row) => pairOf(row, system), PAIR);

/** A repeat is the whole example again: a question may have several answers to learn from, and several pairs. */
export const exampleIdentity = ({ messages, answer, metadata }: PlacedTask): string =>
  JSON.stringify([messages, answer, metadata]);
