/**
 * A pair of invented languages. A sentence of either has six words of one letter, small in the first language and capital in the second. Each word
 * has one translation, and the last word of the first language comes first in the second. No word means what looks like it in the other language.
 *
 *     task     a sentence of either language                    bcadlk in the first
 *     solver   <solve>bcadlk<sep>                           ->  its translation, and <eos>
 *     judge    <judge>bcadlk<sep>translation<sep>           ->  (<ok>|<bad>) a word, (<right>|<wrong>), <eos>
 *
 * A solution’s steps are the words of the translation, which is its answer.
 */

import type { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import { invalid, type Judgment, ok, type Solution, type TaskFamily } from '../../core/recipe/task-family.ts';
import { parseJudgment, STOP, withoutStop } from '../worked.ts';

const NAME = 'cipher';
const HELD_OUT_COUNT = 300;
/** Words of a sentence. */
export const SENTENCE = 6;
/** The words of the first language, and what each means in the second. */
const FIRST = [...'abcdefghijkl'];
const SECOND = [...'EKAGHBLCFDJI'];
const MEANING: ReadonlyMap<string, string> = new Map([
  ...FIRST.map((word, i) => [word, SECOND[i]!] as const),
  ...SECOND.map((word, i) => [word, FIRST[i]!] as const),
]);

const TASK = new RegExp(`^(?:[a-l]{${SENTENCE}}|[A-L]{${SENTENCE}})$`);

const isFirst = (sentence: string) => sentence === sentence.toLowerCase();

/** The word of the other language that looks the same. */
export const lookalike = (word: string): string => (isFirst(word) ? word.toUpperCase() : word.toLowerCase());

/** The translation of a word. Throws where it is no word of either language. */
export function meaningOf(word: string): string {
  const meaning = MEANING.get(word);
  if (meaning === undefined)
    throw new Error(`internal: ${JSON.stringify(word)} is no word of the cipher languages`);
  return meaning;
}

/** A sentence’s words in the order of the other language. */
export function reordered(sentence: string): string[] {
  const words = [...sentence];
  return isFirst(sentence) ? [words.at(-1)!, ...words.slice(0, -1)] : [...words.slice(1), words[0]!];
}

/** The translation of a sentence. */
export const translationOf = (sentence: string): string => reordered(sentence).map(meaningOf).join('');

/** Which words of a translation are right [words]. */
const rightWords = (sentence: string, words: readonly string[]): boolean[] => {
  const exact = TASK.test(sentence) ? translationOf(sentence) : '';
  return words.map((word, i) => word === exact[i]);
};

/** The share of a translation's words that are right, in [0, 1]. */
export const wordsRight = (sentence: string, { steps }: Solution): number =>
  rightWords(sentence, steps).filter(Boolean).length / SENTENCE;

/** A sentence and its translation are on the same side. */
const isHeldOut = (sentence: string): boolean =>
  TASK.test(sentence) && isHeldOutKey(NAME, isFirst(sentence) ? sentence : translationOf(sentence));

const anySentence = (random: Random): string => {
  const words = random.bool() ? FIRST : SECOND;
  return Array.from({ length: SENTENCE }, () => random.pick(words)).join('');
};

/** A sentence that is not held out. */
export const randomSentence = (random: Random): string =>
  drawUntil(
    () => anySentence(random),
    (sentence) => !isHeldOut(sentence),
  );

export const solutionOfWords = (words: readonly string[]): Solution => ({
  steps: [...words],
  answer: words.join(''),
});

function exactJudgment(sentence: string, { steps: words }: Solution): Judgment {
  const steps = rightWords(sentence, words);
  return { steps, right: steps.length === SENTENCE && steps.every(Boolean) };
}

export const cipher: TaskFamily = {
  name: NAME,
  maxNew: { proposer: SENTENCE + 1, solver: SENTENCE + 1, judge: SENTENCE + 2 },
  stop: STOP,
  workedPrefix: '',
  random: randomSentence,
  heldOut: heldOutTasks(NAME, HELD_OUT_COUNT, anySentence, isHeldOut),
  isHeldOut,
  difficulty: () => SENTENCE,
  proposerPrompt: () => '<propose>',
  solverPrompt: (sentence) => `<solve>${sentence}<sep>`,
  judgePrompt: (sentence, { answer }) => `<judge>${sentence}<sep>${answer}<sep>`,
  parseProposal: (text) => {
    const sentence = withoutStop(text);
    return sentence !== null && TASK.test(sentence) ? ok(sentence) : invalid('off-grammar');
  },
  /** Any sentence of the other language is a translation, right or wrong. */
  parseSolution: (sentence, text) => {
    const translation = withoutStop(text);
    return translation !== null && TASK.test(translation) && isFirst(translation) !== isFirst(sentence)
      ? ok(solutionOfWords([...translation]))
      : invalid('off-grammar');
  },
  parseJudgment,
  answerIsExact: (sentence, { answer }) => TASK.test(sentence) && answer === translationOf(sentence),
  exactJudgment,
};
