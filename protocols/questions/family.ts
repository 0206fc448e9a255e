/**
 * Questions with reference answers as a task family, so that the protocols of solvers and verifiers play them with any policy. A solver is
 * asked in the question's own messages; a verifier is shown the solution in a message and answers yes or no. A whole solution is
 * one step, because the texts of other people's models have no marks for steps.
 */
import type { Wordings } from '../../core/game/game.ts';
import type { Verb } from '../../core/game/verbs.ts';
import type { Random } from '../../core/random.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import type { Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import { drawFileTasks } from '../../worlds/file/sampler.ts';
import type { Questions } from './round.ts';
import { isProposed, readTask, writeTask } from './task-text.ts';

type FamilyQuestions = Pick<Questions, 'name' | 'tasks' | 'checker' | 'maxNew' | 'examined'>;

const unrendered = (): never => {
  throw new Error('internal: questions were asked without the renderer of a policy');
};
const noProposals = (): never => {
  throw new Error('internal: nobody proposes questions of files');
};

/** The methods that need a policy's renderer. */
function asked(
  { solve, verify }: Pick<Wordings<Verb>, 'solve' | 'verify'>,
  renderer: Renderer,
): Partial<TaskFamily> {
  const speaker = { renderer: () => renderer };
  return {
    solverPrompt: (task) => solve.ask({ task }, speaker),
    judgePrompt: (task, solution) => verify.ask({ task, solution }, speaker),
    parseSolution: (task, text) => solve.read(text, { task }, speaker),
    // What is asked does not say how a verdict is read.
    parseJudgment: (solution, text) => verify.read(text, { task: '', solution }, speaker),
  };
}

export function questionFamily(
  { name, tasks, checker, maxNew, examined = Number.POSITIVE_INFINITY }: FamilyQuestions,
  words: Pick<Wordings<Verb>, 'solve' | 'verify'>,
): TaskFamily {
  const heldOut = tasks.heldOut.map(writeTask);
  const answerIsExact = (task: string, { answer }: Solution) => {
    if (isProposed(task)) return false;
    const verdict = checker.prepare(readTask(task))(answer);
    return verdict.ok && verdict.value;
  };
  const family: TaskFamily = {
    name,
    maxNew: { proposer: maxNew, solver: maxNew, judge: maxNew },
    stop: '',
    workedPrefix: '',
    renderedBy: (renderer) => ({ ...family, ...asked(words, renderer) }),
    random: (random: Random) => writeTask(drawFileTasks(random, tasks.sources, 1)[0]!),
    heldOut: ({ heldOut: isHeldOut, most } = HELD_OUT) => {
      const side = isHeldOut ? heldOut : tasks.sources.flatMap((source) => source.tasks.map(writeTask));
      return side.slice(0, Math.min(examined, most));
    },
    isHeldOut: (task) => heldOut.includes(task),
    difficulty: (task) => readTask(task).difficulty ?? 0,
    proposerPrompt: noProposals,
    solverPrompt: unrendered,
    judgePrompt: unrendered,
    parseProposal: noProposals,
    parseSolution: unrendered,
    parseJudgment: unrendered,
    isUnlabelled: isProposed,
    answerIsExact,
    exactJudgment: (task, solution) => {
      const right = answerIsExact(task, solution);
      return { steps: [right], right };
    },
  };
  return family;
}
