/**
 * Questions with reference answers as a task family, so that the protocols of solvers and verifiers play them with any policy. A whole solution is
 * one step, because the texts of other people's models have no marks for steps.
 */
import type { Checker } from '../../core/checkers/checker.ts';
import type { Extraction } from '../../core/checkers/extract.ts';
import type { Wordings } from '../../core/game/game.ts';
import type { Verb } from '../../core/game/verbs.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { drawTask } from '../file/sampler.ts';
import type { GivenTasks } from '../file/stored-set.ts';
import { tasksHere } from '../file/stored-tasks.ts';
import { messageFamily } from '../message-family.ts';
import { isProposed, readTask, writeTask } from './task-text.ts';

/** A set of questions, and what says whether an answer is right. */
export interface QuestionSet {
  /** Name of the set, for reports. */
  readonly name: string;
  readonly tasks: GivenTasks;
  readonly checker: Checker;
  /** Where to look for the answer in the text, in this order. */
  readonly extract: readonly Extraction[];
  /** Longest answer in tokens, its end included. */
  readonly maxNew: number;
  /** The largest number of held-out questions in an evaluation; the first ones are used. */
  readonly examined?: number;
}

export function questionFamily(
  { name, tasks, checker, maxNew, examined = Number.POSITIVE_INFINITY }: Omit<QuestionSet, 'extract'>,
  words: Pick<Wordings<Verb>, 'solve' | 'verify'>,
): TaskFamily {
  const heldOut = tasks.heldOut.map(writeTask);
  const own = {
    name,
    random: (random) => writeTask(drawTask(random, tasks.sources)),
    heldOut: ({ heldOut: isHeldOut, most } = HELD_OUT) => {
      const side = isHeldOut ? heldOut : tasksHere(tasks).map(writeTask);
      return side.slice(0, Math.min(examined, most));
    },
    isHeldOut: (task) => heldOut.includes(task),
    difficulty: (task) => readTask(task).difficulty ?? 0,
    isUnlabelled: isProposed,
    answerIsExact: (task, { answer }) => {
      if (isProposed(task)) return false;
      const verdict = checker.prepare(readTask(task))(answer);
      return verdict.ok && verdict.value;
    },
  } satisfies Partial<TaskFamily>;
  return messageFamily(own, maxNew, words);
}
