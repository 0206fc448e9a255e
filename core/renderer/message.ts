/** A message of a conversation, as tasks, chat templates and the usual chat interfaces write it. */
import * as v from 'valibot';
import { DEEPEST, isShallow } from '../text/nesting.ts';

/** A call of a tool by the assistant. */
const toolCall = v.looseObject({
  type: v.optional(v.literal('function')),
  function: v.object({ name: v.string(), arguments: v.unknown() }),
});

export const message = v.object({
  role: v.picklist(['system', 'user', 'assistant', 'tool']),
  content: v.string(),
  name: v.optional(v.string()),
  /** What the assistant thought before its answer, for templates that write it apart. */
  reasoning_content: v.optional(v.string()),
  tool_calls: v.optional(v.array(toolCall)),
  tool_call_id: v.optional(v.string()),
  /** Of a message of the assistant in a conversation to learn from: 0 where nothing is learned from it. */
  weight: v.optional(v.picklist([0, 1])),
});
export type Message = v.InferOutput<typeof message>;

/** A tool that the assistant may call, as an OpenAI-style function with a JSON schema. */
export type Tool = Readonly<Record<string, unknown>>;

/**
 * The arguments of a call as the object that chat templates write, whether they came as an object or as its JSON text, as OpenAI has it. Text that is no
 * JSON stays text; null where they are nested deeper than `DEEPEST`.
 */
export function callArguments(given: unknown): { readonly value: unknown } | null {
  let value = given;
  if (typeof given === 'string')
    try {
      value = JSON.parse(given);
    } catch {
      return { value: given };
    }
  return isShallow(value) ? { value } : null;
}

export const TOO_DEEP_ARGUMENTS = `the arguments of a call are nested deeper than ${DEEPEST} levels`;
