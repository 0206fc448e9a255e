/** What users want who ask the questions of files: a row may have its own needs, and without them its user wants the right answer. */
import * as v from 'valibot';
import { extractAnswer } from '../../core/checkers/extract.ts';
import type { UserNeed } from '../../core/game/game.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { mentions } from '../../core/text/mentions.ts';
import type { FileTask } from '../file/task.ts';
import type { QuestionSet } from './family.ts';
import { readTask } from './task-text.ts';

const text = v.pipe(v.string(), v.trim(), v.minLength(1));
/** The field `needs` of a row: what its user wants, and words any of which a reply must have to give it. */
const needs = v.pipe(
  v.array(v.object({ wants: text, words: v.pipe(v.array(text), v.minLength(1)) })),
  v.minLength(1),
);

/** The needs of a row, none where it has no such field; null where the field is something else. */
export function needsIn({ metadata }: Pick<FileTask, 'metadata'>): v.InferOutput<typeof needs> | null {
  if (metadata.needs === undefined) return [];
  const parsed = v.safeParse(needs, metadata.needs);
  return parsed.success ? parsed.output : null;
}

export const needsOf =
  ({ extract, answerIsExact }: Pick<QuestionSet, 'extract'> & Pick<TaskFamily, 'answerIsExact'>) =>
  (task: string): UserNeed[] => {
    const own = needsIn(readTask(task)) ?? [];
    if (own.length)
      return own.map(({ wants, words }) => ({
        wants,
        told: words.join(' or '),
        isMet: (reply) => words.some((word) => mentions(reply, word)),
      }));
    const isMet = (reply: string): boolean => {
      const found = extractAnswer(reply, extract);
      return found.ok && answerIsExact(task, { steps: [reply], answer: found.value });
    };
    return [{ wants: 'the right answer', told: readTask(task).answer, isMet }];
  };
