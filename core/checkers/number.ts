/**
 * The checker `number`: the same value, compared as exact fractions. It reads what `parseNumber` reads, with a unit or a name (x = 3) beside it, and with a decimal comma.
 */
import type Fraction from 'fraction.js';
import { invalid, ok, type ParseResult } from '../recipe/task-family.ts';
import { type Checker, shown, wrongReference } from './checker.ts';
import { valueGiven } from './math/equal.ts';
import { parseMath } from './math/parse.ts';
import type { MathAnswer } from './math/tree.ts';
import { conversions } from './units.ts';
import { LONGEST, parseNumber, type WrittenNumber, writtenBy } from './written-number.ts';

/** What an equation gives; where it is true of constants, 72 = 8 · 9, the side that is a number. */
function numberSaid(answer: Parameters<typeof valueGiven>[0]): MathAnswer | null {
  const value = valueGiven(answer);
  const sides = answer.sides.flatMap(({ answer }) => answer ?? []);
  const isNumber = (one: MathAnswer | null) => one?.kind === 'value' && one.node.op === 'number';
  return value && !isNumber(value) ? (sides.find(isNumber) ?? value) : value;
}

/** A number with words that are no part of it: units, "x = 3", "The answer is 3." */
function parseAmount(text: string): ParseResult<WrittenNumber, string> {
  const parsed = parseMath(text);
  if (!parsed.ok) return invalid('no-number');
  const said = parsed.value.kind === 'relation' ? numberSaid(parsed.value) : parsed.value;
  if (said?.kind !== 'value') return invalid('no-number');
  const { node } = said;
  // 3 m
  return node.op === 'multiply' && node.right.unit
    ? writtenBy({ ...node.left, measure: node.right.measure! })
    : writtenBy(node);
}

/** A comma that cannot stand between thousands, and points that can: 3,14 and 1.234,5. */
const DECIMAL_COMMA = /(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d+(?=,(?:\d\d?|\d{4,})(?!\d))),(\d+)(?![\d.,]*\d)/;

/** The text with a point in place of a comma before decimals; the text itself where there is none. */
export const withDecimalPoint = (text: string): string =>
  text.replace(
    DECIMAL_COMMA,
    (_, whole: string, decimals: string) => `${whole.replaceAll('.', '')}.${decimals}`,
  );

/** As `parseNumber`, where a text is one number and no list: with a comma before its decimals, or with words beside it, too. */
function parseOneNumber(text: string): ParseResult<WrittenNumber, string> {
  const parsed = parseNumber(text);
  if (parsed.ok || parsed.reason !== 'no-number' || text.length > LONGEST) return parsed;
  const pointed = withDecimalPoint(text);
  const read = pointed === text ? parsed : parseNumber(pointed);
  return read.ok ? read : parseAmount(pointed);
}

export interface NumberSettings {
  /** Largest difference that still counts as right, as a share of the reference; default 0. For a reference of 0 it is the difference itself. */
  readonly tolerance?: number;
  /** Whether texts with a comma may be lists, so that it is read as no decimal comma; default false. */
  readonly lists?: boolean;
}

export function numberChecker({ tolerance = 0, lists = false }: NumberSettings = {}): Checker {
  const parse = lists ? parseNumber : parseOneNumber;
  const close = (value: Fraction, expected: Fraction): boolean => {
    if (value.equals(expected)) return true;
    if (tolerance === 0) return false;
    const scale = expected.equals(0) ? 1 : Math.abs(expected.valueOf());
    return value.sub(expected).abs().valueOf() <= tolerance * scale;
  };
  return {
    name: 'number',
    description:
      'The same value: whole and decimal numbers, thousands separators, fractions, percent, k, million and the like, with a unit.',
    prepare: ({ answer }) => {
      const reference = parse(answer);
      if (!reference.ok)
        throw wrongReference(
          'number',
          `${shown(answer)} is not read as a number (${reference.reason}).`,
          'a number',
        );
      const { value, percent, measure } = reference.value;
      return (given) => {
        const parsed = parse(given);
        if (!parsed.ok) return parsed;
        const said = parsed.value;
        const units = conversions(said.measure, measure);
        if (units)
          return ok(units.some(({ factor, pi }) => pi === 0 && close(said.value.mul(factor), value)));
        if (close(said.value, value)) return ok(true);
        if (percent) return ok(!said.percent && close(said.value.div(100), value));
        // 20% is right where the reference is 20: no share is that large.
        return ok(said.percent && value.abs().compare(1) > 0 && close(said.value.mul(100), value));
      };
    },
  };
}
