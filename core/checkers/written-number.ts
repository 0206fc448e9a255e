/**
 * A number as people write it, as an exact fraction. It reads
 *
 *     whole and decimal numbers   -7  +3.50  .5  1e-3
 *     thousands separators        1,234,567.8  1 234 567  1_000  1'000  12,34,567  1.234.567
 *     decimal commas              3,14  1.234,5
 *     fractions, mixed numbers    3/4  -1 1/2  ½  \frac{3}{4}
 *     powers of whole numbers     10^5  1.2 × 10^5
 *     percent                     12.5% (the value 0.125; to a reference in percent 12.5 is right as well, and 20% to a reference of 20)
 *     units of thousands          3k  2.5 million  1bn  $3M  2 lakh
 *     words                       twenty-one  two thirds  minus five
 *     ordinal numbers             21st
 *     a sign or a code of a currency or a degree beside it, a full stop after it, and all of these in LaTeX and in bold type
 */
import Fraction from 'fraction.js';
import { invalid, ok, type ParseResult } from '../recipe/task-family.ts';
import { parseMath } from './math/parse.ts';
import { tokensOf } from './math/tokens.ts';
import type { Expression } from './math/tree.ts';
import { plainSpelling, withDigits } from './spelling.ts';

/** Longest number that is read, in characters. */
export const LONGEST = 60;
/** Largest magnitude of an exponent: the fraction has as many digits. */
const LARGEST_EXPONENT = 40;

/** Powers of ten. There is no plain `m`: it is as often metres, minutes and a thousandth. */
const SCALES: Readonly<Record<string, number>> = {
  hundred: 2,
  k: 3,
  lakh: 5,
  crore: 7,
  thousand: 3,
  mn: 6,
  million: 6,
  bn: 9,
  billion: 9,
  tn: 12,
  trillion: 12,
};
const SIGN = '[+-]?';
const SEPARATED = String.raw`\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d{1,3}(?:_\d{3})+`;
const DECIMAL = String.raw`(?:(?:${SEPARATED}|\d+)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?`;
const SUFFIX = ['%', ...Object.keys(SCALES).map((scale) => (scale.length > 2 ? `${scale}s?` : scale))]
  .sort((a, b) => b.length - a.length)
  .join('|');
const FORM = new RegExp(
  `^(?<sign>${SIGN})(?<money>[$€£¥₹])? ?(?:(?:(?<whole>\\d+) )?(?<top>\\d+) ?/ ?(?<bottom>\\d+)|(?<decimal>${DECIMAL}))(?: ?(?<suffix>${SUFFIX}))?\\.?$`,
  'i',
);

export interface WrittenNumber {
  readonly value: Fraction;
  readonly percent: boolean;
  /** The unit that is left out beside it, a degree, letters in upright type, or the name of a currency, where it is stated. */
  readonly measure?: string | undefined;
}

/** Codes of money before a number, and the signs of those that have one. */
const CODE = /^(Rs\.?|INR|CHF|USD|EUR|GBP) ?(?=[-+]?[\d.])/i;
const MONEY: Readonly<Record<string, string>> = { rs: '₹', inr: '₹', usd: '$', eur: '€', gbp: '£' };

/** A number as it is written in a text of its own; reasons: too-long, no-number, division-by-zero, too-large. */
export function parseNumber(text: string): ParseResult<WrittenNumber, string> {
  // Minus signs and narrow spaces as typeset text has them.
  const spelled = withDigits(plainSpelling(text)).trim();
  const code = CODE.exec(spelled)?.[1];
  const written = spelled
    .replace(/[−–]/g, '-')
    .replace(/[\u00a0\u2009\u202f]/g, ' ')
    .replace(CODE, '')
    .replace(/^([-+]?)(?:US|CA|AU|NZ|HK|SG|[ACS])(?=\$ ?[\d.])/, '$1')
    .replace(
      /^([-+]?[$€£][\d.,]+) ?([MB])$/,
      (_, amount: string, scale: string) => `${amount}${scale.toLowerCase()}n`,
    )
    .replace(/^(?:the )?([\d,]*\d)(?:st|nd|rd|th)\.?$/i, '$1')
    // Amounts without small change: 500/- and 500.–
    .replace(/(?<=\d)(?:\/|\.)-$/, '');
  if (written.length > LONGEST) return invalid('too-long');
  // "$-5" and "-$5" are both written.
  const form = FORM.exec(written.replace(/^([$€£¥])([+-])/, '$2$1'))?.groups;
  if (!form) return parseTypeset(written);
  const { sign, whole = '0', top, bottom, decimal } = form;
  const measure = form.money ?? (code && MONEY[code.toLowerCase().replace('.', '')]);
  const suffix = form.suffix?.toLowerCase().replace(/s$/, '');
  let value: Fraction;
  if (top !== undefined && bottom !== undefined) {
    if (/^0+$/.test(bottom)) return invalid('division-by-zero');
    value = new Fraction(BigInt(top), BigInt(bottom)).add(new Fraction(BigInt(whole)));
  } else {
    const [mantissa = '', exponent = '0'] = (decimal ?? '').toLowerCase().replace(/[, _]/g, '').split('e');
    if (Math.abs(Number(exponent)) > LARGEST_EXPONENT) return invalid('too-large');
    const [before = '', after = ''] = mantissa.split('.');
    const power = Number(exponent) - after.length;
    const digits = new Fraction(BigInt(`${before}${after}` || '0'));
    value = power < 0 ? digits.div(tenTo(-power)) : digits.mul(tenTo(power));
  }
  const percent = suffix === '%';
  if (percent) value = value.div(100);
  else if (suffix !== undefined) value = value.mul(tenTo(SCALES[suffix] ?? 0));
  return ok({ value: sign === '-' ? value.neg() : value, percent, measure });
}

const tenTo = (power: number) => new Fraction(10n ** BigInt(power));

/** Words that a number may have beside it; another word could change what it counts. */
const BESIDE = new Set(['dollars', 'dollar', 'euros', 'euro', 'usd', 'eur', 'gbp']);

/** A number in LaTeX, in bold type, with a power: what the grammar of mathematics reads as one, and no sum or product of several. */
function parseTypeset(text: string): ParseResult<WrittenNumber, string> {
  if (!/[\d¼½¾⅐-⅞]/.test(text)) return invalid('no-number');
  const words = tokensOf(text).filter(({ kind, text: word }) => kind === 'word' && !BESIDE.has(word));
  const parsed = words.length === 0 ? parseMath(text) : null;
  if (!parsed?.ok || parsed.value.kind !== 'value') return invalid('no-number');
  return writtenBy(parsed.value.node);
}

/** The number that an expression writes; reasons: no-number, division-by-zero, too-large. */
export function writtenBy(node: Expression): ParseResult<WrittenNumber, string> {
  const value = numberIn(node.op === 'percent' ? node.of : node);
  if (typeof value === 'string') return invalid(value);
  const { measure = node.op === 'negate' ? node.of.measure : undefined } = node;
  return ok(
    node.op === 'percent' ? { value: value.div(100), percent: true } : { value, percent: false, measure },
  );
}

/** The value of an expression that writes one number; the reason where it does not. */
function numberIn(node: Expression): Fraction | string {
  switch (node.op) {
    case 'number':
      return node.value;
    case 'negate': {
      const of = numberIn(node.of);
      return typeof of === 'string' ? of : of.neg();
    }
    case 'divide':
      if (node.left.op !== 'number' || node.right.op !== 'number') return 'no-number';
      return node.right.value.n === 0n ? 'division-by-zero' : node.left.value.div(node.right.value);
    case 'power':
      return wholePower(node.left, node.right);
    case 'multiply': {
      if (node.left.op !== 'number' || node.right.op !== 'power') return 'no-number';
      const power = wholePower(node.right.left, node.right.right);
      return typeof power === 'string' ? power : node.left.value.mul(power);
    }
    default:
      return 'no-number';
  }
}

function wholePower(base: Expression, exponent: Expression): Fraction | string {
  const [whole, power] = [numberIn(base), numberIn(exponent)];
  if (typeof whole === 'string' || typeof power === 'string' || whole.d !== 1n || power.d !== 1n)
    return 'no-number';
  const times = power.valueOf();
  if (whole.n.toString().length * Math.abs(times) > 10 * LARGEST_EXPONENT) return 'too-large';
  return whole.n === 0n && times <= 0 ? 'no-number' : whole.pow(power)!;
}
