/** A task that was read from a file: what is asked, what is right, and where it stands. */
import type { Message } from '../../core/renderer/message.ts';

/** The fields of a row that are read; all others are metadata. */
export const TASK_FIELDS = [
  'question',
  'messages',
  'image',
  'images',
  'answer',
  'solution',
  'metadata',
] as const;

export interface FileTask {
  /** Ends with a message of the user or of a tool: the assistant is to answer. */
  readonly messages: readonly Message[];
  /** The reference answer; empty where the checker needs none. */
  readonly answer: string;
  /** A worked solution, where the file has one. */
  readonly solution?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** How hard it is, where the file has a field that says so. */
  readonly difficulty: number | null;
}

/** A task with its place, for messages to the person who wrote the file. */
export interface PlacedTask extends FileTask {
  readonly file: string;
  /** Line of a JSONL or CSV file, row of a Parquet file; both from 1. */
  readonly line: number;
}

/**
 * What makes two tasks the same question: the text of all messages, without regard to case, white space and Unicode composition, and the calls of
 * tools in them. Both go to the same side of a split, and one in training and one held out is a leak.
 */
export const questionKey = ({ messages }: Pick<FileTask, 'messages'>): string =>
  messages
    .map(({ role, content, tool_calls: calls }) => {
      const text = content.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
      const called = calls?.map(({ function: { name, arguments: given } }) => [name, given]);
      return `${role}: ${text}${called ? ` ${JSON.stringify(called)}` : ''}`;
    })
    .join('\n');
