/**
 * Tasks of one answer, served to policies that others train: the question, a tool that takes the answer and ends the episode, and a reward by the
 * checker that pays the same answer in a run.
 */
import type { Checker } from '../core/checkers/checker.ts';
import type { Extraction } from '../core/checkers/extract.ts';
import type { HostedEnvironment, HostedTask, HostedTool } from '../core/hosted-environment.ts';
import { Random } from '../core/random.ts';
import { shownQuestion } from '../core/rubric.ts';
import { drawUntil } from '../core/split.ts';
import type { TaskFamily } from '../core/task-family.ts';
import type { TaskSet } from '../tasks/file/task-set.ts';
import { checkAnswer } from './evaluate/questions.ts';

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

const said = (right: boolean, why = 'Wrong.') => ({
  text: right ? 'Right.' : why,
  reward: Number(right),
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

/** `rules`: what is asked, and how steps and answer are written. The test tasks are those that the family holds out. */
export function hostedFamily(name: string, family: TaskFamily, rules: string): HostedEnvironment {
  const drawn = (index: number) => {
    const random = new Random(`hosted/${family.name}/${index}`);
    return drawUntil(
      () => family.random(random),
      (task) => !family.isHeldOut(task),
    );
  };
  return {
    name,
    tools: [SOLUTION],
    count: (split) => (split === 'train' ? TRAINING_TASKS : family.heldOut().length),
    task: (split, index): HostedTask => {
      const task = split === 'train' ? drawn(index) : family.heldOut()[index]!;
      const question = untagged(family.solverPrompt(task));
      return {
        told: { question },
        prompt: [rules, question],
        after: (calls) => {
          const { answer, steps = [] } = calls.at(-1)!.input as { answer: string; steps?: readonly string[] };
          const text = `${steps.map((step) => `<step>${step}`).join('')}<answer>${answer}${family.stop}`;
          const solution = family.parseSolution(task, text);
          if (!solution.ok) return said(false, `Not a solution of this task: ${solution.reason}.`);
          return said(family.answerIsExact(task, solution.value));
        },
      };
    },
  };
}

/** The longest answer to a question, in characters of up to three bytes, so that it fits a request. */
const LONGEST_ANSWER = 5000;

export interface HostedQuestions {
  readonly tasks: Pick<TaskSet, 'sources' | 'heldOut'>;
  readonly checker: Checker;
  readonly extract: readonly Extraction[];
}

/** Questions with reference answers. `given` is called when the first of them is asked for. */
export function hostedQuestions(name: string, given: () => HostedQuestions): HostedEnvironment {
  let opened: ReturnType<typeof open> | undefined;
  const open = () => {
    const { tasks, ...how } = given();
    return { ...how, train: tasks.sources.flatMap((source) => source.tasks), test: tasks.heldOut };
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
        told: { question, ...(split === 'train' ? { answer: task.answer } : {}) },
        prompt: [question],
        after: (calls) => {
          const text = String(calls.at(-1)!.input.answer);
          const { outcome } = checkAnswer({ text, ended: true }, check, extract);
          return said(outcome === 'right', outcome === 'wrong' ? undefined : `Not an answer: ${outcome}.`);
        },
      };
    },
  };
}
