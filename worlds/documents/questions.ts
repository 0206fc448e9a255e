/**
 * Questions about a passage of facts for which an answer is given. Three forms of question ask for a name: by its number, or by the name beside it.
 * Several questions therefore mean the same, in other words.
 *
 *     task     facts:answer?reference        be3 da7 ko2 mi5 tu1:ko?after da
 *     solver   <propose>facts<sep>         ->  before mi<eos>                         or has 2, or after da, which all ask for ko
 *
 * In the facts of the prompt a tag stands before the answer: be3 da7 <answer>ko2 mi5 tu1.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks } from '../../core/recipe/split.ts';
import {
  invalid,
  ok,
  type ParseResult,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { parseJudgment, STOP, withoutStop, writeSolution } from '../worked.ts';
import { drawFacts, type Fact, isHeldOutDocument, parseFacts, prefixOf, writeFacts } from './family.ts';

const NAME = 'questions';
const HELD_OUT_COUNT = 200;
const QUESTION = /^(?:has [1-8]|(?:after|before) [a-z]{2})$/;
const TASK = /^([^:?]+):([a-z]{2})\?(.+)$/;
/** `before ko` and the stop token. */
const QUESTION_TOKENS = 10;

interface Asked {
  readonly facts: readonly Fact[];
  readonly answer: string;
  readonly reference: string;
}

export const writeAsked = ({ facts, answer, reference }: Asked): string =>
  `${writeFacts(facts)}:${answer}?${reference}`;

/** null for a text that is no task. */
export function parseAsked(task: string): Asked | null {
  const [, passage = '', answer = '', reference = ''] = TASK.exec(task) ?? [];
  const facts = parseFacts(passage);
  return facts && QUESTION.test(reference) ? { facts, answer, reference } : null;
}

/** The names that answer a question about facts; none where it asks for what is not there. */
export function answersTo(facts: readonly Fact[], question: string): string[] {
  const [form, of] = question.split(' ');
  if (form === 'has') return facts.flatMap(({ name, number }) => (String(number) === of ? [name] : []));
  const at = facts.findIndex(({ name }) => name === of);
  const beside = at < 0 ? undefined : facts[form === 'after' ? at + 1 : at - 1];
  return beside ? [beside.name] : [];
}

/** Every question of which a name is the only answer. */
export function questionsFor(facts: readonly Fact[], answer: string): string[] {
  const all = [
    ...new Set(facts.map(({ number }) => `has ${number}`)),
    ...facts.flatMap(({ name }) => [`after ${name}`, `before ${name}`]),
  ];
  return all.filter((question) => answersTo(facts, question).join() === answer);
}

/** How far two questions mean the same, in [0, 1]: of the names that answer either, the share that answers both (Jaccard); 0 where nobody does. */
export function meaningOverlap(task: string, question: string): number {
  const asked = parseAsked(task);
  if (!asked) return 0;
  const [one, other] = [question, asked.reference].map((each) => new Set(answersTo(asked.facts, each)));
  const both = [...one!].filter((name) => other!.has(name)).length;
  const either = new Set([...one!, ...other!]).size;
  return either ? both / either : 0;
}

const ngrams = (question: string, n: number): string[] => {
  const words = question.split(' ');
  return words.slice(n - 1).map((_, i) => words.slice(i, i + n).join(' '));
};

/**
 * How far a question has the words of the reference, in [0, 1]: the mean of BLEU's precisions of its single words and of its pairs of words. Questions
 * have as many words as references, so that there is no penalty for brevity; an arithmetic mean counts a single word, too.
 */
export function wordOverlap(task: string, question: string): number {
  const reference = parseAsked(task)?.reference ?? '';
  return mean(
    [1, 2].map((n) => mean(ngrams(question, n).map((gram) => Number(ngrams(reference, n).includes(gram))))),
  );
}

/** A task with the reference in any form that has the answer alone. */
export function drawAsked(random: Random, heldOut = false): Asked {
  const facts = drawFacts(random, heldOut);
  const { name: answer } = random.pick(facts);
  return { facts, answer, reference: random.pick(questionsFor(facts, answer)) };
}

const isHeldOut = (task: string): boolean => isHeldOutDocument(prefixOf(task));

/** The passage with a tag before the answer, as systems that write questions mark the span. */
function askPrompt(task: string): string {
  const [, passage = '', answer = ''] = TASK.exec(task) ?? [];
  return `<propose>${passage.replace(answer, `<answer>${answer}`)}<sep>`;
}

const parseSolution = (_task: string, text: string): ParseResult<Solution> => {
  const answer = withoutStop(text);
  return answer !== null && QUESTION.test(answer) ? ok({ steps: [], answer }) : invalid('off-grammar');
};

const isExact = (task: string, question: string): boolean => {
  const asked = parseAsked(task);
  return asked !== null && answersTo(asked.facts, question).join() === asked.answer;
};

export const questions: TaskFamily = {
  name: NAME,
  maxNew: { proposer: 64, solver: QUESTION_TOKENS, judge: 4 },
  stop: STOP,
  workedPrefix: '',
  random: (random) =>
    drawUntil(
      () => writeAsked(drawAsked(random)),
      (task) => !isHeldOut(task),
    ),
  heldOut: heldOutTasks(
    NAME,
    HELD_OUT_COUNT,
    (random, heldOut) => writeAsked(drawAsked(random, heldOut)),
    isHeldOut,
  ),
  isHeldOut,
  // Questions that ask for the answer.
  difficulty: (task) => {
    const asked = parseAsked(task);
    return asked ? questionsFor(asked.facts, asked.answer).length : 0;
  },
  proposerPrompt: () => '<propose>',
  solverPrompt: askPrompt,
  judgePrompt: (task, solution) => `<judge>${task}<sep>${writeSolution(solution)}<sep>`,
  parseProposal: (text) => {
    const task = withoutStop(text);
    return task !== null && parseAsked(task) ? ok(task) : invalid('off-grammar');
  },
  parseSolution,
  parseJudgment,
  answerIsExact: (task, { answer }) => isExact(task, answer),
  exactJudgment: (task, { answer }) => ({ steps: [], right: isExact(task, answer) }),
};
