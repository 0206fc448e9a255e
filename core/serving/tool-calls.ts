/**
 * Calls of tools in a model's answer, as its chat template taught it to write them: JSON between `<tool_call>` tags (Qwen 2.5 and 3, Hermes,
 * SmolLM2), an answer that is nothing but one JSON object (Llama 3), or a notation of the policy's own, which its template writes itself.
 */
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../errors.ts';
import type { Message, Tool } from '../renderer/message.ts';
import type { Renderer } from '../renderer/renderer.ts';
import type { WrittenCall } from '../text/json-form.ts';

/** A tool whose calls a policy writes as one text between two others. */
export interface OwnCall {
  readonly name: string;
  /** The tool's one argument, a text. */
  readonly argument: string;
  readonly before: string;
  /** Empty where the end of the answer ends the call. */
  readonly after: string;
}

/** How a policy writes calls. */
export type CallStyle = 'tags' | 'json' | readonly OwnCall[];

export interface ToolCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

const CALL_TAG = '<tool_call>';
const CALLS = /<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g;

const written = v.looseObject({
  name: v.string(),
  arguments: v.optional(v.unknown()),
  parameters: v.optional(v.unknown()),
});

function callOf(text: string): ToolCall | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const result = v.safeParse(written, value);
  if (!result.success) return undefined;
  const { name, arguments: given = result.output.parameters ?? {} } = result.output;
  return { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
}

const described = v.looseObject({
  function: v.looseObject({
    name: v.string(),
    parameters: v.looseObject({
      properties: v.record(v.string(), v.looseObject({ type: v.literal('string') })),
    }),
  }),
});

/** Stands for an argument where the template is asked how it writes a call. */
const PROBE = 'argument';

/** How the template writes a call of a tool with one argument, a text; undefined where it does not write the argument, or where the tool is another. */
function ownCall(renderer: Renderer, tool: Tool, tools: readonly Tool[]): OwnCall | undefined {
  const result = v.safeParse(described, tool);
  if (!result.success) return undefined;
  const { name, parameters } = result.output.function;
  const [argument, ...others] = Object.keys(parameters.properties);
  if (argument === undefined || others.length) return undefined;
  const asked: Message = { role: 'user', content: 'question' };
  const call = { type: 'function' as const, function: { name, arguments: { [argument]: PROBE } } };
  try {
    const { text } = renderer.demonstrate(
      [asked, { role: 'assistant', content: '', tool_calls: [call] }],
      tools,
    )[0]!;
    const written = renderer.readText(text.slice(renderer.begin([asked], tools).text.length)).text;
    const at = written.indexOf(PROBE);
    // Without a text before it, a call could not be told from an answer.
    if (at < 1) return undefined;
    return { name, argument, before: written.slice(0, at), after: written.slice(at + PROBE.length) };
  } catch (error) {
    // A template that refuses calls.
    if (error instanceof RollmeshError) return undefined;
    throw error;
  }
}

/**
 * How calls of these tools are written in the answers of a conversation: as the template tells the policy, where it does; else as the template itself
 * writes calls, which a policy that was taught its tools needs not be told. Throws `serving.tools` where it does neither.
 */
export function callStyle(
  renderer: Renderer,
  messages: readonly Message[],
  tools: readonly Tool[],
): CallStyle {
  // How the conversation went on says nothing of tools.
  const answered = messages.findIndex(({ role }) => role === 'assistant');
  const opening = answered < 1 ? messages : messages.slice(0, answered);
  const { text } = renderer.begin(opening, tools);
  if (text !== renderer.begin(opening).text) return text.includes(CALL_TAG) ? 'tags' : 'json';
  const own = tools.flatMap((tool) => ownCall(renderer, tool, tools) ?? []);
  if (own.length === tools.length && new Set(own.map(({ before }) => before)).size === own.length) return own;
  throw wrongInput('serving.tools', 'The chat template of this policy does not know these tools.', {
    next: 'Leave `tools` out, or describe them in a message.',
  });
}

/** The strings with which a call may begin inside an answer. */
export const callMarks = (style: CallStyle): string[] =>
  style === 'json' ? [] : style === 'tags' ? [CALL_TAG] : style.map(({ before }) => before);

const named = v.looseObject({
  function: v.looseObject({
    name: v.string(),
    parameters: v.nullish(v.record(v.string(), v.unknown())),
  }),
});

/** How one call of each of these tools may be written where an answer is held to a form. Throws `serving.tools` where nothing but the answer’s end ends a call. */
export function writtenCalls(style: CallStyle, tools: readonly Tool[]): WrittenCall[] {
  if (typeof style !== 'string') {
    const endless = style.find(({ after }) => after === '');
    if (endless)
      throw wrongInput(
        'serving.tools',
        `This policy ends a call of ${endless.name} by ending its answer, which a form of JSON does not allow.`,
        { next: 'Leave response_format out, or the tools.' },
      );
    return style.map(({ before, after }) => ({ before, given: 'text', after }));
  }
  return tools.flatMap((tool) => {
    const { name, parameters } = v.parse(named, tool).function;
    const given = parameters && Object.keys(parameters).length ? { schema: parameters } : 'object';
    const called = JSON.stringify(name);
    return style === 'tags'
      ? { before: `${CALL_TAG}\n{"name": ${called}, "arguments": `, given, after: '}\n</tool_call>' }
      : { before: `{"name": ${called}, "parameters": `, given, after: '}' };
  });
}

interface ReadAnswer {
  readonly text: string;
  readonly calls: ToolCall[];
}

/** The first call in the policy's own notation, and the text before it. */
function parseOwnCall(text: string, own: readonly OwnCall[], ended: boolean): ReadAnswer {
  const found = own.flatMap(({ name, argument, before, after }) => {
    const at = text.indexOf(before);
    const from = at + before.length;
    const end = after ? text.indexOf(after, from) : ended ? text.length : -1;
    return at < 0 || end <= from ? [] : { at, name, argument, given: text.slice(from, end) };
  });
  const [first] = found.sort((a, b) => a.at - b.at);
  if (!first) return { text, calls: [] };
  const { at, name, argument, given } = first;
  return {
    text: text.slice(0, at).trim(),
    calls: [{ name, arguments: JSON.stringify({ [argument]: given }) }],
  };
}

/**
 * The calls in an answer, and the text beside them. An answer whose calls cannot be read stays text, whole. `ended`: it was not cut off. `written`: the
 * only ways in which a call may be written, where the answer was held to a form, whose strings may look like calls.
 */
export function parseCalls(
  text: string,
  style: CallStyle,
  ended: boolean,
  written?: readonly WrittenCall[],
): ReadAnswer {
  if (written && !written.some(({ before }) => text.startsWith(before))) return { text, calls: [] };
  if (typeof style !== 'string') return parseOwnCall(text, style, ended);
  const parts = style === 'json' ? [text] : [...text.matchAll(CALLS)].map(([, inner]) => inner!);
  const calls = parts.map((part) => callOf(part.trim()));
  if (calls.length === 0 || calls.includes(undefined)) return { text, calls: [] };
  return { text: style === 'json' ? '' : text.replace(CALLS, '').trim(), calls: calls as ToolCall[] };
}
