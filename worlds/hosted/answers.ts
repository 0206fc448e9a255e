/**
 * Tasks of one answer, served to policies that others train: the question, a tool that takes the answer and ends the episode, and a reward by the
 * checker that pays the same answer in a run.
 */
import type { Checker } from '../../core/checkers/checker.ts';
import type { Extraction } from '../../core/checkers/extract.ts';
import type {
  HostedEnvironment,
  HostedSplit,
  HostedTask,
  HostedTool,
} from '../../core/episodes/hosted-environment.ts';
import { Random } from '../../core/random.ts';
import { shownQuestion } from '../../core/recipe/rubric.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import type { GivenTasks } from '../file/stored-set.ts';
import { tasksHere, traitsOf } from '../file/stored-tasks.ts';
import { checkAnswer } from '../questions/check-answer.ts';

/** Tasks of a family's `train` split: each is drawn by its number, so that none is stored. */
const TRAINING_TASKS = 10_000;

const submit = (answer: object, more: Readonly<Record<string, object>> = {}): HostedTool => ({
  name: 'submit',
  description: 'Answers the question, and ends the episode.',
  input_schema: {
    type: 'object',
    properties: { ...more, answer: { type: 'string', ...answer } },
    required: ['answer'],
    additionalProperties: false,
  },
});

/** `score`: from 0, wrong, to 1, right. */
const said = (score: number, why = score === 0 ? 'Wrong.' : `Worth ${score} of 1.`) => ({
  text: score === 1 ? 'Right.' : why,
  reward: score,
  finished: true,
});

/** What may stand between the tags of a solution. */
const BETWEEN_TAGS = { pattern: '^(?:(?!<(?:step|answer|eos)>).)+$', maxLength: 200 };
const MOST_STEPS = 32;
const SOLUTION = submit(BETWEEN_TAGS, {
  steps: {
    type: 'array',
    description: 'the way to the answer, where the task has one',
    items: { type: 'string', ...BETWEEN_TAGS },
    maxItems: MOST_STEPS,
  },
});

/** A question as a solver in the tag notation is asked it, without the tags. */
const untagged = (prompt: string): string => prompt.replace(/^<solve>/, '').replace(/<sep>$/, '');

/** Tasks of one side: how they are drawn, and which are held out. */
type Drawn = Pick<TaskFamily, 'name' | 'random' | 'isHeldOut'> & {
  readonly heldOut: () => readonly string[];
};

const countOf = ({ heldOut }: Drawn, split: HostedSplit): number =>
  split === 'train' ? TRAINING_TASKS : heldOut().length;

function taskOf({ name, random, heldOut, isHeldOut }: Drawn, split: HostedSplit, index: number): string {
  if (split === 'test') return heldOut()[index]!;
  const drawing = new Random(`hosted/${name}/${index}`);
  return drawUntil(
    () => random(drawing),
    (task) => !isHeldOut(task),
  );
}

/** `rules`: what is asked, and how steps and answer are written. The test tasks are those that the family holds out. */
export function hostedFamily(name: string, family: TaskFamily, rules: string): HostedEnvironment {
  return {
    name,
    tools: [SOLUTION],
    count: (split) => countOf(family, split),
    task: (split, index): HostedTask => {
      const task = taskOf(family, split, index);
      const question = untagged(family.solverPrompt(task));
      return {
        taskView: { question },
        prompt: [rules, question],
        after: (calls) => {
          const { answer, steps = [] } = calls.at(-1)!.input as { answer: string; steps?: readonly string[] };
          const text = `${steps.map((step) => `<step>${step}`).join('')}<answer>${answer}${family.stop}`;
          const solution = family.parseSolution(task, text);
          if (!solution.ok) return said(0, `Not a solution of this task: ${solution.reason}.`);
          return said(Number(family.answerIsExact(task, solution.value)));
        },
      };
    },
  };
}

export interface HostedTexts extends Drawn {
  /** The task as whoever answers may know it. */
  readonly question: (task: string) => string;
  /** What a text is worth, from 0 to 1; null where it is no answer to the task. */
  readonly score: (task: string, text: string) => number | null;
}

const TEXT = submit(BETWEEN_TAGS);

/** Tasks whose answer is one text without steps. A text may be right in part. */
export function hostedTexts(name: string, texts: HostedTexts, rules: string): HostedEnvironment {
  return {
    name,
    tools: [TEXT],
    count: (split) => countOf(texts, split),
    task: (split, index): HostedTask => {
      const task = taskOf(texts, split, index);
      const question = texts.question(task);
      return {
        taskView: { question },
        prompt: [rules, question],
        after: (calls) => {
          const score = texts.score(task, String(calls.at(-1)!.input.answer));
          return score === null ? said(0, 'Not an answer to this task.') : said(score);
        },
      };
    },
  };
}

/** The longest answer to a question, in characters of up to three bytes, so that it fits a request. */
const LONGEST_ANSWER = 5000;

export interface HostedQuestions {
  readonly tasks: GivenTasks;
  readonly checker: Checker;
  readonly extract: readonly Extraction[];
}

/** A run's questions as environments that its mesh serves: none where the gateway, which serves them, cannot judge the answers or has not got all questions. */
export const servedQuestions = (name: string, questions: HostedQuestions): HostedEnvironment[] =>
  questions.checker.runsAnswers || traitsOf(questions.tasks) ? [] : [hostedQuestions(name, () => questions)];

/** Questions with reference answers. `given` is called when the first of them is asked for. */
export function hostedQuestions(name: string, given: () => HostedQuestions): HostedEnvironment {
  let opened: ReturnType<typeof open> | undefined;
  const open = () => {
    const { tasks, ...how } = given();
    return { ...how, train: tasksHere(tasks), test: tasks.heldOut };
  };
  const questions = () => {
    opened ??= open();
    return opened;
  };
  return {
    name,
    tools: [submit({ maxLength: LONGEST_ANSWER })],
    count: (split) => questions()[split].length,
    task: (split, index): HostedTask => {
      const { checker, extract, [split]: tasks } = questions();
      const task = tasks[index]!;
      // A reference that the checker cannot use is refused before a session begins.
      const check = checker.prepare(task);
      const question = shownQuestion(task.messages);
      return {
        taskView: { question, ...(split === 'train' ? { answer: task.answer } : {}) },
        prompt: [question],
        after: (calls) => {
          const text = String(calls.at(-1)!.input.answer);
          const { outcome } = checkAnswer({ text, ended: true }, check, extract);
          return said(
            Number(outcome === 'right'),
            outcome === 'wrong' ? undefined : `Not an answer: ${outcome}.`,
          );
        },
      };
    },
  };
}
