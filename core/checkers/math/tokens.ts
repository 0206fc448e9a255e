/**
 * Cuts a mathematical text, LaTeX or plain, into tokens. Layout (spacing, fonts, delimiters of mathematics, markdown around a value,
 * signs of currencies) is left out; a number is one token with its thousands, its repeating digits and its exponent; words are told from
 * products of letters. Every pattern is anchored where the text is read, so that the time is linear in the text for a bounded nesting.
 */
import Fraction from 'fraction.js';
import { plainSpelling, withDigits } from '../spelling.ts';
import { isMoneySign } from '../units.ts';
import { withDegrees, withMinutes } from './degrees.ts';
import {
  ACCENTS,
  COMMAND_LETTERS,
  COMMAND_MARKS,
  COMMAND_WORDS,
  FRAMES,
  functionNamed,
  GREEK,
  GREEK_LETTERS,
  isWord,
  LAYOUT,
  MARKS,
  NAMES,
  SPLIT_LETTERS,
  UNSEEN,
  UPRIGHT,
} from './names.ts';
import type { Token } from './token.ts';

const DIGITS = String.raw`\d`;
const GROUP_MARK = String.raw`(?:\{,\}|\{\\[,;: ]\}|\\(?:text|mathord|mathrm)\{,\}|(?:\\!\s*)*,(?:\\!\s*)+|(?:\\!\s*)+,|\\[,;: ]|\\thinspace\s?|~|[\u00a0\u2009\u202f]|['’]|_)`;
/** Thousands that no list could mean; then those with commas or spaces. */
const CERTAIN_THOUSANDS = new RegExp(`${DIGITS}{1,3}(?:${GROUP_MARK}${DIGITS}{3})+(?!${DIGITS})`, 'y');
/** As in most of Europe: points between thousands, and a comma before decimals. A single point could be that of a decimal number. */
const EUROPEAN = /(\d{1,3}(?:\.\d{3}){2,})(?:,(\d+))?(?![\d.,]\d|\d)/y;
const COMMAS = /\d+(?:,\d+)+/y;
const WESTERN = /^\d{1,3}(?:,\d{3})+$/;
const INDIAN = /^\d{1,2}(?:,\d{2})+,\d{3}$/;
const SPACES = /\d{1,3}(?: \d{3})+(?!\d|\s*\/|\s+\d)/y;
const WHOLE = /\d+/y;
const DECIMALS = /\.(\d*)/y;
const REPEATING = /\s*\\(?:overline|bar|dot)\s*\{\s*(\d+)\s*\}|\((\d+)\)/y;
/** Dots that say that the digits before them go on as they have repeated. */
const AND_SO_ON = /\s*(?:\.{3}|…|\\(?:ldots|dots|cdots)(?![A-Za-z]))/y;
const EXPONENT = /[eE]([+-]?\d{1,9})(?![\d.])/y;
/** A larger exponent is a power, which is not multiplied out. */
const LARGEST_EXPONENT = 400;

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ';
const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';
const PLAIN_SCRIPTS = '0123456789+-n';

const tenTo = (power: number) => new Fraction(10n ** BigInt(power));
const scaled = (value: Fraction, power: number): Fraction =>
  power < 0 ? value.div(tenTo(-power)) : value.mul(tenTo(power));

/** Where the brace around a position opens or closes, outside of which `step` leads; the end of the text where there is none. */
function groupEdge(text: string, from: number, step: 1 | -1): number {
  let depth = 0;
  for (let i = from; i >= 0 && i < text.length; i += step) {
    if ((text[i] !== '{' && text[i] !== '}') || text[i - 1] === '\\') continue;
    depth += (text[i] === '{') === (step === 1) ? 1 : -1;
    if (depth < 0) return i;
  }
  return step === 1 ? text.length : -1;
}

const INFIX = /\\(over|choose)(?![A-Za-z])/;
/** Each costs the length of the text; a text with more is left as it is, and is not read. */
const MOST_INFIXES = 50;

/** TeX’s signs between two parts of a group, `{a \over b}` and `{n \choose k}`, as commands with two arguments. */
function withoutInfixes(text: string): string {
  let rest = text;
  for (let i = 0; i < MOST_INFIXES; i++) {
    const sign = INFIX.exec(rest);
    if (!sign) return rest;
    const [start, end] = [
      groupEdge(rest, sign.index - 1, -1) + 1,
      groupEdge(rest, sign.index + sign[0].length, 1),
    ];
    const [above, below] = [rest.slice(start, sign.index), rest.slice(sign.index + sign[0].length, end)];
    const command = sign[1] === 'over' ? 'frac' : 'binom';
    rest = `${rest.slice(0, start)}\\${command}{${above}}{${below}}${rest.slice(end)}`;
  }
  return rest;
}

/** Bold, italics and code of markdown around a value. */
function withoutMarkdown(text: string): string {
  return text
    .replace(/`+([^`]*)`+/g, '$1')
    .replace(/^\s*["“]([^"“”]*)["”]\s*[.]?\s*$/, '$1')
    .replace(/(^|[\s=:(])(\*\*|__)(?=\S)((?:(?!\2).)*)\2(?=$|[\s.,;:!?)])/gs, '$1$3')
    .replace(/^\s*([*_])(?=\S)((?:(?!\1).)*)\1\s*$/s, '$2');
}

class Scanner {
  readonly #text: string;
  readonly #upright: boolean;
  readonly #commasSeparate: boolean;
  readonly #tokens: Token[] = [];
  /** Open brackets; those around an argument of a command are `argument`. */
  readonly #open: string[] = [];
  #at = 0;
  #space = false;
  /** The sign of money before a number. */
  #sign: string | undefined;

  constructor(text: string, upright: boolean, commasSeparate: boolean) {
    this.#text = text;
    this.#upright = upright;
    this.#commasSeparate = commasSeparate;
  }

  tokens(): Token[] {
    while (this.#at < this.#text.length) this.#step();
    return this.#tokens;
  }

  #push(kind: Token['kind'], text: string, more: Pick<Token, 'value' | 'bare' | 'written'> = {}): void {
    const money = kind === 'number' && this.#sign ? { money: this.#sign } : {};
    this.#tokens.push({ kind, text, space: this.#space, ...more, ...money });
    this.#space = false;
    if (!/^[-+−–]$/.test(text)) this.#sign = undefined;
  }

  get #last(): Token | undefined {
    return this.#tokens.at(-1);
  }

  #match(pattern: RegExp, at = this.#at): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(this.#text);
  }

  #step(): void {
    const char = this.#text[this.#at]!;
    if (/\s/.test(char) || char === '~' || char === '\u200b') {
      this.#space = true;
      this.#at++;
    } else if (/\d/.test(char) || this.#beginsDecimal(char)) this.#number();
    else if (/[A-Za-z]/.test(char)) this.#letters();
    else if (char === '\\') this.#command();
    else this.#mark(char);
  }

  /** A point with digits behind it, .5, or with digits that repeat. */
  #beginsDecimal(char: string): boolean {
    return char === '.' && this.#match(/\.(?:\d|\\(?:overline|bar|dot)(?![A-Za-z]))/y) !== null;
  }

  /** Does a comma between digits separate elements here? */
  get #inList(): boolean {
    const open = this.#open.at(-1);
    return this.#commasSeparate || (open !== undefined && open !== 'argument');
  }

  #wholePart(): string {
    const commas = this.#inList ? null : this.#match(COMMAS);
    const grouped = commas && (WESTERN.test(commas[0]) || INDIAN.test(commas[0])) ? commas : null;
    const found = this.#match(CERTAIN_THOUSANDS) ?? grouped ?? this.#match(SPACES) ?? this.#match(WHOLE);
    this.#at += found?.[0].length ?? 0;
    return found?.[0].replace(/\D/g, '') ?? '';
  }

  #european(): boolean {
    const found = this.#match(EUROPEAN);
    if (!found || (found[2] !== undefined && this.#inList)) return false;
    const [written, whole, decimals = ''] = found;
    const digits = new Fraction(BigInt(`${whole!.replaceAll('.', '')}${decimals}`));
    this.#at += written.length;
    this.#push('number', written, { value: scaled(digits, -decimals.length), bare: false });
    return true;
  }

  /** The digits that repeat without end, as in 0.1666…; undefined where nothing says so. */
  #period(decimals: string): string | undefined {
    const repeated = /(\d+?)\1+$/.exec(decimals);
    const dots = repeated && repeated[0].length >= 3 ? this.#match(AND_SO_ON) : null;
    if (!dots) return undefined;
    this.#at += dots[0].length;
    return repeated![1];
  }

  #number(): void {
    if (this.#european()) return;
    const start = this.#at;
    const whole = this.#wholePart();
    const point = this.#match(DECIMALS);
    const decimals = point?.[1] ?? '';
    const repeats = point && this.#match(REPEATING, this.#at + point[0].length);
    if (point) this.#at += point[0].length + (repeats?.[0].length ?? 0);
    let value = scaled(new Fraction(BigInt(`${whole}${decimals}` || '0')), -decimals.length);
    const period = repeats?.[1] ?? repeats?.[2] ?? this.#period(decimals);
    if (period !== undefined) {
      const nines = 10n ** BigInt(period.length) - 1n;
      value = value.add(scaled(new Fraction(BigInt(period), nines), -decimals.length));
    }
    const exponent = this.#match(EXPONENT);
    if (exponent && Math.abs(Number(exponent[1])) <= LARGEST_EXPONENT) {
      this.#at += exponent[0].length;
      value = scaled(value, Number(exponent[1]));
    }
    const written = this.#text.slice(start, this.#at);
    this.#push('number', written, { value, bare: /^\d+$/.test(written) });
  }

  /** Does a number stand before, or with space between what ends a value: π, or a closing bracket? */
  get #afterValue(): boolean {
    const { kind, text = '' } = this.#last ?? {};
    return (
      kind === 'number' ||
      kind === 'word' ||
      (this.#space && (text === 'pi' || (kind === 'mark' && /^[)}]$/.test(text))))
    );
  }

  /** Is a run of two letters, which could be a product, a word of a sentence here: "so 5", "at least 5", "equal to 5"? */
  #isSaying(run: string): boolean {
    if (/^(?:so|it)$/i.test(run)) return this.#tokens.length === 0;
    if (/^at$/i.test(run)) return this.#match(/\s+(?:least|most)(?![A-Za-z])/iy) !== null;
    return /^(?:to|in)$/i.test(run) && this.#last?.kind === 'word';
  }

  #letters(): void {
    const percent = this.#match(/per\s+cent(?![A-Za-z])/iy);
    if (percent) {
      this.#at += percent[0].length;
      this.#push('mark', '%');
      return;
    }
    const run = this.#match(/[A-Za-z]+/y)![0];
    const after = this.#afterValue;
    // A multiplication sign as people type it: 1.2 x 10^5.
    if (/^[xX]$/.test(run) && this.#last?.kind === 'number' && this.#match(/[xX]\s*\d/y)) {
      this.#at++;
      this.#push('mark', '*');
      return;
    }
    this.#at += run.length;
    // Points of abbreviations: p.m., sq. cm.
    const dotted = this.#match(/\.(?:[A-Za-z]\.)+/y);
    if (dotted && run.length === 1) {
      this.#at += dotted[0].length;
      this.#word(`${run}${dotted[0]}`.replaceAll('.', ''));
    } else if (this.#upright ? run.length > 1 : isWord(run, after) || this.#isSaying(run)) {
      const known = functionNamed(run);
      if (known && this.#upright) this.#push('function', known);
      else if (NAMES.includes(run)) this.#push('letter', run);
      else this.#word(run);
    } else if (/^inf$/i.test(run)) this.#push('letter', 'infinity');
    else if (run === 'Pi') this.#push('letter', 'pi');
    else
      for (const part of run.match(SPLIT_LETTERS) ?? []) {
        const known = functionNamed(part);
        if (known) this.#push('function', known);
        else this.#push('letter', part, this.#upright ? { bare: true } : {});
      }
  }

  #word(word: string): void {
    const lower = word.toLowerCase();
    if (/^(?:percents?|pct)$/.test(lower)) this.#push('mark', '%');
    else if (/^deg(?:rees?)?$/.test(lower)) this.#push('mark', '°');
    else this.#push('word', lower, { written: word });
  }

  /** The text of the braces, or the one token, that follow. */
  #argument(): string {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
    if (this.#text[this.#at] !== '{') {
      const one = this.#match(/\\[A-Za-z]+|\\.|./y)?.[0] ?? '';
      this.#at += one.length;
      return one;
    }
    const start = this.#at + 1;
    for (let i = this.#at, depth = 0; i < this.#text.length; i++) {
      if (this.#text[i] === '\\') i++;
      else if (this.#text[i] === '{') depth++;
      else if (this.#text[i] === '}' && --depth === 0) {
        this.#at = i + 1;
        return this.#text.slice(start, i);
      }
    }
    this.#at = this.#text.length;
    return this.#text.slice(start);
  }

  #inner(text: string, upright: boolean): void {
    const tokens = new Scanner(text, upright, this.#commasSeparate || this.#inList).tokens();
    const [first, ...rest] = tokens;
    if (first) this.#tokens.push({ ...first, space: first.space || this.#space }, ...rest);
    // Space at the end of a text stands before what follows.
    this.#space = /\s$/.test(text);
  }

  #command(): void {
    const name = this.#match(/\\([A-Za-z]+|[\s\S]?)\*?/y)![1]!;
    this.#at += 1 + name.length;
    if (this.#text[this.#at] === '*' && UPRIGHT.test(name)) this.#at++;
    if (name === '$') this.#money(name);
    else if (name === 'begin' || name === 'end') this.#environment(name);
    else if (UPRIGHT.test(name)) this.#inner(this.#argument(), true);
    else if (FRAMES.test(name)) this.#inner(this.#argument(), this.#upright);
    else if (UNSEEN.test(name)) this.#argument();
    else if (/^(?:SI|qty)$/.test(name)) {
      this.#inner(this.#argument(), false);
      this.#space = true;
      this.#inner(this.#argument(), true);
    } else if (ACCENTS.test(name)) {
      const under = this.#argument().replace(/[\s\\{}]/g, '');
      // Unit vectors, in any type.
      const axis = /^(?:vec|hat|widehat|overrightarrow)$/.test(name) && /^([ij])(?:math)?$|^k$/.exec(under);
      if (axis) {
        this.#push('letter', axis[1] ?? 'k');
        return;
      }
      this.#push('letter', `${name === 'Bbb' ? 'mathbb' : name}(${under})`);
    } else if (LAYOUT.test(name) || name === '') {
      // An invisible fence.
      if (/^(?:left|right)$/.test(name) && this.#text[this.#at] === '.') this.#at++;
      this.#space = true;
    } else this.#named(name);
  }

  /** The sign of money before a number, or behind one that has none. */
  #money(sign: string): void {
    const last = this.#last;
    if (last?.kind === 'number' && !last.money && !this.#match(/\s*[\d.]\d*/y))
      this.#tokens[this.#tokens.length - 1] = { ...last, money: sign };
    else this.#sign = sign;
  }

  #named(name: string): void {
    const mark = COMMAND_MARKS[name];
    const known = functionNamed(name);
    if (name === 'circ' && this.#last?.text !== '^' && this.#last?.text !== '{') this.#push('command', name);
    else if (mark === '\\\\') this.#rowEnd();
    else if (mark !== undefined) this.#bracket(mark);
    else if (known) this.#push('function', known);
    else if (GREEK.includes(name)) this.#push('letter', name);
    else if (Object.hasOwn(COMMAND_LETTERS, name)) this.#push('letter', COMMAND_LETTERS[name]!);
    else if (Object.hasOwn(COMMAND_WORDS, name)) this.#push('word', COMMAND_WORDS[name]!);
    else this.#push('command', name.replace(/^(?:[dtcs]|nice)frac$/, 'frac').replace(/^[dt]binom$/, 'binom'));
  }

  /** `\\\\` with the height that may follow it. */
  #rowEnd(): void {
    this.#at += this.#match(/\[-?[\d.]+ ?[a-z]{2}\]/y)?.[0].length ?? 0;
    this.#push('mark', '\\\\');
  }

  #environment(which: 'begin' | 'end'): void {
    const name = this.#argument().trim().replace('*', '');
    if (which === 'begin' && /^(?:array|tabular)$/.test(name)) this.#argument();
    this.#push('command', `${which}:${name}`);
  }

  /** A mark; brackets are counted. */
  #bracket(mark: string): void {
    if (['(', '[', '\\{', '⟨'].includes(mark)) this.#open.push(mark);
    else if (mark === '{') {
      const { kind, text } = this.#last ?? {};
      this.#open.push(
        kind === 'command' || kind === 'function' || ['^', '_', '}', ']'].includes(text ?? '')
          ? 'argument'
          : '{',
      );
    } else if ([')', ']', '}', '\\}', '⟩'].includes(mark)) this.#open.pop();
    this.#push('mark', mark);
  }

  #mark(char: string): void {
    const point = this.#text.codePointAt(this.#at)!;
    const whole = String.fromCodePoint(point);
    this.#at += whole.length;
    const greek = GREEK_LETTERS.indexOf(char);
    if (char !== '$' && isMoneySign(char)) {
      this.#money(char);
      return;
    }
    if (/[$₩₽₺]/.test(char)) return;
    // The point of an abbreviation.
    if (char === '.' && this.#last?.kind === 'word') return;
    if (greek >= 0) this.#push('letter', GREEK[greek]!);
    else if (char === 'ϵ' || char === 'ϕ') this.#push('letter', char === 'ϵ' ? 'epsilon' : 'phi');
    else if (char === '∞') this.#push('letter', 'infinity');
    else if (char === '∅') this.#push('letter', '∅');
    else if (char === '∠' || char === '△') this.#push('letter', char);
    else if (/[ℝℤℕℚℂ]/.test(char)) this.#push('letter', `mathbb(${char.normalize('NFKC')})`);
    else if (char === '√') this.#push('function', 'sqrt');
    else if (char === '∛' || char === '∜') this.#push('command', char);
    else if (SUPERSCRIPTS.includes(char)) this.#script('^', char, SUPERSCRIPTS);
    else if (SUBSCRIPTS.includes(char)) this.#script('_', char, SUBSCRIPTS);
    else if (/[¼½¾⅐-⅞]/.test(char)) {
      const [top = '1', bottom = '1'] = char.normalize('NFKC').split('⁄');
      this.#push('number', char, { value: new Fraction(BigInt(top), BigInt(bottom)) });
    } else if (char === '*' && this.#text[this.#at] === '*') {
      this.#at++;
      this.#push('mark', '^');
    } else if (
      (char === '<' || char === '>' || char === '!' || char === '=' || char === ':') &&
      this.#text[this.#at] === '='
    ) {
      this.#at++;
      this.#push('mark', { '<': '≤', '>': '≥', '!': '≠', '=': '=', ':': '=' }[char]!);
    } else this.#bracket(MARKS[char] ?? whole);
  }

  /** A run of raised or lowered digits. */
  #script(mark: string, first: string, alphabet: string): void {
    let run = first;
    while (alphabet.includes(this.#text[this.#at] ?? '?')) run += this.#text[this.#at++];
    const plain = [...run].map((char) => PLAIN_SCRIPTS[alphabet.indexOf(char)]).join('');
    this.#push('mark', mark);
    this.#push('mark', '{');
    this.#tokens.push(...new Scanner(plain, false, false).tokens());
    this.#push('mark', '}');
  }
}

/** Marks that end a sentence and mean nothing at the end of an answer. */
const ENDINGS = ['.', ',', ';', ':', '?', '\\\\'];

/** The sign of a union that people type: a U between two brackets. */
const withUnions = (tokens: readonly Token[]): Token[] =>
  tokens.map((token, i) =>
    token.kind === 'letter' &&
    token.text === 'U' &&
    /^[)\]}]|\\}$/.test(tokens[i - 1]?.text ?? '') &&
    /^[([]$|^\\?\{$/.test(tokens[i + 1]?.text ?? '')
      ? { ...token, kind: 'mark', text: '∪' }
      : token,
  );

/** Braces that only change the space around a sign, as in 2{:}3, and empty ones. */
const OPERATOR_IN_BRACES =
  /(?<![\^_A-Za-z\\])\{\s*([-+=:<>*/]|\\(?:times|cdot|div|pm|leq?|geq?|lt|gt|colon)|)\s*\}/g;
/** ± as people type it, where it cannot be a sum. */
const SIGNS_TYPED = /\+\/-|(^\s*(?:[A-Za-z]\s*=\s*)?)\+-/g;
/** The country of a dollar: US$ 5. */
const CURRENCY_OF = /(?<![A-Za-z\\])(?:US|CA|AU|NZ|HK|SG|[ACS])(\\?\$)(?=\s*[\d.])/g;

/** A dollar that no other closes is money. */
const ONE_DOLLAR = /^((?:[^$]|(?<=\\)\$)*)(?<!\\)\$(?=(?:[^$]|(?<=\\)\$)*$)/;

/** The tokens of an answer. `commasSeparate`: digits with commas between them are read as a list, though they could be thousands. */
export function tokensOf(text: string, commasSeparate = false): Token[] {
  const written = withDigits(withoutMarkdown(plainSpelling(text)))
    .replace(OPERATOR_IN_BRACES, '$1')
    .replace(SIGNS_TYPED, (_, before: string = '') => `${before}±`)
    .replace(CURRENCY_OF, '$1')
    .replace(ONE_DOLLAR, '$1\\$$');
  const tokens = withUnions(
    withMinutes(withDegrees(new Scanner(withoutInfixes(written), false, commasSeparate).tokens())),
  );
  while (ENDINGS.includes(tokens.at(-1)?.text ?? '')) tokens.pop();
  return tokens;
}
