/**
 * Questions with reference answers as a task family, so that the protocols of solvers and verifiers play them with any policy. A whole solution is
 * one step, because the texts of other people's models have no marks for steps.
 */
import type { Wordings } from '../../core/game/game.ts';
import type { Verb } from '../../core/game/verbs.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { drawFileTasks } from '../../worlds/file/sampler.ts';
import { messageFamily } from '../message-family.ts';
import type { Questions } from './round.ts';
import { isProposed, readTask, writeTask } from './task-text.ts';

type FamilyQuestions = Pick<Questions, 'name' | 'tasks' | 'checker' | 'maxNew' | 'examined'>;

export function questionFamily(
  { name, tasks, checker, maxNew, examined = Number.POSITIVE_INFINITY }: FamilyQuestions,
  words: Pick<Wordings<Verb>, 'solve' | 'verify'>,
): TaskFamily {
  const heldOut = tasks.heldOut.map(writeTask);
  const own = {
    name,
    random: (random) => writeTask(drawFileTasks(random, tasks.sources, 1)[0]!),
    heldOut: ({ heldOut: isHeldOut, most } = HELD_OUT) => {
      const side = isHeldOut ? heldOut : tasks.sources.flatMap((source) => source.tasks.map(writeTask));
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
