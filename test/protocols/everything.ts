/** A world that says every verb, and reads every text as saying it: a policy of random weights is understood there. */
import { SAYS, type Verb } from '../../core/game/verbs.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { defineWorld, type Spoken, type World } from '../../worlds/own-world.ts';

const solution = (text: string) => ok({ steps: [text], answer: String(text.length % 10) });
const words = (text: string) => ok(`${text}.`);
const number = (text: string) => (text === '' ? invalid('off-grammar') : ok(String(text.charCodeAt(0))));
const share = (text: string) => ok((text.length % 5) / 4);

/** What any text says, so that a policy of random weights is understood. */
const SAID: { readonly [V in Verb]: Spoken<V>['read'] } = {
  solve: solution,
  revise: solution,
  follow: solution,
  retell: solution,
  correct: solution,
  report: (text) =>
    ok({ misleading: text.length % 2 === 0, solution: { steps: [text], answer: String(text.length % 10) } }),
  debate: solution,
  review: words,
  reply: words,
  score: share,
  search: (text) =>
    text.length % 3 ? ok({ solution: { steps: [text], answer: text.at(-1)! } }) : ok({ query: `${text}.` }),
  sift: (text) => ok(text.length % 2 === 0),
  digest: words,
  coach: words,
  recall: (text) => ok({ query: `${text}.` }),
  repair: (text) => ok({ query: `${text}.` }),
  examine: (text) => ok({ query: `${text}.` }),
  wish: solution,
  hint: words,
  critique: words,
  propose: number,
  vary: number,
  rephrase: number,
  derive: number,
  evolve: number,
  verify: (text, { solution: { steps } }) => {
    const right = text.length % 2 === 0;
    return ok({ steps: steps.map(() => right), right });
  },
  compare: (text) => ok(text.length % 2 ? 'A' : 'B'),
  rate: share,
  appraise: share,
  segment: (_, { lines }) => ok([lines]),
  weigh: (_, { chunks }) => ok(chunks.map(() => 0.5)),
  complete: (text, { lines }) => ok(lines.map(() => `${text.length}`)),
  arrange: (_, { lines }) => ok(lines.toReversed()),
  spoil: words,
  clue: words,
  watch: (text) => ok([text.length]),
  vote: (text, { clues }) => ok(clues.length && text.length % 4 ? 1 + (text.length % clues.length) : null),
};

/** A world that says every verb, with few tasks: which is the last digit of a number? */
export const everything = defineWorld({
  name: 'last-digit',
  draw: (random) => String(random.int(60)),
  isRight: (task, answer) => answer === task.at(-1),
  reference: (task) => ({ steps: [`The number is ${task}.`, task.at(-1)!], answer: task.at(-1)! }),
  words: Object.fromEntries(
    (Object.keys(SAYS) as Verb[]).map((verb) => [
      verb,
      { maxNew: 8, ask: (about: object) => `${verb}: ${JSON.stringify(about)}`, read: SAID[verb] },
    ]),
  ) as unknown as World['words'],
});
