/**
 * Rows of a file as examples to learn from: conversations that end with the assistant's answer, and pairs of answers of which one is
 * preferred. Both are kept as tasks: the conversation before the last answer, that answer, and a rejected one in the metadata.
 */
import type { Message } from '../../core/renderer/message.ts';
import { isObject } from '../../core/text/is-object.ts';
import type { ReadBeside } from './images.ts';
import { readMessages, unpacked } from './messages.ts';
import { fieldsOf, RowFault, readEach } from './read-tasks.ts';
import type { Row } from './row.ts';
import type { FileBytes } from './rows.ts';
import type { FileTask, PlacedTask } from './task.ts';

/** The first of the fields that the row has. */
function fieldOf(row: Row['value'], fields: readonly string[]): string {
  const found = fields.find((field) => row[field] !== undefined && row[field] !== null);
  if (found !== undefined) return found;
  throw new RowFault(
    `it has no ${fields.map((field) => `"${field}"`).join(' or ')}; its fields are ${fieldsOf(row)}`,
  );
}

function text(value: unknown, field: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new RowFault(`its ${field} is no text`);
}

/** Fields of a whole conversation: OpenAI's, and ShareGPT's. */
const CONVERSATIONS = ['messages', 'conversations', 'conversation'];

/** Fields of what comes before an answer: the first that a row has. `instruction` is a text, the others may be conversations. */
const PROMPTS = [...CONVERSATIONS, 'prompt', 'question'];

/** The user's message of Alpaca's rows: an instruction, with an input below it where there is one. */
function instructionOf({ instruction, input }: Row['value']): string {
  const asked = text(instruction, 'instruction');
  return typeof input === 'string' && input.trim() !== '' ? `${asked}\n\n${input}` : asked;
}

/** A conversation, or a text that the user says. */
function promptOf({ value: row, texts }: Row, system: string | undefined): Message[] {
  const field = fieldOf(row, [...PROMPTS, 'instruction']);
  const own = field === 'prompt' || field === 'question' ? texts?.[field] : undefined;
  const value = own !== undefined && !/^\s*\[\s*\{/.test(own) ? own : unpacked(row[field]);
  const messages: Message[] =
    field === 'instruction'
      ? [{ role: 'user', content: instructionOf(row) }]
      : typeof value === 'string'
        ? [{ role: 'user', content: text(value, field) }]
        : readMessages(value, field);
  return withSystem(messages, row, system);
}

/** Messages with the system's before them: the row's own, or the given one. */
function withSystem(messages: readonly Message[], row: Row['value'], system: string | undefined): Message[] {
  const said = typeof row.system === 'string' && row.system.trim() !== '' ? row.system : system;
  return said === undefined || messages[0]!.role === 'system'
    ? [...messages]
    : [{ role: 'system', content: said }, ...messages];
}

/** An answer, with the messages before it where the file repeats them with it. */
interface Written {
  readonly before: readonly Message[] | null;
  readonly answer: Message;
}

/** A text, a number, the assistant's message alone, or a whole conversation that ends with it. */
function answerOf(given: unknown, field: string): Written {
  const value = unpacked(given);
  if (!Array.isArray(value) && !isObject(value)) {
    const content = text(typeof value === 'number' ? String(value) : value, field);
    return { before: null, answer: { role: 'assistant', content } };
  }
  const messages = readMessages(Array.isArray(value) ? value : [value], field);
  const answer = messages.at(-1)!;
  if (answer.role !== 'assistant')
    throw new RowFault(`its ${field} does not end with a message of the assistant`);
  return { before: messages.length > 1 ? messages.slice(0, -1) : null, answer };
}

/** What a last message has besides its text. */
function besides({ role: _, content: __, ...more }: Message): Omit<Message, 'role' | 'content'> | null {
  return Object.keys(more).length ? more : null;
}

const isEmpty = ({ content, tool_calls: calls }: Message): boolean => content.trim() === '' && !calls?.length;

/** The tools that the assistant may call, as a column of the file says. */
function toolsOf({ tools }: Row['value']): unknown[] | null {
  const listed = typeof tools === 'string' && tools.trim() !== '' ? parsedTools(tools) : tools;
  if (listed === undefined || listed === null || listed === '') return null;
  if (!Array.isArray(listed)) throw new RowFault('its tools are no list');
  return listed.length ? listed : null;
}

function parsedTools(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RowFault('its tools are no JSON');
  }
}

/** Columns that other trainers take as a part of the prompt or of the loss. */
const UNHEEDED =
  /^(?:history|context|system_prompt|functions|function_call|chat_template_kwargs|loss_mask|weights?)$/;

/** Nothing in a cell, brackets alone, or weights of 1: the row is as one without the column. */
function saysNothing(field: string, value: unknown): boolean {
  if (value === null || value === undefined || /^(?:|\[\]|\{\})$/.test(String(value).trim())) return true;
  if (typeof value === 'object' && Object.keys(value).length === 0) return true;
  return /^weights?$/.test(field) && [value].flat().every((one) => Number(one) === 1);
}

/** What would change what is learned and is not heeded is a fault by its name. */
function expectHeeded(row: Row['value']): void {
  const found = Object.keys(row).find((field) => UNHEEDED.test(field) && !saysNothing(field, row[field]));
  if (found !== undefined)
    throw new RowFault(`its "${found}" is not heeded, so write it into the messages or leave the column out`);
}

function example(
  messages: readonly Message[],
  answer: Message,
  row: Row['value'],
  rejected?: Message,
): FileTask {
  const { role } = messages.at(-1) ?? { role: 'system' };
  if (role !== 'user' && role !== 'tool')
    throw new RowFault(`its last message before the answer is the ${role}’s, so that nothing is answered`);
  if (isEmpty(answer) || (rejected && isEmpty(rejected))) throw new RowFault('its answer is no text');
  expectHeeded(row);
  const tools = toolsOf(row);
  const [more, less] = [besides(answer), rejected ? besides(rejected) : null];
  return {
    messages,
    answer: answer.content,
    metadata: {
      ...(rejected ? { rejected: rejected.content } : {}),
      ...(tools ? { tools } : {}),
      ...(more ? { answered: more } : {}),
      ...(less ? { rejectedWith: less } : {}),
    },
    difficulty: null,
  };
}

function conversationOf(row: Row, system: string | undefined): FileTask {
  const messages = promptOf(row, system);
  if (!CONVERSATIONS.some((field) => row.value[field])) {
    const field = fieldOf(row.value, ['completion', 'answer', 'output', 'response']);
    const { before, answer } = answerOf(row.texts?.[field] ?? row.value[field], field);
    return example(before ? withSystem(before, row.value, system) : messages, answer, row.value);
  }
  const last = messages.at(-1)!;
  if (last.role !== 'assistant')
    throw new RowFault(`its last message is the ${last.role}’s, so that there is no answer to learn from`);
  if (messages.length === 1) throw new RowFault('its only message is the assistant’s');
  if (!messages.some(({ role, weight = 1 }) => role === 'assistant' && weight > 0))
    throw new RowFault('every answer in it has weight 0, so that there is nothing to learn');
  return example(messages.slice(0, -1), last, row.value);
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The messages before both answers of a pair. Where the answers are whole conversations they have to begin alike. */
function beforePair(
  row: Row,
  system: string | undefined,
  chosen: Written,
  rejected: Written,
): readonly Message[] {
  if (!same(chosen.before, rejected.before))
    throw new RowFault('its chosen and its rejected conversation begin differently');
  const { before } = chosen;
  if (!before) return promptOf(row, system);
  const named = [...PROMPTS, 'instruction'].some((field) => row.value[field]);
  const asked = named ? promptOf(row, undefined) : before;
  if (!same(asked, before) && !same(asked.at(-1)?.content.trim(), before.at(-1)?.content.trim()))
    throw new RowFault('its chosen conversation begins with another prompt than the row has');
  return withSystem(before, row.value, system);
}

function pairOf(row: Row, system: string | undefined): FileTask {
  const [chosen, rejected] = (['chosen', 'rejected'] as const).map((field) =>
    answerOf(
      row.texts?.[field]?.startsWith('[{')
        ? row.value[field]
        : (row.texts?.[field] ?? row.value[fieldOf(row.value, [field])]),
      field,
    ),
  );
  if (same(chosen!.answer, rejected!.answer))
    throw new RowFault('its chosen and its rejected answer are the same');
  return example(beforePair(row, system, chosen!, rejected!), chosen!.answer, row.value, rejected!.answer);
}

/** 1 for an answer that is right, 0 for one that is wrong. */
function labelOf(value: unknown, field: string): 0 | 1 {
  const said = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (said === true || said === 1 || said === '1' || said === 'true' || said === '+') return 1;
  if (said === false || said === 0 || said === '0' || said === 'false' || said === '-') return 0;
  throw new RowFault(
    `its ${field} ${JSON.stringify(value)} is neither right nor wrong (true or false, 1 or 0)`,
  );
}

/** A step is a line: what a file writes on several lines is one step here. */
const lineOf = (step: unknown, field: string): string =>
  text(step, field)
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');

/** A pair; an answer with its label; or the steps of an answer with their labels. */
function ratedOf(row: Row, system: string | undefined): FileTask {
  const { value } = row;
  if (value.chosen !== undefined || value.rejected !== undefined) return pairOf(row, system);
  if (value.labels === undefined) {
    if (value.label === undefined)
      throw new RowFault(`it has no "rejected", "label" or "labels"; its fields are ${fieldsOf(value)}`);
    const task = conversationOf(row, system);
    return { ...task, metadata: { ...task.metadata, label: labelOf(value.label, 'label') } };
  }
  const field = fieldOf(value, ['steps', 'completions']);
  const [steps, labels] = [value[field], value.labels];
  if (!Array.isArray(steps) || !Array.isArray(labels) || steps.length !== labels.length || !steps.length)
    throw new RowFault(`its ${field} and its labels are not two lists of the same length`);
  const answer = steps.map((step) => lineOf(step, field)).join('\n');
  const task = example(promptOf(row, system), { role: 'assistant', content: answer }, value);
  return { ...task, metadata: { ...task.metadata, labels: labels.map((label) => labelOf(label, 'label')) } };
}

const RATED =
  '{"question": "…", "chosen": "…", "rejected": "…"}, {"question": "…", "answer": "…", "label": true or false}, or {"question": "…", "steps": […], "labels": […]} on every line';
const CONVERSATION =
  '{"messages": […]} that ends with the assistant’s message (or "conversations"), or {"question": "…", "answer": "…"} (or "instruction" and "output") on every line';
const PAIR = '{"question": "…" or "messages": […], "chosen": "…", "rejected": "…"} on every line';

/** Reads all examples of a file; `readBeside` its images. Throws as `readTasks`. */
type ReadExamples = (
  name: string,
  bytes: FileBytes,
  system?: string,
  readBeside?: ReadBeside,
) => Promise<PlacedTask[]>;

const imageFields = { texts: ['instruction'], prompts: PROMPTS, image: 'image', images: 'images' };

const reading =
  (exampleOf: (row: Row, system: string | undefined) => FileTask, expected: string): ReadExamples =>
  (name, bytes, system, readBeside) =>
    readEach(name, bytes, (row) => exampleOf(row, system), expected, {
      imageFields,
      ...(readBeside ? { readBeside } : {}),
    });

/** All conversations of a file. */
export const readConversations = reading(conversationOf, CONVERSATION);

/** All pairs of a file. */
export const readPairs = reading(pairOf, PAIR);

/** All rated answers of a file: pairs, answers with a label, and answers with a label for each step. */
export const readRated = reading(ratedOf, RATED);

/** A repeat is the whole example again: a question may have several answers to learn from, and several pairs. */
export const exampleIdentity = ({ messages, answer, metadata }: PlacedTask): string =>
  JSON.stringify([messages, answer, metadata]);
