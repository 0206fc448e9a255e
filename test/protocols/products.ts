/** Products of two numbers, in the messages that the policy `words` was taught: a world of two verbs. */
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { defineWorld } from '../../worlds/own-world.ts';

/** What stands in the last answer tags; null where nothing does. */
const answerIn = (text: string): string | null =>
  [...text.matchAll(/<answer>([^<]*)<\/answer>/g)].at(-1)?.[1]?.trim() ?? null;

const product = (task: string): number => task.split(' * ').reduce((all, factor) => all * Number(factor), 1);

const asked = (task: string): string =>
  `Solve the following multiplication: ${task}. Give only the result as your final answer.`;

export default defineWorld({
  name: 'products',
  // A shipped policy that is asked in messages. One of your own: --policy NAME.
  start: 'words',
  draw: (random) => `${1 + random.int(99)} * ${1 + random.int(99)}`,
  isRight: (task, answer) => answer === String(product(task)),
  question: asked,
  words: {
    solve: {
      maxNew: 96,
      ask: ({ task }) => asked(task),
      read: (text) => {
        const answer = answerIn(text);
        return answer === null || !/^\d+$/.test(answer)
          ? invalid('off-grammar')
          : ok({ steps: [text], answer });
      },
    },
    verify: {
      maxNew: 96,
      ask: ({ task, solution }) =>
        `${asked(task)}\n\nProposed solution:\n${solution.steps.join('\n')}\n\nIs this solution right? Check it, then answer yes or no in <answer> tags.`,
      read: (text, { solution }) => {
        const verdict = answerIn(text);
        if (verdict !== 'yes' && verdict !== 'no') return invalid('off-grammar');
        const right = verdict === 'yes';
        return ok({ steps: solution.steps.map(() => right), right });
      },
    },
  },
});
