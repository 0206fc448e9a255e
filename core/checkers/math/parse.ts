/**
 * Reads a mathematical answer as people and models write it, in LaTeX or in plain text. Bounded: at most `LONGEST` characters, and no
 * deeper than they allow; `sum.ts` reads expressions.
 *
 *     answer    item ( (`,` | `;` | `or` | `and`) item )*
 *     item      relation | sets | bracketed list | matrix | ratio | digits_base | sum | words
 *     relation  side ( (`=` `<` `≤` `>` `≥` `≠` `≈` `≡` `∈`) side )+
 *     sets      item ( (`∪` `∩` `∖`) item )+
 */
import Fraction from 'fraction.js';
import { invalid, ok, type ParseResult } from '../../recipe/task-family.ts';
import { allWords, enclosed, joined, split, topLevel } from './brackets.ts';
import { CLOCK, DATE, HALVES_OF_DAY, namedDate, quantities, timeOfDay } from './dates.ts';
import { CONNECTIVES, expressionOf } from './sum.ts';
import type { Token } from './token.ts';
import { tokensOf } from './tokens.ts';
import { binary, fail, type MathAnswer, number, ParseFailure, type Relation, type Side } from './tree.ts';
import { RELATIONS, withoutIntroduction } from './words.ts';

export const LONGEST = 500;
const SET_SIGNS = ['∪', '∩', '∖'];
const SEPARATORS = [',', ';', '&', ...CONNECTIVES];
/** Signs that a text or an operation is long, of which only the value is asked. */
const OPERATIONS = /^(?:sum|prod|i*int|oint|lim|max|min|sup|inf|det|gcd|lcm|Pr|bigcup|bigcap)$/;

/** The tokens as words, where they are words, numbers and simple marks with at least one word among them. */
function textOf(tokens: readonly Token[]): MathAnswer {
  const readable = ({ kind, text }: Token) =>
    kind !== 'command' && kind !== 'function' && (kind !== 'mark' || /^[-,;:.()'/!?|]$/.test(text));
  if (!tokens.some(({ kind }) => kind === 'word') || !tokens.every(readable))
    return fail(tokens.some(({ kind }) => kind === 'command') ? 'unknown-command' : undefined);
  const texts = tokens.filter(({ kind }) => kind !== 'mark').map(({ text }) => text.toLowerCase());
  return { kind: 'text', text: plainWords(texts.join(' ')) };
}

/** Without the article, and ways of saying that there is no value as one. */
const plainWords = (text: string): string =>
  text
    .replace(
      /^(?:(?:there )?(?:is|are) )?no (real )?(?:solution|root|answer)s?(?: exists?)?$/,
      'no $1solution',
    )
    .replace(/^(?:it |the limit )?(?:does not|doesn t) exist$/, 'dne')
    .replace(/^the (?=\S)/, '');

/** A name of what a value is given for: AB, ∠A, f(x), P(A ∪ B), S_{ABC}, f^{-1}(x), dy/dx, words. null where it may be something else. */
function labelOf(tokens: readonly Token[]): string | null {
  if (tokens.length === 0) return null;
  const all = joined(tokens);
  if (allWords(tokens)) return all;
  if (tokens.some(({ kind, text }) => kind === 'command' && OPERATIONS.test(text))) return all;
  // gcd(12, 18); a : b; x1
  if (tokens[0]!.kind === 'word' && tokens[1]?.text === '(' && enclosed(tokens.slice(1))) return all;
  if (/^[A-Za-z](?::[A-Za-z])+$/.test(all)) return all;
  if (tokens.length === 2 && /^[A-Za-z]\d{1,2}$/.test(all) && !tokens[1]!.space) return all;
  const letters = tokens.every(({ kind }) => kind === 'letter' || kind === 'word');
  if (letters && (tokens.length === 1 || tokens.some(({ text }) => /^[A-Z∠△]/.test(text)))) return all;
  const [first, ...rest] = tokens;
  // (x, y)
  if (first?.text === '(' && enclosed(tokens) && /^\((?:[a-z](?:_\d)?,)+[a-z](?:_\d)?\)$/.test(all))
    return all;
  if (first?.kind === 'mark' && /^[|[]$/.test(first.text) && rest.at(-1)?.kind === 'mark')
    return rest.slice(0, -1).every(({ kind, text }) => kind === 'letter' && /^[A-Z]$/.test(text))
      ? all
      : null;
  if (/^frac\{?d.*\}?\{?d.\}?$/.test(all) || /^d[a-z]\/d[a-z]$/.test(all)) return all;
  if (first?.kind !== 'letter') return null;
  let at = 1;
  const scripted = () => {
    at++;
    const open = tokens[at]?.text === '{';
    if (!open) at++;
    else {
      while (at < tokens.length && tokens[at]!.text !== '}') at++;
      at++;
    }
  };
  for (; at < tokens.length; ) {
    const { text } = tokens[at]!;
    if (text === "'") at++;
    else if (text === '_') scripted();
    else if (text === '^' && /^\{?-1/.test(joined(tokens.slice(at + 1)))) scripted();
    else break;
  }
  if (at >= tokens.length) return all;
  const argument = tokens.slice(at);
  if (argument[0]!.text !== '(' || argument.at(-1)!.text !== ')' || !enclosed(argument)) return null;
  // x(x+1) is a product; f(x), g(x, y), P(A ∪ B) and T(3) name values.
  return /^[fghFGHPpTSERVQabcCNu]$/.test(first.text) ||
    argument.slice(1, -1).every(({ kind, text }) => kind === 'letter' || text === ',')
    ? all
    : null;
}

function sideOf(tokens: readonly Token[]): Side {
  const label = labelOf(tokens);
  try {
    return { answer: item(tokens), label };
  } catch (error) {
    if (!(error instanceof ParseFailure) || label === null) throw error;
    return { answer: null, label };
  }
}

function relation(tokens: readonly Token[], cuts: readonly number[]): MathAnswer {
  const sides = split(tokens, cuts).map(sideOf);
  return { kind: 'relation', relations: cuts.map((i) => tokens[i]!.text as Relation), sides };
}

/** Both signs of ±, as two answers; what is unequal to both is so to one and to the other. */
function bothSigns(tokens: readonly Token[]): MathAnswer {
  const [plus, minus] = ['+', '-'].map((sign) => {
    const other = sign === '+' ? '-' : '+';
    return tokens.map((token) =>
      token.text === '±' ? { ...token, text: sign } : token.text === '∓' ? { ...token, text: other } : token,
    );
  });
  const joined = topLevel(tokens, ['≠']).length > 0 ? 'and' : 'or';
  return { kind: 'list', brackets: '', items: [item(plus!), item(minus!)], joined };
}

const ENVIRONMENTS: Readonly<Record<string, string>> = {
  matrix: '',
  smallmatrix: '',
  array: '',
  pmatrix: '',
  bmatrix: '',
  Bmatrix: '',
  vmatrix: '|',
  Vmatrix: '‖',
  cases: 'cases',
};
const ALIGNED = /^begin:(?:aligned|align|gathered|gather|equation|split|alignedat)$/;

/** A matrix, or null where the tokens are none. */
function matrix(tokens: readonly Token[]): MathAnswer | null {
  const [first, last] = [tokens[0], tokens.at(-1)];
  // \left[\begin{array}…\end{array}\right]
  if (
    /^[([|]$/.test(first?.text ?? '') &&
    tokens[1]?.text.startsWith('begin:') &&
    tokens.at(-2)?.text.startsWith('end:')
  ) {
    const inner = matrix(tokens.slice(1, -1));
    return inner?.kind === 'matrix' && first!.text === '|' ? { ...inner, fence: '|' } : inner;
  }
  const name = first?.kind === 'command' && first.text.startsWith('begin:') ? first.text.slice(6) : null;
  if (name === null || last?.text !== `end:${name}`) return null;
  const inner = tokens.slice(1, -1);
  if (ALIGNED.test(first!.text)) return answerOf(inner.filter(({ text }) => text !== '&'));
  const fence = ENVIRONMENTS[name];
  if (fence === undefined) return fail('unknown-command');
  const rows = split(inner, topLevel(inner, ['\\\\']))
    .filter((row) => row.length > 0)
    .map((row) => split(row, topLevel(row, ['&'])).map(fence === 'cases' ? caseCell : item));
  return { kind: 'matrix', fence, rows };
}

/** A matrix with a factor before it, which each of its cells is multiplied by. */
function scaledMatrix(tokens: readonly Token[]): MathAnswer | null {
  const begin = tokens.findIndex(({ kind, text }) => kind === 'command' && text.startsWith('begin:'));
  const start = /^[([]$/.test(tokens[begin - 1]?.text ?? '') ? begin - 1 : begin;
  const of = start > 0 ? matrix(tokens.slice(start)) : null;
  if (of?.kind !== 'matrix' || of.fence !== '') return null;
  const before = tokens.slice(0, tokens[start - 1]!.text === '*' ? start - 1 : start);
  const factor = joined(before) === '-' ? number(new Fraction(-1)) : expressionOf(before);
  const cell = (one: MathAnswer): MathAnswer =>
    one.kind === 'value' ? { kind: 'value', node: binary('multiply', factor, one.node) } : fail();
  return { ...of, rows: of.rows.map((row) => row.map(cell)) };
}

/** A cell of a definition by cases: words that introduce a condition are left out. */
function caseCell(tokens: readonly Token[]): MathAnswer {
  const start = tokens.findIndex(({ kind, text }) => kind !== 'word' && text !== ',');
  if (start < 0) return textOf(tokens);
  const end = tokens.at(-1)?.text === ',' ? tokens.length - 1 : tokens.length;
  return answerOf(tokens.slice(start, end));
}

const isPoint = (token: Token | undefined): boolean => token?.kind === 'letter' && /^[a-z]/.test(token.text);

/** The brackets around all of the tokens, where they hold a list, or are braces of a set. */
function bracketed(tokens: readonly Token[]): MathAnswer | null {
  const [open = '', close = ''] = [tokens[0]?.text, tokens.at(-1)?.text];
  const braces = open === '\\{' || open === '{';
  const pair = braces
    ? '{}'
    : open === ']' && close === '['
      ? '()'
      : open === ']'
        ? `(${close}`
        : close === '['
          ? `${open})`
          : open + close;
  if (!['()', '[]', '[)', '(]', '{}', '⟨⟩'].includes(pair) || tokens.length < 2) return null;
  if (!(open === ']' || close === '[') && !enclosed(tokens)) return null;
  const inner = tokens.slice(1, -1);
  const commas = topLevel(inner, [',', ';']);
  if (braces) {
    const bar = topLevel(inner, ['|', ':'])[0];
    // {x | x > 3}, {x ∈ ℝ : x > 3}
    if (bar !== undefined && isPoint(inner[0]) && (bar === 1 || inner[1]?.text === '∈'))
      return answerOf(inner.slice(bar + 1));
    // Bare braces group; \{…\} is a set with one element, too.
    if (open === '{' && commas.length === 0) return item(inner);
    if (inner.length === 0) return { kind: 'list', brackets: '{}', items: [], joined: ',' };
  } else if (commas.length === 0) {
    if (
      pair === '[]' &&
      inner[0]?.text === '[' &&
      enclosed(inner) &&
      topLevel(inner.slice(1, -1), [',']).length > 0
    )
      return { kind: 'list', brackets: '[]', items: [item(inner)], joined: ',' };
    // (x = 5), ((1, 2))
    if (pair !== '()' || topLevel(inner, RELATIONS).length === 0) return null;
    return item(inner);
  }
  const parts = split(inner, commas);
  // [[1], [2]]: rows of one cell.
  const rows = pair === '[]' && parts.every((part) => part[0]?.text === '[' && enclosed(part));
  const row = (part: readonly Token[]): MathAnswer => {
    const of = item(part);
    return of.kind === 'list' ? of : { kind: 'list', brackets: '[]', items: [of], joined: ',' };
  };
  return { kind: 'list', brackets: pair, items: parts.map(rows ? row : item), joined: ',' };
}

const NUMERALS: Readonly<Record<string, string>> = {
  two: '2',
  three: '3',
  four: '4',
  five: '5',
  six: '6',
  seven: '7',
  eight: '8',
  nine: '9',
  ten: '10',
  twelve: '12',
  sixteen: '16',
};

/** Digits with their base: 132_5, (132)_{5}, 1011_{\text{two}}, 132 base 5, 132 in base five. */
function based(tokens: readonly Token[]): MathAnswer | null {
  const [digits = '', base = '', ...more] = joined(tokens)
    .replace(/[(){}]/g, '')
    .replace(/(?:in)?base(?=\w+$)/, '_')
    .split('_');
  const radix = NUMERALS[base] ?? base;
  if (more.length || tokens[0]?.text === '{' || !/^[\dA-F]+$/.test(digits) || !/^\d{1,2}$/.test(radix))
    return null;
  if (!/\d/.test(digits)) return null;
  if ([...digits].some((digit) => Number.parseInt(digit, 16) >= Number(radix))) return fail();
  return { kind: 'based', digits: digits.replace(/^0+(?=.)/, ''), base: radix };
}
/** Parts with colons, or the word "to", between them: a ratio, or a time of day. */
function ratio(tokens: readonly Token[]): MathAnswer | null {
  const last = tokens.at(-1);
  const half = last && HALVES_OF_DAY.test(last.text) ? last.text : '';
  const own = half ? tokens.slice(0, -1) : tokens;
  const cuts = topLevel(own, [':', 'to']);
  if (cuts.length === 0) return null;
  const parts = split(own, cuts);
  const written = joined(own);
  const clock = CLOCK.test(written) && tokens.every(({ kind }) => kind !== 'command') ? written : null;
  if (half && !clock) return fail();
  return {
    kind: 'ratio',
    parts: parts.map((part) => expressionOf(part)),
    clock: clock && timeOfDay(clock.replace(/^0(?=\d)/, ''), half),
  };
}
function item(tokens: readonly Token[]): MathAnswer {
  if (tokens.length === 0) return fail();
  if (allWords(tokens)) return textOf(tokens);
  if (tokens.some(({ text }) => text === '±' || text === '∓')) return bothSigns(tokens);
  const related = topLevel(tokens, RELATIONS);
  if (related.length > 0) return relation(tokens, related);
  // "x ∈ [0, 1)" says the set.
  const member = topLevel(tokens, ['∈'])[0];
  if (member !== undefined && labelOf(tokens.slice(0, member)) !== null)
    return item(tokens.slice(member + 1));
  const sign = SET_SIGNS.map((text) => ({ text, cuts: topLevel(tokens, [text]) })).find(
    ({ cuts }) => cuts.length > 0,
  );
  if (sign)
    return { kind: 'sets', op: sign.text as '∪' | '∩' | '∖', parts: split(tokens, sign.cuts).map(item) };
  const written = joined(tokens);
  if (DATE.test(written)) return { kind: 'text', text: written.replace(/(?<=-)0(?=\d)/g, '') };
  const other = matrix(tokens) ?? scaledMatrix(tokens) ?? bracketed(tokens) ?? based(tokens) ?? ratio(tokens);
  if (other) return other;
  try {
    return { kind: 'value', node: expressionOf(tokens) };
  } catch (error) {
    if (!(error instanceof ParseFailure)) throw error;
    try {
      return textOf(tokens);
    } catch {
      throw error;
    }
  }
}

/** Elements of a list that are lists without brackets of their own, as ± makes them, belong to it. */
const flat = (items: readonly MathAnswer[]): MathAnswer[] =>
  items.flatMap((one) => (one.kind === 'list' && one.brackets === '' ? one.items : [one]));
/** Words that have no article before them: "a units", "A wins" and "A only" are about a value. */
const WITHOUT_ARTICLE = /^(?:\w*[^us\Wi]s|feet|inches|only|alone)$/;
/** Words without the article before them, which is no factor: "a circle", "an ellipse". */
function withoutArticle(tokens: readonly Token[]): readonly Token[] {
  const [first, second] = tokens;
  if (first?.text.toLowerCase() !== 'a' || first.kind !== 'letter') return tokens;
  const rest = tokens.slice(second?.text === 'n' && !second.space ? 2 : 1);
  const isArticle = allWords(rest) && rest[0]!.space && !WITHOUT_ARTICLE.test(rest.at(-1)!.text);
  return isArticle ? rest : tokens;
}

function answerOf(given: readonly Token[]): MathAnswer {
  const introduced = withoutIntroduction(given);
  const [first] = introduced;
  const isNoPart =
    introduced.length > 1 &&
    (first!.kind === 'word' ? /^(?:either|both)$/.test(first!.text) : first!.text === '≈');
  const tokens = withoutArticle(isNoPart ? introduced.slice(1) : introduced);
  if (allWords(tokens)) return textOf(tokens);
  const measured = namedDate(tokens) ?? quantities(tokens);
  if (measured) return measured;
  const cuts = topLevel(tokens, SEPARATORS);
  if (cuts.length === 0) return item(tokens);
  const parts = split(tokens, cuts);
  // "1, 2, and 3": nothing stands between the comma and the word.
  const words = cuts.map((i) => tokens[i]!.text);
  const kept = parts.filter((part, i) => part.length > 0 || ![...CONNECTIVES, '&'].includes(words[i] ?? ''));
  const word = words.includes('or') ? 'or' : words.includes('and') || words.includes('&') ? 'and' : ',';
  return { kind: 'list', brackets: '', items: flat(kept.map(item)), joined: word };
}

/** Marks of the elements of a list with a line each. */
const BULLET = /^\s*(?:[-*•+]|\d{1,3}[.)])\s+/;

const IS_THE_ANSWER = /\s+is\s+(?:the|my)\s+(?:final\s+|correct\s+)?(?:answer|result|solution)\s*[.!]?\s*$/i;

/** Elements on lines of their own as a list with semicolons; null where there are no such lines. `certain`: all have bullets, or say what something is. */
function fromLines(text: string, certain: boolean): string | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2 || /\\begin/.test(text)) return null;
  const isElement = (line: string) => BULLET.test(line) || /^[^=<>]*[A-Za-z][^=<>]*[=<>]/.test(line);
  if (certain && !lines.every(isElement)) return null;
  return lines.map((line) => line.replace(BULLET, '').replace(/[,;]\s*$/, '')).join('; ');
}

/** Reasons: too-long, empty, no-expression, unknown-command. `commasSeparate`: see `tokensOf`. */
export function parseMath(text: string, commasSeparate = false): ParseResult<MathAnswer, string> {
  if (text.length > LONGEST) return invalid('too-long');
  const read = parseLine(fromLines(text, true) ?? text.replace(IS_THE_ANSWER, ''), commasSeparate);
  const lines = read.ok ? null : fromLines(text, false);
  const asList = lines === null ? read : parseLine(lines, commasSeparate);
  return asList.ok ? asList : read;
}

function parseLine(text: string, commasSeparate: boolean): ParseResult<MathAnswer, string> {
  const tokens = tokensOf(text, commasSeparate);
  if (tokens.length === 0) return invalid('empty');
  try {
    return ok(answerOf(tokens));
  } catch (error) {
    if (error instanceof ParseFailure) return invalid(error.message);
    throw error;
  }
}
