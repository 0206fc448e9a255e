/**
 * The checker `choice`: the letter of an option, as `B`, `(b)`, `B.` or `B) Paris`, in LaTeX, in bold type, or after words such as "The
 * answer is". Where the task lists its options (`metadata.choices`, in the order of their letters), an option's own text is an answer,
 * too, and a letter with another option's text beside it is none. A reference may also be the index of an option, from 0.
 */

import { invalid, ok } from '../recipe/task-family.ts';
import { type Checker, LONGEST_ANSWER, shown, wrongReference } from './checker.ts';
import { plain } from './exact.ts';
import { plainSpelling } from './spelling.ts';
import { unwrapped } from './wrappers.ts';

const LETTER = /^[([{<【]?\s*([A-Za-z])\s*(?:[)\].:}>】、]+|[,;!?]?$|\s[-–—=](?=\s))\s*(.*)$/s;
/** A letter with what speaks for it behind it: C because …, C (the third). */
const EXPLAINED =
  /^([A-Za-z])(?:,?\s+(?:because|since|as|not|rather than|instead of)\s.*|\s+\([^()]{2,}\)\.?)$/is;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Words before the letter. */
const INTRODUCTION =
  /^(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:(?:final|correct|right|best|most likely)\s+){0,2}(?:answer|ans\.?(?=\s*[:=])|option|choice|letter)(?:\s+(?:is|would be|should be|must be|has to be|choice))?\s*(?:[:=]|[-–—](?=\s))?\s*(?:(?:option|choice|letter)\s+)?/i;
/** Words that say no more than that an answer follows. */
const LEADING =
  /^(?:(?:so|thus|therefore|hence)(?:,\s*|\s+)|correct\s*:\s*|答案(?:是|为)?\s*[:]?\s*|(?:(?:i|we)\s+(?:think|believe|say|guess)\s+(?:that\s+)?)?(?:it\s+is|it['’]s|this\s+is|that\s+is)\s+)(?=\S)/i;
const CHOOSING =
  /^(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:i|we)(?:\s+would|\s+will|['’](?:d|ll))?\s+)?(?:choose|pick|select|go with)\s+(?:(?:the\s+)?(?:answer|option|choice|letter)\s+)?/i;
/** Words after the letter: "B is correct", "(B) is the right answer". */
const CONCLUSION =
  /(?<!\s)\s+(?:is|would be)(?:\s+the)?\s+(?:correct|right|best|answer)(?:\s+(?:answer|option|choice|one))?\s*[.!]?$/i;
/** Signs of a list or a quotation before a line. */
const LINE_SIGN = /^(?:[-*•>]\s+)+(?=\S)/;
/** Another letter beside the first: "B) or C". */
const SECOND_LETTER = /^(?:or|and|&|\/|,)\s*[([]?[A-Za-z](?![A-Za-z])/i;
/** Two letters in the same brackets: "(B) (C)". In "(B) (i) and (ii)" the second is a part of the option’s text. */
const TWO_LETTERS =
  /^(?:\([A-Z]\)\s*\([A-Z]\)|\([a-z]\)\s*\([a-z]\)|\[[A-Z]\]\s*\[[A-Z]\]|\[[a-z]\]\s*\[[a-z]\])/;

const fold = (text: string) =>
  plain(unwrapped(plainSpelling(text)))
    .toLowerCase()
    .replace(/\.$/, '');

interface Options {
  /** Texts, folded. */
  readonly texts: readonly string[];
  /** What the task calls them, where that is not A, B, C in their order. */
  readonly labels: readonly string[] | null;
}

/** A list of texts, or, as ARC has it, texts with labels. */
function optionsOf(choices: unknown): Options | null {
  if (choices === undefined) return null;
  const { text, label }: { text?: unknown; label?: unknown } =
    typeof choices === 'object' && choices !== null && 'text' in choices ? choices : { text: choices };
  if (Array.isArray(text) && text.length >= 2 && text.length <= LETTERS.length) {
    const texts = text.map((choice) =>
      typeof choice === 'string' || typeof choice === 'number' ? fold(String(choice)) : '',
    );
    const labels =
      Array.isArray(label) && label.length === texts.length
        ? label.map((one) => String(one).toUpperCase())
        : null;
    if (!texts.includes('') && new Set(texts).size === texts.length) return { texts, labels };
  }
  throw wrongReference(
    'choice',
    `metadata.choices is ${shown(JSON.stringify(choices))}.`,
    'a list of 2 to 26 different texts, in the order of their letters',
  );
}

/** "C 8" and "C, 8" where 8 is an option's text. */
function withText(text: string, options: Options | null): RegExpExecArray | null {
  const match = /^([A-Za-z])[,;]?\s+(.+)$/s.exec(text);
  return match && options?.texts.includes(fold(match[2]!)) ? match : null;
}

/** Index of the option that a text names; undefined where it names none, null where it names two different ones. */
function optionNamed(given: string, options: Options | null): number | null | undefined {
  const text = unwrapped(
    unwrapped(given)
      .replace(LINE_SIGN, '')
      .replace(/^\[\[(.*)\]\]$/s, '$1')
      .replace(/(?<=[)}*$`])\.$/, ''),
  );
  const byText = options?.texts.indexOf(fold(text)) ?? -1;
  if (byText >= 0) return byText;
  const [first = '', ...later] = text.split('\n').filter((line) => line.trim() !== '');
  if (later.length > 0) {
    // Lines after the answer explain it, unless one is an answer, too.
    const named = optionNamed(first, options);
    if (named !== undefined)
      return later.every((line) => [undefined, named].includes(optionNamed(line, options))) ? named : null;
  }
  const introduced = INTRODUCTION.exec(text)?.[0] || CHOOSING.exec(text)?.[0] || LEADING.exec(text)?.[0];
  if (introduced) return optionNamed(text.slice(introduced.length), options);
  const concluded = text.replace(CONCLUSION, '');
  if (concluded !== text) return optionNamed(concluded, options);
  const match = LETTER.exec(text) ?? EXPLAINED.exec(text) ?? withText(text, options);
  if (!match) {
    const label = options?.labels?.indexOf(text.replace(/^[([{]\s*|\s*[)\]}.:]+$/g, '').toUpperCase()) ?? -1;
    return label < 0 ? undefined : label;
  }
  const letter = match[1]!.toUpperCase();
  const index = options?.labels?.includes(letter) ? options.labels.indexOf(letter) : LETTERS.indexOf(letter);
  if (options && index >= options.texts.length) return undefined;
  const beside = fold(match[2] ?? '');
  if (beside === '' || (options && beside === options.texts[index])) return index;
  return options || SECOND_LETTER.test(beside) || TWO_LETTERS.test(text) ? null : index;
}

/** Index of the right option: by its text or letter, by the task's own label, or by a number from 0. */
function expectedOption(answer: string, options: Options | null): number | null | undefined {
  const labelled = options?.labels?.indexOf(answer.trim().toUpperCase()) ?? -1;
  if (labelled >= 0) return labelled;
  const named = optionNamed(answer, options);
  if (named !== undefined || !options) return named;
  return /^\s*\d{1,2}\s*$/.test(answer) && Number(answer) < options.texts.length ? Number(answer) : undefined;
}

export const choice: Checker = {
  name: 'choice',
  description: 'The letter of the right option, or its text where the task lists its options.',
  prepare: ({ answer, metadata }) => {
    const options = optionsOf(metadata.choices);
    const expected = expectedOption(plainSpelling(answer), options);
    if (expected === undefined || expected === null)
      throw wrongReference(
        'choice',
        `${shown(answer)} names none of the options.`,
        options
          ? `a letter from A to ${LETTERS[options.texts.length - 1]}, the text of an option, or its index from 0`
          : 'a letter',
      );
    return (given) => {
      if (given.length > LONGEST_ANSWER) return invalid('too-long');
      const named = optionNamed(plainSpelling(given), options);
      if (named === undefined) return invalid('no-option');
      return named === null ? invalid('two-options') : ok(named === expected);
    };
  },
};
