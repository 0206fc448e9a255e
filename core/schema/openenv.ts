/**
 * What a server of OpenEnv says (https://github.com/huggingface/OpenEnv): the schema of its actions over HTTP, and over a WebSocket the
 * observations of one session, its state, and the tools of an environment that speaks the Model Context Protocol. Unknown fields are ignored.
 */
import * as v from 'valibot';
import { environmentPlace } from './environment.ts';
import { count, payment } from './numbers.ts';

const object = v.record(v.string(), v.unknown());

/** `action`: the JSON schema of an action. */
export const openEnvSchemas = v.object({ action: object });
export type ActionSchema = v.InferOutput<typeof object>;

/** What `reset` and `step` answer. A reward may be a truth value; null where nothing is paid, and a NaN arrives as null, too. */
export const openEnvObservation = v.object({
  observation: object,
  reward: v.optional(
    v.nullable(
      v.union([
        payment,
        v.pipe(
          v.boolean(),
          v.transform((paid) => (paid ? 1 : 0)),
        ),
      ]),
    ),
    null,
  ),
  done: v.optional(v.boolean(), false),
});
export type OpenEnvObservation = v.InferOutput<typeof openEnvObservation>;

/** `code`: one of the server's, as `VALIDATION_ERROR`; `errors`: what was wrong with an action. */
const openEnvError = v.object({
  message: v.optional(v.string(), ''),
  code: v.optional(v.string(), 'UNKNOWN'),
  errors: v.optional(
    v.array(v.object({ loc: v.optional(v.array(v.union([v.string(), count])), []), msg: v.string() })),
    [],
  ),
});
export type OpenEnvError = v.InferOutput<typeof openEnvError>;

/** A message of the server. */
export const openEnvMessage = v.variant('type', [
  v.object({ type: v.literal('observation'), data: openEnvObservation }),
  v.object({ type: v.literal('state'), data: object }),
  v.object({ type: v.literal('mcp'), data: object }),
  v.object({ type: v.literal('error'), data: openEnvError }),
]);
export type OpenEnvMessage = v.InferOutput<typeof openEnvMessage>;

const tool = v.pipe(
  v.object({
    name: v.pipe(v.string(), v.minLength(1)),
    description: v.optional(v.nullable(v.string()), null),
    input_schema: v.optional(v.nullable(object)),
    // As the Model Context Protocol itself writes it.
    inputSchema: v.optional(v.nullable(object)),
  }),
  v.transform(({ name, description, input_schema, inputSchema }) => ({
    name,
    description: description ?? '',
    input_schema: input_schema ?? inputSchema ?? null,
  })),
);
/** The answer to `tools/list`. */
export const openEnvTools = v.object({ result: v.object({ tools: v.pipe(v.array(tool), v.minLength(1)) }) });

/** What an observation of a called tool says: a result of the Model Context Protocol, or why there is none. */
export const openEnvToolResult = v.object({
  tool_name: v.string(),
  result: v.unknown(),
  error: v.optional(v.nullable(v.object({ message: v.string() })), null),
});
export const mcpResult = v.object({
  content: v.array(v.looseObject({ type: v.string(), text: v.optional(v.string()) })),
  is_error: v.optional(v.boolean(), false),
});

/** What a file of tasks says in the metadata of a task that an environment of OpenEnv sets. */
export const openEnvPlace = v.object({
  protocol: v.literal('openenv'),
  /** What `reset` is given: the seed, and what else the environment takes. */
  reset: object,
  /** Said to the policy before the first observation. */
  instructions: v.optional(v.string()),
  /** The fields of an observation that the policy reads; all where there are none. */
  show: v.optional(v.pipe(v.array(v.string()), v.readonly())),
});
export type OpenEnvPlace = v.InferOutput<typeof openEnvPlace>;

/** A task that an environment of either protocol sets. */
export const environmentSetTask = v.object({ metadata: v.union([environmentPlace, openEnvPlace]) });
