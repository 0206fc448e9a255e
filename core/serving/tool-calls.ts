/**
 * Calls of tools in a model's answer, as its chat template taught it to write them: JSON between `<tool_call>` tags (Qwen 2.5 and 3, Hermes,
 * SmolLM2), or an answer that is nothing but one JSON object (Llama 3).
 */
import * as v from 'valibot';

/** How a policy writes calls. */
export type CallStyle = 'tags' | 'json';

export interface ToolCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export const CALL_TAG = '<tool_call>';
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

/** The style that a prompt with tools teaches: the template names the tags, or it does not. */
export const callStyle = (prompt: string): CallStyle => (prompt.includes(CALL_TAG) ? 'tags' : 'json');

/** The calls in an answer, and the text beside them. An answer whose calls cannot be read stays text, whole. */
export function parseCalls(
  text: string,
  style: CallStyle,
): { readonly text: string; readonly calls: ToolCall[] } {
  const parts = style === 'json' ? [text] : [...text.matchAll(CALLS)].map(([, inner]) => inner!);
  const calls = parts.map((part) => callOf(part.trim()));
  if (calls.length === 0 || calls.includes(undefined)) return { text, calls: [] };
  return { text: style === 'json' ? '' : text.replace(CALLS, '').trim(), calls: calls as ToolCall[] };
}
