/** Times of day, dates with the name of a month, and quantities beside each other. */
import Fraction from 'fraction.js';
import { conversions } from '../units.ts';
import type { Token } from './token.ts';
import { type MathAnswer, number } from './tree.ts';

export const CLOCK = /^\d{1,2}(?::[0-5]\d){1,2}$/;
export const HALVES_OF_DAY = /^[ap]m$/;
/** Afternoons by 24 hours; other times as they are written. */
export function timeOfDay(clock: string, half: string): string {
  const hour = Number(clock.split(':')[0]);
  return half === 'pm' && hour >= 1 && hour < 12
    ? clock.replace(/^\d+/, String(hour + 12))
    : `${clock}${half}`;
}
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MONTH =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/;

/** A date with the name of its month, with its year, its day or both. */
export function namedDate(tokens: readonly Token[]): MathAnswer | null {
  const parts = tokens
    .filter(({ text }) => !/^(?:,|\.|of|the|st|nd|rd|th)$/.test(text))
    .map(({ text }) => text);
  const at = parts.findIndex((part) => MONTH.test(part));
  if (at < 0 || at > 1 || parts.length < 2) return null;
  const month = 1 + MONTHS.indexOf(parts[at]!.slice(0, 3));
  if (at === 0 && parts.length === 2 && /^\d{4}$/.test(parts[1]!))
    return { kind: 'text', text: `${parts[1]}-${month}` };
  const [day, year, ...more] = at === 0 ? parts.slice(1) : [parts[0], ...parts.slice(2)];
  if (more.length > 0 || !/^\d{1,2}$/.test(day ?? '') || !/^(?:\d{4})?$/.test(year ?? '')) return null;
  return { kind: 'text', text: `${year ?? 'any'}-${month}-${Number(day)}` };
}

const MEASURES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'year years yr yrs',
      'month months',
      'week weeks wk wks',
      'day days',
      'hour hours hr hrs h',
      'minute minutes min mins',
      'second seconds sec secs s',
      'foot feet ft',
      'inch inches in',
      'pound pounds lb lbs',
      'ounce ounces oz',
      'dollar dollars',
      'cent cents',
    ].flatMap((names) => names.split(' ').map((name) => [name, names.split(' ')[0]!])),
  ),
};

/** Two or more quantities beside each other, as in 2 hours and 30 minutes, as a text; dollars with cents as their value. */
export function quantities(tokens: readonly Token[]): MathAnswer | null {
  const parts = tokens.filter(({ text }) => !/^(?:,|and|\.)$/.test(text));
  if (parts.length < 4 || parts.length % 2) return null;
  const pairs = parts.flatMap(({ kind, value }, i) => {
    const unit = MEASURES[parts[i + 1]?.text ?? ''];
    return i % 2 === 0 && kind === 'number' && value && unit ? [{ value, unit }] : [];
  });
  if (2 * pairs.length !== parts.length || new Set(pairs.map(({ unit }) => unit)).size < pairs.length)
    return null;
  const [dollars, cents] = pairs;
  if (pairs.length === 2 && dollars!.unit === 'dollar' && cents!.unit === 'cent')
    return { kind: 'value', node: { ...number(dollars!.value.add(cents!.value.div(100))), measure: '$' } };
  const measure = pairs.at(-1)!.unit;
  const converted = pairs.map(({ value, unit }) => {
    const factor = conversions(unit, measure)?.[0]?.factor;
    return factor && value.mul(factor);
  });
  const amount = converted.reduce((sum, part) => sum && part && sum.add(part), new Fraction(0));
  const text = pairs.map(({ value, unit }) => `${value.toFraction()} ${unit}`).join(' ');
  return { kind: 'text', text, ...(amount ? { amount: { ...number(amount), measure } } : {}) };
}
export const DATE = /^(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\/\d{1,2}\/(?:\d{4}|\d\d)|\d{1,2}\.\d{1,2}\.\d{4})$/;
