/**
 * The checker `set`: the same elements in any order, repeated ones counted once. A set is a JSON array or a list whose elements are
 * separated by commas, semicolons, new lines or "and", in braces, brackets or bare, or stand on lines with bullets. Elements are equal as
 * numbers or as texts. A comma always separates: numbers in a set have no thousands separators.
 */

import { invalid, ok, type ParseResult } from '../recipe/task-family.ts';
import { type Checker, LONGEST_ANSWER, shown, wrongReference } from './checker.ts';
import { plain } from './exact.ts';
import { unwrapped } from './wrappers.ts';
import { parseNumber } from './written-number.ts';

const MOST_ELEMENTS = 1000;
const BRACKETS = /^(?:\\?\{(.*?)\\?\}|\[(.*)\]|\((.*)\))$/s;

/** Marks of the elements of a list with a line each. */
const BULLET = /^(?:[-*•+]|\d{1,4}[.)])\s+/;
/** A text in the quotes of a list of Python's. */
const QUOTED = /^(['"`])(.*)\1$/s;

/** One key for all ways to write an element. */
function keyOf(element: string): string {
  const number = parseNumber(element);
  if (number.ok) return `number ${number.value.value.toFraction()}`;
  const inner = unwrapped(element);
  return `text ${plain(QUOTED.exec(inner)?.[2] ?? inner)}`;
}

/** The text of each line after its bullet, where every line has one; null where there are no bullets. */
function bulleted(text: string): readonly string[] | null {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length === 0 || !lines.every((line) => BULLET.test(line))) return null;
  return lines.map((line) => line.replace(BULLET, ''));
}

function jsonElements(text: string): readonly string[] | null {
  try {
    const value: unknown = JSON.parse(text);
    const scalar = (item: unknown) => ['string', 'number', 'boolean'].includes(typeof item);
    return Array.isArray(value) && value.every(scalar) ? value.map(String) : null;
  } catch {
    return null;
  }
}

/** Keys of the elements; reasons: too-long, no-elements, empty-element. */
export function parseSet(text: string): ParseResult<ReadonlySet<string>, string> {
  if (text.length > LONGEST_ANSWER) return invalid('too-long');
  const trimmed = unwrapped(text).replace(/\\(?:left|right)(?![A-Za-z])/g, '');
  const inner =
    BRACKETS.exec(trimmed)
      ?.slice(1)
      .find((group) => group !== undefined) ?? trimmed;
  const elements =
    jsonElements(trimmed) ??
    bulleted(trimmed) ??
    inner.split(/,\s*and\s|[,;\n]|\sand\s/).map((element) => element.trim());
  if (elements.length === 1 && elements[0] === '')
    return trimmed === '' ? invalid('no-elements') : ok(new Set());
  if (elements.includes('')) return invalid('empty-element');
  if (elements.length > MOST_ELEMENTS) return invalid('too-long');
  return ok(new Set(elements.map(keyOf)));
}

export const set: Checker = {
  name: 'set',
  description: 'The same elements in any order, numbers compared by value.',
  prepare: ({ answer }) => {
    const expected = parseSet(answer);
    if (!expected.ok)
      throw wrongReference(
        'set',
        `${shown(answer)} is not read as a set (${expected.reason}).`,
        'elements with commas between them, or a JSON array',
      );
    return (given) => {
      const parsed = parseSet(given);
      if (!parsed.ok) return parsed;
      const { value } = parsed;
      return ok(value.size === expected.value.size && [...value].every((key) => expected.value.has(key)));
    };
  },
};
