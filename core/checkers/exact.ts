/** The checker `exact`: the same text. Space around it and the runs of space inside it do not count, and Unicode is composed (NFC). */

import { invalid, ok } from '../recipe/task-family.ts';
import { type Checker, LONGEST_ANSWER, wrongReference } from './checker.ts';

/** The form of a text that is compared: composed (NFC), trimmed, with single spaces. */
export const plain = (text: string): string => text.normalize('NFC').trim().replace(/\s+/gu, ' ');

export const exact: Checker = {
  name: 'exact',
  description: 'The same text as the reference; only white space may differ.',
  prepare: ({ answer }) => {
    const expected = plain(answer);
    if (expected === '') throw wrongReference('exact', 'it is empty.', 'a text');
    if (answer.length > LONGEST_ANSWER)
      throw wrongReference(
        'exact',
        `it has ${answer.length} characters.`,
        `a text of at most ${LONGEST_ANSWER} characters`,
      );
    return (given) => (given.length > LONGEST_ANSWER ? invalid('too-long') : ok(plain(given) === expected));
  },
};
