/** Task families that are asked in messages: prompts are written and texts are read by the renderer of the policy that plays. */
import type { Game, Wordings } from '../core/game/game.ts';
import type { Verb } from '../core/game/verbs.ts';
import type { Solution, TaskFamily } from '../core/recipe/task-family.ts';
import type { Renderer } from '../core/renderer/renderer.ts';

const unrendered = (): never => {
  throw new Error('internal: a family in messages was asked without the renderer of a policy');
};
const unasked = (): never => {
  throw new Error('internal: a family in messages was asked what its world does not say');
};

type Asked = Pick<Wordings<Verb>, 'solve'> & Partial<Pick<Wordings<Verb>, 'verify'>>;

/** The methods that need a policy's renderer. */
function renderedBy({ solve, verify }: Asked, renderer: Renderer): Partial<TaskFamily> {
  const speaker = { renderer: () => renderer };
  return {
    solverPrompt: (task) => solve.ask({ task }, speaker),
    judgePrompt: (task, solution) => (verify ?? unasked()).ask({ task, solution }, speaker),
    parseSolution: (task, text) => solve.read(text, { task }, speaker),
    // What is asked does not say how a verdict is read.
    parseJudgment: (solution, text) => (verify ?? unasked()).read(text, { task: '', solution }, speaker),
  };
}

/** The tasks and their oracle as a family. An oracle that knows answers alone says the same of every step. */
export function messageFamily(
  tasks: Pick<
    TaskFamily,
    'name' | 'random' | 'heldOut' | 'isHeldOut' | 'difficulty' | 'isUnlabelled' | 'answerIsExact'
  >,
  maxNew: number,
  words: Asked,
): TaskFamily {
  const family: TaskFamily = {
    ...tasks,
    maxNew: { proposer: maxNew, solver: maxNew, judge: words.verify?.maxNew ?? maxNew },
    stop: '',
    workedPrefix: '',
    renderedBy: (renderer) => ({ ...family, ...renderedBy(words, renderer) }),
    proposerPrompt: unasked,
    solverPrompt: unrendered,
    judgePrompt: unrendered,
    parseProposal: unasked,
    parseSolution: unrendered,
    parseJudgment: unrendered,
    exactJudgment: (task, solution: Solution) => {
      const right = tasks.answerIsExact(task, solution);
      return { steps: solution.steps.map(() => right), right };
    },
  };
  return family;
}

/** What a role wrote as others can be shown it: nothing where it holds what would pass for the border of a message. */
export const saidInMessages: Game['said'] = (text, speaker) => {
  const renderer = speaker.renderer();
  const said = renderer.readText(text).text;
  return renderer.holdsControl(said) ? '' : said;
};
