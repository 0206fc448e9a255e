/** Generated questions as a set of tasks, as files give one: what `npx rollmesh start --recipe grpo --policy words` trains on. */
import { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { type PlacedTask, questionKey } from '../file/task.ts';
import type { TaskSet } from '../file/task-set.ts';
import { drawQuestion, FAMILIES, type Family } from './questions.ts';

/** The name of the policy that these questions are for, and of its folder under models/. */
export const WORDS = 'words';
/** The same policy after it learned to read a solution beside the question. */
export const WORDS_AIDED = 'words-aided';

/** Whether questions are generated for the policy where a run names no files. */
export const isWordsPolicy = (name: string | undefined): boolean => name === WORDS || name === WORDS_AIDED;

/** Questions of each family to train on, and held out for the curve of a run. */
const TRAINED = 600;
const HELD_OUT = 40;

/** `count` questions of a family, none twice and none of `seen`, to which they are added. */
function drawTasks(random: Random, family: Family, count: number, seen: Set<string>): PlacedTask[] {
  return Array.from({ length: count }, (_, i): PlacedTask => {
    const task = drawUntil(
      () => {
        const { question, answer, metadata } = drawQuestion(random, family);
        return { messages: [{ role: 'user' as const, content: question }], answer, metadata };
      },
      (drawn) => !seen.has(questionKey(drawn)),
    );
    seen.add(questionKey(task));
    return { ...task, difficulty: null, file: family, line: i + 1 };
  });
}

/**
 * The six families in equal shares, always the same questions. None has the operands of a question of the evaluation files, and what is
 * held out here is in no part of training by reinforcement; the warm start may have seen it.
 */
export function wordsTaskSet(): Pick<TaskSet, 'sources' | 'heldOut'> {
  const random = new Random('words/tasks');
  const seen = new Set<string>();
  const heldOut = FAMILIES.map((family) => drawTasks(random, family, HELD_OUT, seen));
  // In turns, so that the first questions of the list are of all families.
  const inTurns = Array.from({ length: HELD_OUT }, (_, i) => heldOut.map((tasks) => tasks[i]!)).flat();
  const sources = FAMILIES.map((family) => ({ weight: 1, tasks: drawTasks(random, family, TRAINED, seen) }));
  return { sources, heldOut: inTurns };
}
