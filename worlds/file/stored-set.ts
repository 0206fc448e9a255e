/** Tasks of files as plain data: the schema of what a recipe carries from the command that read the files to every process of a run. */
import * as v from 'valibot';
import { message } from '../../core/renderer/message.ts';
import { finite } from '../../core/schema/numbers.ts';

const task = v.object({
  messages: v.pipe(v.array(message), v.minLength(1)),
  answer: v.string(),
  solution: v.exactOptional(v.string()),
  metadata: v.record(v.string(), v.unknown()),
  difficulty: v.nullable(finite),
  file: v.string(),
  line: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
});

export const storedSources = v.pipe(
  v.array(
    v.object({
      weight: v.pipe(v.number(), v.minValue(Number.MIN_VALUE), v.finite()),
      tasks: v.pipe(v.array(task), v.minLength(1)),
    }),
  ),
  v.minLength(1),
);
export const storedHeldOut = v.pipe(v.array(task), v.minLength(1));
