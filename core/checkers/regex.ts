/**
 * The checker `regex`: the whole answer matches the reference, a regular expression in RE2's syntax. RE2 has neither backreferences nor
 * look-around, and in return no pattern takes more than linear time: an answer cannot hold up a Worker.
 */
import { RE2JS } from 're2js';
import { invalid, ok } from '../recipe/task-family.ts';
import { type Checker, LONGEST_ANSWER, shown, wrongReference } from './checker.ts';

const LONGEST_PATTERN = 1000;

/** A pattern that matches in linear time. Throws `answer.reference` where RE2 cannot read it. */
export function linearPattern(checker: string, pattern: string): RE2JS {
  const expected = `a regular expression in RE2’s syntax, of 1 to ${LONGEST_PATTERN} characters, without look-around and backreferences`;
  if (pattern === '' || pattern.length > LONGEST_PATTERN)
    throw wrongReference(checker, `its pattern has ${pattern.length} characters.`, expected);
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw wrongReference(checker, `the pattern ${shown(pattern)} cannot be read: ${why}.`, expected, cause);
  }
}

export const regex: Checker = {
  name: 'regex',
  description: 'The whole answer matches the reference, a regular expression in RE2’s syntax.',
  prepare: ({ answer }) => {
    const pattern = linearPattern('regex', answer);
    return (given) =>
      given.length > LONGEST_ANSWER ? invalid('too-long') : ok(pattern.matches(given.trim()));
  },
};
