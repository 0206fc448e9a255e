/**
 * The checker `choice`: the letter of an option, as `B`, `(b)`, `B.` or `B) Paris`. Where the task lists its options
 * (`metadata.choices`, in the order of their letters), an option's own text is an answer, too, and a letter with another option's text
 * beside it is none.
 */

import { invalid, ok } from '../recipe/task-family.ts';
import { type Checker, LONGEST_ANSWER, shown, wrongReference } from './checker.ts';
import { plain } from './exact.ts';

const LETTER = /^\(?([A-Za-z])(?:[).:]+|$)\s*(.*)$/s;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

const fold = (text: string) => plain(text).toLowerCase().replace(/\.$/, '');

function optionsOf(choices: unknown): readonly string[] | null {
  if (choices === undefined) return null;
  if (Array.isArray(choices) && choices.length >= 2 && choices.length <= LETTERS.length) {
    const texts = choices.map((choice) => (typeof choice === 'string' ? fold(choice) : ''));
    if (!texts.includes('') && new Set(texts).size === texts.length) return texts;
  }
  throw wrongReference(
    'choice',
    `metadata.choices is ${shown(JSON.stringify(choices))}.`,
    'a list of 2 to 26 different texts, in the order of their letters',
  );
}

/** Index of the option that a text names; undefined where it names none, null where it names two different ones. */
function optionNamed(text: string, options: readonly string[] | null): number | null | undefined {
  const byText = options?.indexOf(fold(text)) ?? -1;
  if (byText >= 0) return byText;
  const match = LETTER.exec(text.trim());
  if (!match) return undefined;
  const index = LETTERS.indexOf(match[1]!.toUpperCase());
  if (options && index >= options.length) return undefined;
  const beside = fold(match[2]!);
  if (beside !== '' && options && beside !== options[index]) return null;
  return index;
}

export const choice: Checker = {
  name: 'choice',
  description: 'The letter of the right option, or its text where the task lists its options.',
  prepare: ({ answer, metadata }) => {
    const options = optionsOf(metadata.choices);
    const expected = optionNamed(answer, options);
    if (expected === undefined || expected === null)
      throw wrongReference(
        'choice',
        `${shown(answer)} names none of the options.`,
        options ? `a letter from A to ${LETTERS[options.length - 1]}, or the text of an option` : 'a letter',
      );
    return (given) => {
      if (given.length > LONGEST_ANSWER) return invalid('too-long');
      const named = optionNamed(given, options);
      if (named === undefined) return invalid('no-option');
      return named === null ? invalid('two-options') : ok(named === expected);
    };
  },
};
