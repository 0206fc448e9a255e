/** A file of questions: one JSON object a line, a question with its answer or a task of the arithmetic family. */
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import { arithmetic, runningTotals } from '../../core/tasks/arithmetic.ts';
import type { Question } from '../../core/text/answers.ts';
import { readLines } from './files.ts';

const question = v.object({
  question: v.pipe(v.string(), v.minLength(1)),
  answer: v.string(),
  metadata: v.optional(v.record(v.string(), v.unknown())),
});
const task = v.object({ task: v.string() });

const wrong = (line: number, what: string, expected: string) =>
  wrongInput('tasks.line', `Line ${line}: ${what}`, { expected });

const EXPECTED = 'an object like {"question": "…", "answer": "…"}, or {"task": "3+4-9"}';

/** A task of the arithmetic family is its own question; the answer is the oracle's. */
function fromTask(text: string, line: number): Question {
  const reading = arithmetic.readProposal(`${text}${arithmetic.stop}`);
  if (!reading.ok)
    throw wrong(
      line,
      `the task is ${JSON.stringify(text.slice(0, 40))}.`,
      '2 to 6 digits joined by + or -, such as "3+4-9"',
    );
  return { question: text, answer: String(runningTotals(text).at(-1)) };
}

function parseLine(text: string, line: number): Question {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw wrong(line, text.trim() === '' ? 'it is empty.' : 'it is not JSON.', EXPECTED);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw wrong(line, 'it is no JSON object.', EXPECTED);
  const asTask = v.safeParse(task, json);
  if (asTask.success) return fromTask(asTask.output.task, line);
  const asQuestion = v.safeParse(question, json);
  if (asQuestion.success) {
    const { metadata, ...rest } = asQuestion.output;
    return metadata ? { ...rest, metadata } : rest;
  }
  const issue = asQuestion.issues[0];
  const path = v.getDotPath(issue);
  throw wrong(line, `${path}: ${issue.message}.`, EXPECTED);
}

/**
 * The first `limit` questions of a file.
 *
 * @throws RollmeshError `tasks.line` with the line's number (from 1), or `file.*`.
 */
export const readQuestions = async (path: string, limit = Number.POSITIVE_INFINITY): Promise<Question[]> =>
  (await readLines(path)).slice(0, limit).map((text, i) => parseLine(text, i + 1));
