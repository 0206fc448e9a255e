/** A question as the text that travels with a round. It is complete, so that no stage has to look anything up. */
import * as v from 'valibot';
import type { SearchStep } from '../../core/game/verbs.ts';
import { deriveId } from '../../core/random.ts';
import type { Part } from '../../core/recipe/reading.ts';
import { shownQuestion } from '../../core/recipe/rubric.ts';
import { type Message, message } from '../../core/renderer/message.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { FileTask } from '../file/task.ts';

const schema = v.object({
  messages: v.array(message),
  answer: v.string(),
  solution: v.exactOptional(v.string()),
  metadata: v.record(v.string(), v.unknown()),
  difficulty: v.nullable(finite),
  /** A policy wrote the question, and its answer is not known. */
  proposed: v.optional(v.literal(true)),
});

/** The same task gives the same text, wherever it was read from. */
export const writeTask = ({ messages, answer, solution, metadata, difficulty }: FileTask): string =>
  JSON.stringify({ messages, answer, ...(solution === undefined ? {} : { solution }), metadata, difficulty });

/** Half an id of a task's text: few enough characters for the questions of a large file. */
export const textKey = (task: string): string => deriveId('question', task).slice(0, 16);

/** The key by which a curriculum draws a task. */
export const taskKey = (task: FileTask): string => textKey(writeTask(task));

/** A question that a policy wrote and that has no reference answer. */
export const writeProposed = (messages: readonly Message[]): string =>
  JSON.stringify({ messages, answer: '', metadata: {}, difficulty: null, proposed: true });

/** A question that a policy wrote with an answer of its own, and what it had found: no reference says that the answer is right. */
export const writeExamined = (
  messages: readonly Message[],
  answer: string,
  path: readonly SearchStep[],
): string => JSON.stringify({ messages, answer, metadata: { path }, difficulty: null, proposed: true });

const path = v.object({
  path: v.array(v.object({ query: v.string(), found: v.array(v.string()), useful: v.null() })),
});
/** Throws where nobody wrote it so. */
export const pathIn = (task: string): SearchStep[] => v.parse(path, readTask(task).metadata).path;

/** Throws where the text is not this protocol's, which means that the records are another recipe's. */
export const readTask = (text: string): FileTask => v.parse(schema, JSON.parse(text));

/** Whether it is a question without a reference answer. Throws as `readTask` does. */
export const isProposed = (text: string): boolean => v.parse(schema, JSON.parse(text)).proposed === true;

/** The question as a person reads it. */
export const questionTitle = (task: string): Part[] => [
  { kind: 'text', text: shownQuestion(readTask(task).messages) },
];
