/**
 * Questions with reference answers as a task family, so that the protocols of solvers and verifiers play them with any policy. A solver is
 * asked in the question's own messages; a verifier is shown the solution in a message and answers yes or no. A whole solution is
 * one step, because the texts of other people's models have no marks for steps.
 */
import { extractAnswer } from '../../core/checkers/extract.ts';
import type { Random } from '../../core/random.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import {
  invalid,
  type Judgment,
  ok,
  type ParseResult,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import { verifierMessages } from '../../core/renderer/role-messages.ts';
import { drawFileTasks } from '../../worlds/file/sampler.ts';
import type { Questions } from './round.ts';
import { isProposed, readTask, writeTask } from './task-text.ts';

type FamilyQuestions = Pick<Questions, 'name' | 'tasks' | 'checker' | 'extract' | 'maxNew' | 'examined'>;

const unrendered = (): never => {
  throw new Error('internal: questions were asked without the renderer of a policy');
};
const noProposals = (): never => {
  throw new Error('internal: nobody proposes questions of files');
};

/** `yes` or `no` in the place of the answer, otherwise the last of the two words in the text. */
function parseVerdict({ readText }: Renderer, text: string): ParseResult<Judgment> {
  const written = readText(text).text;
  const found = extractAnswer(written, ['answer', 'whole']);
  const words = found.ok ? found.value.toLowerCase().match(/\b(?:yes|no)\b/g) : null;
  if (!words) return invalid('off-grammar');
  const right = words.at(-1) === 'yes';
  return ok({ steps: [right], right });
}

/** The methods that need a policy's renderer. */
function asked({ extract }: FamilyQuestions, renderer: Renderer): Partial<TaskFamily> {
  return {
    solverPrompt: (task) => renderer.begin(readTask(task).messages).text,
    judgePrompt: (task, { steps }) =>
      renderer.begin(verifierMessages(readTask(task).messages, steps[0]!)).text,
    parseSolution: (_, text): ParseResult<Solution> => {
      const written = renderer.readText(text).text;
      // A verifier is shown the text, so nothing in it may look like the border of a message.
      if (renderer.holdsControl(written)) return invalid('off-grammar');
      const answer = extractAnswer(written, extract);
      return answer.ok ? ok({ steps: [written], answer: answer.value }) : invalid('off-grammar');
    },
    parseJudgment: (_, text) => parseVerdict(renderer, text),
  };
}

export function questionFamily(questions: FamilyQuestions): TaskFamily {
  const { name, tasks, checker, maxNew, examined = Number.POSITIVE_INFINITY } = questions;
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
    renderedBy: (renderer) => ({ ...family, ...asked(questions, renderer) }),
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
