/**
 * my-run: sums of four digits. A world draws tasks, says what is right, and asks in its own words; every recipe plays in it whose verbs it says. Replace the
 * tasks and the texts by your own, and add verbs such as `verify` or `propose` to open more recipes.
 */
import { defineWorld, invalid, ok } from 'rollmesh';

/** The sum of a chain such as 3+4-9+2. */
const sumOf = (task: string): number =>
  (task.match(/[+-]?\d/g) ?? []).reduce((total, number) => total + Number(number), 0);

export default defineWorld({
  name: 'my-run',
  // The small policy of the package. It is asked by the task alone, and answers <answer>0 with or without steps before it.
  // One of your own, with a chat template, is asked in the user's message: --policy NAME.
  start: 'arithmetic-base',
  draw: (random) =>
    [0, 1, 2].reduce((task) => task + (random.bool() ? '+' : '-') + random.int(10), String(random.int(10))),
  isRight: (task, answer) => answer === String(sumOf(task)),
  words: {
    solve: {
      maxNew: 26,
      ask: ({ task }) => task,
      // A policy writes anything: what does not say an answer is `invalid`, and never an exception.
      read: (text) => {
        const answer = /<answer>(-?\d+)$/.exec(text)?.[1];
        const steps = text.split(/<\w+>/).filter((step) => step !== '');
        return answer === undefined ? invalid('off-grammar') : ok({ steps, answer });
      },
    },
  },
});
