/** A question of a file as the text that travels with a round: whole, so that no stage has to look anything up. */
import * as v from 'valibot';
import { message } from '../../core/renderer/message.ts';
import type { FileTask } from '../../tasks/file/task.ts';

const schema = v.object({
  messages: v.array(message),
  answer: v.string(),
  metadata: v.record(v.string(), v.unknown()),
  difficulty: v.nullable(v.number()),
});

/** The same task gives the same text: nothing of where it was read from. */
export const writeTask = ({ messages, answer, metadata, difficulty }: FileTask): string =>
  JSON.stringify({ messages, answer, metadata, difficulty });

/** Throws where the text is none of this protocol's: the records are of another recipe. */
export const readTask = (text: string): FileTask => v.parse(schema, JSON.parse(text));
