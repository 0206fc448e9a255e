/** A message of a conversation, as tasks, chat templates and the usual chat interfaces write it. */
import * as v from 'valibot';

/** A call of a tool by the assistant. */
const toolCall = v.looseObject({
  type: v.optional(v.literal('function')),
  function: v.object({ name: v.string(), arguments: v.unknown() }),
});

export const message = v.object({
  role: v.picklist(['system', 'user', 'assistant', 'tool']),
  content: v.string(),
  name: v.optional(v.string()),
  tool_calls: v.optional(v.array(toolCall)),
  tool_call_id: v.optional(v.string()),
});
export type Message = v.InferOutput<typeof message>;

/** A tool that the assistant may call, as an OpenAI-style function with a JSON schema. */
export type Tool = Readonly<Record<string, unknown>>;
