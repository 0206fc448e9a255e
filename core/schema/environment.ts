/**
 * What a server of the Open Reward Standard says (https://openrewardstandard.io): splits with numbered tasks, and sessions with a prompt,
 * tools, and the output of each call of a tool. Unknown fields are ignored.
 */
import * as v from 'valibot';
import { count, payment } from './numbers.ts';

export const environmentSplits = v.array(
  v.object({ name: v.pipe(v.string(), v.minLength(1)), type: v.picklist(['train', 'validation', 'test']) }),
);
export type EnvironmentSplit = v.InferOutput<typeof environmentSplits>[number];

/** What is said of a split when its tasks are counted; of a task when it is shown. */
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(64));
export const splitOrder = v.object({ split: name });
export const taskOrder = v.object({ split: name, index: count });
/** `env_name`: of the environment, as the standard calls it. Secrets and tasks of the caller's own are not taken. */
export const sessionOrder = v.object({ env_name: name, split: name, index: count });
export const sessionBegun = v.object({ sid: v.string() });
/** `task_id`: the number of a call that was made already, whose output is wanted once more. */
export const callOrder = v.object({
  name,
  input: v.optional(v.record(v.string(), v.unknown()), {}),
  task_id: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(64))), null),
});

export const environmentTaskCount = v.object({ num_tasks: count });

/** The task itself is the environment's own; what is wanted of it here is its reference answer, if it tells one. */
export const environmentTask = v.object({ task: v.record(v.string(), v.unknown()) });

/** Text, or an image, which no policy here can see. */
const block = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.string() }),
  v.object({ type: v.literal('image') }),
]);
export const environmentBlocks = v.array(block);
export type EnvironmentBlock = v.InferOutput<typeof block>;

export const textOf = (blocks: readonly EnvironmentBlock[]): string =>
  blocks.map((one) => (one.type === 'text' ? one.text : '(an image)')).join('\n');

/** `input_schema`: a JSON schema of an object; null where a tool takes nothing. */
const tool = v.object({
  name: v.pipe(v.string(), v.minLength(1)),
  description: v.string(),
  input_schema: v.optional(v.nullable(v.record(v.string(), v.unknown())), null),
});
export const environmentTools = v.object({ tools: v.pipe(v.array(tool), v.minLength(1)) });
export type EnvironmentTool = v.InferOutput<typeof tool>;

/** A call that failed is told to the policy. `reward`: null where this call is paid nothing; a NaN arrives as null, too. */
export const environmentOutput = v.variant('ok', [
  v.object({
    ok: v.literal(true),
    output: v.object({
      blocks: environmentBlocks,
      reward: v.optional(v.nullable(payment), null),
      finished: v.optional(v.boolean(), false),
    }),
  }),
  v.object({ ok: v.literal(false), error: v.string() }),
]);
export type EnvironmentOutput = v.InferOutput<typeof environmentOutput>;

/** What a file of tasks says in the metadata of a task that an environment sets. */
export const environmentPlace = v.object({
  environment: v.pipe(v.string(), v.minLength(1)),
  split: v.pipe(v.string(), v.minLength(1)),
  index: count,
});
export type EnvironmentPlace = v.InferOutput<typeof environmentPlace>;
