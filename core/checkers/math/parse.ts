/**
 * Reads a mathematical answer as people and models write it, in LaTeX or in plain text. Bounded: at most `LONGEST` characters, and no
 * deeper than they allow. Products may be implied; units and other words after a value are left out, with their exponents, and kept as its `measure`.
 *
 *     answer    item ( (`,` | `;` | `or` | `and`) item )*
 *     item      relation | sets | bracketed list | matrix | ratio | digits_base | sum | words
 *     relation  side ( (`=` `<` `≤` `>` `≥` `≠` `≈` `≡` `∈`) side )+
 *     sets      item ( (`∪` `∩` `∖`) item )+
 *     sum       product ( (`+`|`-`) product )*
 *     product   signed ( (`*` | `/` | nothing) signed )* unit?
 *     signed    (`-`|`+`)* power            power    postfix ( `^` exponent )?
 *     postfix   atom (`!` | `%` | `°`)*     atom     number | mixed number | symbol | function argument | group | `|sum|` | \frac \sqrt \binom
 */
import Fraction from 'fraction.js';
import { invalid, ok, type ParseResult } from '../../recipe/task-family.ts';
import { conversions } from '../units.ts';
import { type FunctionName, type Token, tokensOf } from './tokens.ts';

export const LONGEST = 500;

/**
 * `unit`: it stands behind a number as a unit would, 10 s or 10 m^2, and may be one. `measure`: the unit that is left out behind the value, or the one
 * that such letters may be; `conversions` reads it.
 */
export type Expression =
  /** `decimals`: digits that are written after the point, where it is written so. */
  (
    | { readonly op: 'number'; readonly value: Fraction; readonly decimals?: number }
    | { readonly op: 'symbol'; readonly name: string }
    | { readonly op: BinaryOperation; readonly left: Expression; readonly right: Expression }
    | { readonly op: 'call'; readonly name: FunctionName; readonly of: Expression }
    | { readonly op: 'negate' | 'percent'; readonly of: Expression }
  ) & { readonly unit?: true; readonly measure?: string };
/** `root`: the right side’s root of the left one, as `\sqrt[3]{8}` writes it. */
export type BinaryOperation = 'add' | 'subtract' | 'multiply' | 'divide' | 'power' | 'binomial' | 'root';

export type Relation = '=' | '<' | '≤' | '>' | '≥' | '≠' | '≈' | '≡';

/** One side of a relation: what it says, and the name that it may be of something, such as `f(x)`, `AB` or `Area`. */
export interface Side {
  readonly answer: MathAnswer | null;
  readonly label: string | null;
}

export type MathAnswer =
  | { readonly kind: 'value'; readonly node: Expression }
  | { readonly kind: 'relation'; readonly relations: readonly Relation[]; readonly sides: readonly Side[] }
  /** `joined`: the word between the last two elements of a bare list. */
  | {
      readonly kind: 'list';
      readonly brackets: string;
      readonly items: readonly MathAnswer[];
      readonly joined: ',' | 'or' | 'and';
    }
  | { readonly kind: 'sets'; readonly op: '∪' | '∩' | '∖'; readonly parts: readonly MathAnswer[] }
  | { readonly kind: 'matrix'; readonly fence: string; readonly rows: readonly (readonly MathAnswer[])[] }
  | { readonly kind: 'ratio'; readonly parts: readonly Expression[]; readonly clock: string | null }
  /** Digits in a base of their own, which is part of the answer. */
  | { readonly kind: 'based'; readonly digits: string; readonly base: string }
  /** Words, dates, and what else is compared as a text; `amount`: the value that quantities come to, in the unit of the last. */
  | { readonly kind: 'text'; readonly text: string; readonly amount?: Expression };

/** Thrown to end parsing, with the reason. */
class ParseFailure extends Error {}
const fail = (reason = 'no-expression'): never => {
  throw new ParseFailure(reason);
};

const OPENING = ['(', '[', '{', '\\{', '⟨'];
const CLOSING: Readonly<Record<string, string>> = {
  '(': ')',
  '[': ']',
  '{': '}',
  '\\{': '\\}',
  '|': '|',
  '⟨': '⟩',
};
const CLOSERS = [')', ']', '}', '\\}', '⟩'];
const number = (value: Fraction): Expression => ({ op: 'number', value });
const negated = (of: Expression): Expression => ({ op: 'negate', of });
const binary = (op: BinaryOperation, left: Expression, right: Expression): Expression => ({
  op,
  left,
  right,
});

const SCALES: Readonly<Record<string, number>> = {
  hundred: 2,
  thousand: 3,
  million: 6,
  billion: 9,
  trillion: 12,
};
const CONNECTIVES = ['or', 'and'];
/** Words that change the value that they stand after, so that they are no units. */
const ARITHMETIC =
  /^(?:squared|cubed|plus|minus|times|over|divided|dozens?|hal(?:f|ves)|thirds?|quarters?|fifths?|tenths?|hundreds|hundredths?|thousands|thousandths?|millions|millionths?|less|more|of|not|to|if|for|is|are|was|were|has|have)$/;
const TRIGONOMETRIC = ['sin', 'cos', 'tan', 'cot', 'sec', 'csc'];
/** Functions whose exponent −1 is their inverse. */
const INVERTED: Readonly<Record<string, FunctionName>> = {
  sin: 'arcsin',
  cos: 'arccos',
  tan: 'arctan',
  sinh: 'arcsinh',
  cosh: 'arccosh',
  tanh: 'arctanh',
};
/** Letters that are variables or constants in upright type, too. */
const NO_UNITS = ['e', 'i', 'x', 'y', 'z', 'n', 'k', 'd', 'pi'];

const isUnitWord = (token: Token | undefined): boolean =>
  token !== undefined &&
  ((token.kind === 'word' &&
    !CONNECTIVES.includes(token.text) &&
    !Object.hasOwn(SCALES, token.text) &&
    !ARITHMETIC.test(token.text)) ||
    (token.kind === 'letter' && token.bare === true && !NO_UNITS.includes(token.text)));

/** Letters that are units beside another one: km/h, kg/m^3. */
const UNIT_LETTERS = 'mshgLlJNWKVAC';
const UNIT_PART = String.raw`(?:mu|[kcdmM])?(?:[${UNIT_LETTERS}]|Omega)(?:\^(?:\{-?\d+\}|-?\d+))?`;
const UNIT_PRODUCT = String.raw`${UNIT_PART}(?:\*?${UNIT_PART})*`;
/** Letters of a unit with exponents, products and quotients, with m in place of its words. */
const UNIT = new RegExp(String.raw`^${UNIT_PRODUCT}(?:/(?:${UNIT_PART}|\(${UNIT_PRODUCT}\)))*$`);

/** Tokens of a unit as a text: letters that stand side by side stay so. */
const unitText = (tokens: readonly Token[]): string =>
  tokens
    .map(({ kind, text, written = text, space }, i) => {
      const side = kind === 'letter' && tokens[i - 1]?.kind === 'letter' && !space;
      return `${side || tokens[i - 1]?.text === 'mu' ? '' : ' '}${text === 'mu' ? 'µ' : text === 'Omega' ? 'Ω' : text === 'ell' ? 'L' : written}`;
    })
    .join('')
    .trim();

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;
  /** Depth of open bars: inside them a bar closes. */
  #bars = 0;
  /** Depth of arguments of trigonometric functions: inside them a degree is π/180. */
  #angles = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get #next(): Token | undefined {
    return this.#tokens[this.#at];
  }

  /** All of the tokens as one expression. */
  whole(): Expression {
    const node = this.#sum();
    if (this.#next !== undefined) fail(this.#next.kind === 'command' ? 'unknown-command' : undefined);
    return node;
  }

  #is(text: string, ahead = 0): boolean {
    const token = this.#tokens[this.#at + ahead];
    return token?.text === text && (token.kind === 'mark' || token.kind === 'command');
  }

  #take(...wanted: readonly string[]): string | undefined {
    const found = wanted.find((text) => this.#is(text));
    if (found !== undefined) this.#at++;
    return found;
  }

  #expect(text: string): void {
    if (!this.#take(text)) fail();
  }

  #sum(): Expression {
    let left = this.#product();
    for (let sign = this.#take('+', '-'); sign; sign = this.#take('+', '-'))
      left = binary(sign === '+' ? 'add' : 'subtract', left, this.#product());
    return left;
  }

  #product(): Expression {
    let left = this.#signed();
    for (;;) {
      const start = this.#at;
      if (this.#unit()) {
        const unit = unitText(this.#tokens.slice(start, this.#at));
        left = { ...left, measure: left.measure ? `${left.measure} ${unit}` : unit };
        // Two quantities beside each other, as in "5 feet 3 inches", are no product.
        if (this.#beginsAtom()) fail();
      } else if (this.#next?.kind === 'word' && Object.hasOwn(SCALES, this.#next.text))
        left = binary(
          'multiply',
          left,
          number(new Fraction(10n ** BigInt(SCALES[this.#tokens[this.#at++]!.text]!))),
        );
      else if (this.#take('*')) left = binary('multiply', left, this.#signed());
      else if (this.#take('/')) left = binary('divide', left, this.#signed());
      else if (this.#beginsAtom()) {
        // "3 4" is no product.
        if (this.#next?.kind === 'number' && this.#tokens[this.#at - 1]?.kind === 'number') fail();
        left = binary('multiply', left, this.#lastUnit() ?? this.#power());
      } else return left;
    }
  }

  /** Do letters and words of a unit stand here up to the end, with space between them and the number before: m, m^2, N m, J/(kg K)? */
  #isLastUnit(): boolean {
    const [number, letter] = this.#tokens.slice(this.#at - 1, this.#at + 1);
    if (letter?.kind !== 'letter' || !letter.space) return false;
    // Behind a power of ten, too, where nothing before it could be a variable.
    const isPower =
      number?.text === '}' &&
      this.#tokens.slice(0, this.#at).every(({ kind }) => /^(?:number|mark)$/.test(kind));
    if (number?.kind !== 'number' && !isPower) return false;
    return UNIT.test(
      this.#tokens
        .slice(this.#at)
        .map((token) => (isUnitWord(token) ? 'm' : token.text))
        .join(''),
    );
  }

  /** A unit of letters at the end, which may be variables as well. */
  #lastUnit(): Expression | null {
    if (!this.#isLastUnit()) return null;
    const measure = unitText(this.#tokens.slice(this.#at));
    let unit = this.#power();
    while (this.#next !== undefined)
      if (this.#take('/')) unit = binary('divide', unit, this.#power());
      else {
        this.#take('*');
        unit = binary('multiply', unit, this.#power());
      }
    return { ...unit, unit: true, measure };
  }

  /** Passes over a unit: words with exponents, joined by signs of products and quotients. */
  #unit(): boolean {
    const start = this.#at;
    let end = start;
    if (this.#isLastUnit() && this.#tokens.slice(start).some(isUnitWord)) {
      this.#at = this.#tokens.length;
      return true;
    }
    for (;;) {
      const joined = this.#take('*', '/');
      if (joined && this.#unitFraction()) fail();
      if (this.#is('(') && this.#unitGroup()) end = this.#at;
      else if (!joined && this.#unitFraction()) end = this.#at;
      else if (isUnitWord(this.#next) || this.#unitBeside(end > start, joined !== undefined)) {
        this.#at++;
        this.#unitExponent();
        if (/^(?:squared|cubed)$/.test(this.#next?.text ?? '')) this.#at++;
        end = this.#at;
      } else break;
    }
    this.#at = end;
    return end > start;
  }

  /** Seconds, whose name is a function's too; and a letter after another unit, or the m of m/s after a number. `joined`: behind a sign. */
  #unitBeside(behindUnit: boolean, joined: boolean): boolean {
    const { kind, text = '', space } = this.#next ?? {};
    const after = this.#tokens[this.#at + 1];
    if (kind === 'function') return text === 'sec' && (!after || /^[,;)}/]$/.test(after.text));
    if (kind !== 'letter') return false;
    if (behindUnit) return (joined || space === true) && UNIT_LETTERS.includes(text);
    if (joined) return false;
    const [number, second] = [this.#tokens[this.#at - 1], this.#tokens[this.#at + 2]];
    const perSecond = text === 'm' && after?.text === '/' && second?.text === 's' && second.kind === 'letter';
    return perSecond && space === true && number?.kind === 'number';
  }

  #unitExponent(): void {
    if (!this.#take('^')) return;
    if (this.#take('{')) {
      while (this.#next !== undefined && !this.#is('}')) this.#at++;
      this.#expect('}');
    } else {
      this.#take('-');
      this.#at++;
    }
  }

  /** Words in brackets, "9 (apples)"; nothing is taken where there is something else in them. */
  #unitGroup(close = ')'): boolean {
    const start = this.#at++;
    let words = 0;
    while (isUnitWord(this.#next) || this.#is('*') || this.#is('/')) {
      if (isUnitWord(this.#next)) words++;
      this.#at++;
      this.#unitExponent();
    }
    if (words > 0 && this.#take(close)) {
      this.#unitExponent();
      return true;
    }
    this.#at = start;
    return false;
  }

  /** \frac{\text{m}}{\text{s}} */
  #unitFraction(): boolean {
    const start = this.#at;
    if (!this.#take('frac')) return false;
    if (this.#is('{') && this.#unitGroup('}') && this.#is('{') && this.#unitGroup('}')) return true;
    this.#at = start;
    return false;
  }

  #signed(): Expression {
    if (this.#take('-')) return negated(this.#signed());
    if (this.#take('+')) return this.#signed();
    return this.#power();
  }

  #power(): Expression {
    const base = this.#postfix();
    if (!this.#is('^')) return base;
    // 5^{\text{th}}
    if (this.#is('{', 1) && isUnitWord(this.#tokens[this.#at + 2])) {
      this.#unitExponent();
      return base;
    }
    this.#at++;
    return this.#marked(binary('power', base, this.#exponent()));
  }

  #exponent(): Expression {
    if (this.#take('-')) return negated(this.#exponent());
    if (this.#take('+')) return this.#exponent();
    // A bare number is the exponent whole: a fraction beside it is a factor.
    const { kind, value } = this.#next ?? {};
    if (kind === 'number' && value && !this.#is('^', 1)) {
      this.#at++;
      return number(value);
    }
    return this.#power();
  }

  #postfix(): Expression {
    return this.#marked(this.#atom());
  }

  #marked(of: Expression): Expression {
    let node = of;
    for (let mark = this.#take('!', '%', '°'); mark; mark = this.#take('!', '%', '°'))
      if (mark === '!') node = { op: 'call', name: 'factorial', of: node };
      else if (mark === '%') node = { op: 'percent', of: node };
      else if (this.#angles > 0)
        node = binary(
          'divide',
          binary('multiply', node, { op: 'symbol', name: 'pi' }),
          number(new Fraction(180)),
        );
      else node = { ...node, measure: `°${this.#tokens[this.#at - 1]!.written ?? ''}` };
    return node;
  }

  #beginsAtom(): boolean {
    const token = this.#next;
    if (token === undefined || token.kind === 'word') return false;
    if (token.kind === 'mark')
      return token.text === '|' ? this.#bars === 0 : ['(', '[', '{'].includes(token.text);
    if (token.kind === 'command') return !/^(?:rfloor|rceil|begin:.*|end:.*)$/.test(token.text);
    return true;
  }

  #group(open: string): Expression {
    // Bars outside do not close inside brackets.
    const outer = this.#bars;
    this.#bars = open === '|' ? outer + 1 : 0;
    const inner = this.#sum();
    this.#bars = outer;
    this.#expect(CLOSING[open]!);
    return inner;
  }

  /** The argument of \frac and the like: a group, or the next digit or name. */
  #argument(): Expression {
    if (this.#take('{')) return this.#group('{');
    if (this.#next?.kind === 'number' && !/^\d$/.test(this.#next.text)) fail();
    return this.#atom();
  }

  #atom(): Expression {
    const token = this.#next;
    if (token === undefined) return fail();
    this.#at++;
    const { kind, text } = token;
    if (kind === 'number') return this.#combination(token) ?? this.#number(token);
    if (kind === 'letter') return this.#symbol(text);
    if (kind === 'function') return text === 'sqrt' ? this.#root() : this.#call(text);
    if (kind === 'mark') {
      if (text === '|') return { op: 'call', name: 'abs', of: this.#group('|') };
      return ['(', '[', '{'].includes(text) ? this.#group(text) : fail();
    }
    if (text === 'frac') return binary('divide', ...this.#two());
    if (text === 'binom') return binary('binomial', ...this.#two());
    if (text === '∛' || text === '∜')
      return binary('root', this.#argument(), number(new Fraction(text === '∛' ? 3 : 4)));
    if (text === 'lfloor' || text === 'lceil') {
      const inner = this.#sum();
      this.#expect(text === 'lfloor' ? 'rfloor' : 'rceil');
      return { op: 'call', name: text === 'lfloor' ? 'floor' : 'ceil', of: inner };
    }
    return fail(kind === 'command' ? 'unknown-command' : undefined);
  }

  /** A number, with the fraction beside it where the two are a mixed number: a whole part and a proper fraction of whole numbers. */
  #number({ value = new Fraction(0), bare, text }: Token): Expression {
    const fraction = bare ? this.#properFraction() : null;
    if (fraction) return number(value.add(fraction));
    const decimals = /\.(\d+)$/.exec(text)?.[1]?.length;
    return decimals === undefined ? number(value) : { op: 'number', value, decimals };
  }

  /** 10C3, without space in it. */
  #combination({ value, bare }: Token): Expression | null {
    const [letter, below] = this.#tokens.slice(this.#at, this.#at + 2);
    if (!bare || letter?.text !== 'C' || letter.space || !below?.bare || below.space || !below.value)
      return null;
    this.#at += 2;
    return binary('binomial', number(value!), number(below.value));
  }

  /** C(10, 3): the two arguments behind its name; null where there is something else. */
  #choosing(): Expression | null {
    const [open, above, comma, below, close] = this.#tokens.slice(this.#at, this.#at + 5);
    if (open?.text !== '(' || comma?.text !== ',' || close?.text !== ')') return null;
    if (above?.kind !== 'number' || below?.kind !== 'number') return null;
    this.#at += 5;
    return binary('binomial', number(above.value!), number(below.value!));
  }

  #properFraction(): Fraction | null {
    const start = this.#at;
    const fraction = this.#fractionHere();
    if (fraction && fraction.compare(0) > 0 && fraction.compare(1) < 0) return fraction;
    this.#at = start;
    return null;
  }

  #wholeNumber(): Fraction | null {
    const token = this.#next;
    if (token?.kind !== 'number' || !token.bare) return null;
    this.#at++;
    return token.value!;
  }

  #fractionHere(): Fraction | null {
    const token = this.#next;
    if (token?.kind === 'number' && /^[^\d.]/.test(token.text)) {
      this.#at++;
      return token.value!;
    }
    let top: Fraction | null;
    let bottom: Fraction | null;
    if (this.#take('frac')) {
      if (this.#next?.kind === 'number' && /^\d\d$/.test(this.#next.text)) {
        const digits = this.#tokens[this.#at++]!.text;
        [top, bottom] = [new Fraction(digits[0]!), new Fraction(digits[1]!)];
      } else {
        top = this.#bracedWhole();
        bottom = top && this.#bracedWhole();
      }
    } else {
      if (!token?.space) return null;
      top = this.#wholeNumber();
      bottom = top && this.#take('/') ? this.#wholeNumber() : null;
    }
    return top && bottom && bottom.n !== 0n ? top.div(bottom) : null;
  }

  #bracedWhole(): Fraction | null {
    const braced = this.#take('{') !== undefined;
    if (!braced && !/^\d$/.test(this.#next?.text ?? '')) return null;
    const value = this.#wholeNumber();
    return value && (!braced || this.#take('}')) ? value : null;
  }

  #two(): [Expression, Expression] {
    // \frac12 is one half: the digits of a bare number are arguments of their own.
    const { kind, text = '' } = this.#next ?? {};
    if (kind === 'number' && /^\d\d$/.test(text)) {
      this.#at++;
      return [number(new Fraction(text[0]!)), number(new Fraction(text[1]!))];
    }
    return [this.#argument(), this.#argument()];
  }

  #root(): Expression {
    if (!this.#take('[')) {
      const of = this.#is('(')
        ? this.#atom()
        : this.#next?.kind === 'number'
          ? this.#atom()
          : this.#argument();
      return { op: 'call', name: 'sqrt', of };
    }
    const degree = this.#group('[');
    return binary('root', this.#argument(), degree);
  }

  #call(name: string): Expression {
    let base: Expression | undefined = name === 'lg' ? number(new Fraction(10)) : undefined;
    if (name === 'log' && this.#take('_')) base = this.#base();
    let called = (name === 'log' || name === 'lg' ? 'ln' : name) as FunctionName;
    let exponent: Expression | undefined;
    if (this.#take('^')) {
      exponent = this.#exponent();
      const inverse = INVERTED[name];
      if (inverse && isMinusOne(exponent)) {
        called = inverse;
        exponent = undefined;
      }
    }
    const of = this.#operand(TRIGONOMETRIC.includes(called));
    let value: Expression = { op: 'call', name: called, of };
    if (base) value = binary('divide', value, { op: 'call', name: 'ln', of: base });
    return exponent ? binary('power', value, exponent) : value;
  }

  /** The base of a logarithm: braces, a number, or a name. */
  #base(): Expression {
    const { kind, value } = this.#next ?? {};
    if (kind !== 'number') return this.#argument();
    this.#at++;
    return number(value!);
  }

  #operand(angle: boolean): Expression {
    if (angle) this.#angles++;
    let of: Expression;
    if (this.#is('(') || this.#is('{') || this.#is('[')) of = this.#postfix();
    else {
      of = this.#is('-') ? this.#signed() : this.#power();
      while (this.#beginsAtom() && this.#next?.kind !== 'function')
        of = binary('multiply', of, this.#power());
    }
    if (angle) this.#angles--;
    return of;
  }

  #symbol(name: string): Expression {
    const chosen = name === 'C' ? this.#choosing() : null;
    if (chosen) return chosen;
    let full = name;
    if (this.#take('_')) {
      let subscript = '';
      if (this.#take('{')) {
        while (this.#next !== undefined && !this.#is('}')) subscript += this.#tokens[this.#at++]!.text;
        this.#expect('}');
      } else subscript = this.#tokens[this.#at++]?.text ?? '';
      if (!/^[\p{L}\p{N}+,()-]+$/u.test(subscript)) fail();
      full = `${name}_${subscript}`;
    }
    while (this.#take("'")) full += "'";
    return { op: 'symbol', name: full };
  }
}

const isMinusOne = (node: Expression): boolean =>
  node.op === 'negate' && node.of.op === 'number' && node.of.value.equals(1);

/** Positions of marks outside all brackets and environments. */
function topLevel(tokens: readonly Token[], wanted: readonly string[]): number[] {
  let depth = 0;
  return tokens.flatMap(({ kind, text }, i) => {
    if (kind === 'mark' && OPENING.includes(text)) depth++;
    else if (kind === 'mark' && CLOSERS.includes(text)) depth--;
    else if (kind === 'command' && text.startsWith('begin:')) depth++;
    else if (kind === 'command' && text.startsWith('end:')) depth--;
    return depth === 0 && (kind === 'mark' || kind === 'word') && wanted.includes(text) ? [i] : [];
  });
}

function split(tokens: readonly Token[], cuts: readonly number[]): (readonly Token[])[] {
  return [...cuts, tokens.length].map((end, i) => tokens.slice(i ? cuts[i - 1]! + 1 : 0, end));
}

const RELATIONS: readonly string[] = ['=', '<', '≤', '>', '≥', '≠', '≈', '≡'];
const SET_SIGNS = ['∪', '∩', '∖'];
const SEPARATORS = [',', ';', '&', ...CONNECTIVES];
/** Signs that a text or an operation is long, of which only the value is asked. */
const OPERATIONS = /^(?:sum|prod|i*int|oint|lim|max|min|sup|inf|det|gcd|lcm|Pr|bigcup|bigcap)$/;

/** Is the first token’s bracket closed by the last one? */
function enclosed(tokens: readonly Token[]): boolean {
  let depth = 0;
  return tokens.every(({ kind, text }, i) => {
    if (kind === 'mark' && OPENING.includes(text)) depth++;
    else if (kind === 'mark' && CLOSERS.includes(text)) depth--;
    return depth > 0 || i === tokens.length - 1;
  });
}

const joined = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join('');
const allWords = (tokens: readonly Token[]): boolean =>
  tokens.length > 0 && tokens.every(({ kind }) => kind === 'word');

/** The tokens as words, where they are words, numbers and simple marks with at least one word among them. */
function textOf(tokens: readonly Token[]): MathAnswer {
  const readable = ({ kind, text }: Token) =>
    kind !== 'command' && kind !== 'function' && (kind !== 'mark' || /^[-,;:.()'/!?|]$/.test(text));
  if (!tokens.some(({ kind }) => kind === 'word') || !tokens.every(readable))
    return fail(tokens.some(({ kind }) => kind === 'command') ? 'unknown-command' : undefined);
  const texts = tokens.filter(({ kind }) => kind !== 'mark').map(({ text }) => text.toLowerCase());
  return { kind: 'text', text: plainWords(texts.join(' ')) };
}

/** Ways of saying that there is no value, as one. */
const plainWords = (text: string): string =>
  text
    .replace(
      /^(?:(?:there )?(?:is|are) )?no (real )?(?:solution|root|answer)s?(?: exists?)?$/,
      'no $1solution',
    )
    .replace(/^(?:it |the limit )?(?:does not|doesn t) exist$/, 'dne');

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
  const factor = joined(before) === '-' ? number(new Fraction(-1)) : new Reader(before).whole();
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

/** Digits with their base: 132_5, (132)_{5}, 1011_{\text{two}}. */
function based(tokens: readonly Token[]): MathAnswer | null {
  const [digits = '', base = '', ...more] = joined(tokens)
    .replace(/[(){}]/g, '')
    .split('_');
  const radix = NUMERALS[base] ?? base;
  if (more.length || tokens[0]?.text === '{' || !/^[\dA-F]+$/.test(digits) || !/^\d{1,2}$/.test(radix))
    return null;
  if (!/\d/.test(digits)) return null;
  if ([...digits].some((digit) => Number.parseInt(digit, 16) >= Number(radix))) return fail();
  return { kind: 'based', digits: digits.replace(/^0+(?=.)/, ''), base: radix };
}

const CLOCK = /^\d{1,2}(?::[0-5]\d){1,2}$/;
const HALVES_OF_DAY = /^[ap]m$/;

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
    parts: parts.map((part) => new Reader(part).whole()),
    clock: clock && timeOfDay(clock.replace(/^0(?=\d)/, ''), half),
  };
}

/** Afternoons by 24 hours; other times as they are written. */
function timeOfDay(clock: string, half: string): string {
  const hour = Number(clock.split(':')[0]);
  return half === 'pm' && hour >= 1 && hour < 12
    ? clock.replace(/^\d+/, String(hour + 12))
    : `${clock}${half}`;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MONTH =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/;

/** A date with the name of its month, as year, month and day. */
function namedDate(tokens: readonly Token[]): MathAnswer | null {
  const parts = tokens
    .filter(({ text }) => !/^(?:,|\.|of|the|st|nd|rd|th)$/.test(text))
    .map(({ text }) => text);
  const at = parts.findIndex((part) => MONTH.test(part));
  const [day, year] = at === 0 ? parts.slice(1) : [parts[0], parts[2]];
  if (at < 0 || at > 1 || parts.length !== 3 || !/^\d{1,2}$/.test(day ?? '') || !/^\d{4}$/.test(year ?? ''))
    return null;
  return { kind: 'text', text: `${year}-${1 + MONTHS.indexOf(parts[at]!.slice(0, 3))}-${Number(day)}` };
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
function quantities(tokens: readonly Token[]): MathAnswer | null {
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
    return { kind: 'value', node: number(dollars!.value.add(cents!.value.div(100))) };
  const measure = pairs.at(-1)!.unit;
  const converted = pairs.map(({ value, unit }) => {
    const factor = conversions(unit, measure)?.[0]?.factor;
    return factor && value.mul(factor);
  });
  const amount = converted.reduce((sum, part) => sum && part && sum.add(part), new Fraction(0));
  const text = pairs.map(({ value, unit }) => `${value.toFraction()} ${unit}`).join(' ');
  return { kind: 'text', text, ...(amount ? { amount: { ...number(amount), measure } } : {}) };
}

const DATE = /^(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\/\d{1,2}\/(?:\d{4}|\d\d)|\d{1,2}\.\d{1,2}\.\d{4})$/;

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
    return { kind: 'value', node: new Reader(tokens).whole() };
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

/** What may stand before an answer and says no part of it. */
const LEADING =
  /^(?:so|thus|hence|therefore|then|therefore|because|implies|Rightarrow|Longrightarrow|rightarrow|to|[=⇒→∴:])$/;

type Words = readonly [words: string, sign: string];
const COMPARED: readonly Words[] = [
  ['greater than or equal to', '≥'],
  ['more than or equal to', '≥'],
  ['less than or equal to', '≤'],
  ['not equal to', '≠'],
  ['greater than', '>'],
  ['larger than', '>'],
  ['more than', '>'],
  ['less than', '<'],
  ['smaller than', '<'],
  ['fewer than', '<'],
  ['at least', '≥'],
  ['at most', '≤'],
  ['equal to', '='],
  ['equals', '='],
];
const ALL = /^(?:all|any|every)$/;
/** A symbol without a name: what "all numbers above 3" are. */
const NAMELESS: Token = { kind: 'letter', text: 'numbers', space: true };

/** Comparisons in words as signs: "x is greater than 3", "all real numbers at most 5", "all x such that x > 3". */
function withSigns(tokens: readonly Token[]): readonly Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const found = COMPARED.find(([words]) =>
      words.split(' ').every((word, k) => tokens[i + k]?.kind === 'word' && tokens[i + k]!.text === word),
    );
    if (!found) out.push(tokens[i]!);
    else {
      while (/^(?:is|are|be|must|that)$/.test(out.at(-1)?.text ?? '')) out.pop();
      out.push({ kind: 'mark', text: found[1], space: true });
      i += found[0].split(' ').length - 1;
    }
  }
  // "x is 5"
  const verb = out.findIndex(({ kind }) => kind !== 'letter');
  if (verb > 0 && out[verb]!.text === 'is' && out[verb + 1] && out[verb + 1]!.kind !== 'word')
    out[verb] = { kind: 'mark', text: '=', space: true };
  const start = out.findIndex(({ kind, text }) => kind === 'word' && /^(?:that|where|which)$/.test(text));
  if (
    start > 0 &&
    ALL.test(out[0]!.text) &&
    out.slice(0, start).every(({ kind }) => /^(?:word|letter)$/.test(kind))
  )
    return out.slice(start + 1);
  const sign = out.findIndex(({ text }) => RELATIONS.includes(text) && text !== '=');
  const nameless = sign === 0 || (sign > 0 && allWords(out.slice(0, sign)) && ALL.test(out[0]!.text));
  return nameless && out[sign]!.text !== '≈' ? [NAMELESS, ...out.slice(sign)] : out;
}

/** Words that say that what follows is the answer: "The answer is", "Answer:", "Area is". */
const INTRODUCING = ['is', 'are', 'equals', 'answer', ':', 'about', 'approximately', 'roughly'];

function withoutIntroduction(given: readonly Token[]): readonly Token[] {
  const start = given.findIndex(({ text, kind }) => !(kind !== 'letter' && LEADING.test(text)));
  const rest = start > 0 ? given.slice(given[start]!.text === ',' ? start + 1 : start) : given;
  const tokens = withSigns(rest);
  // "The value of x is 5"; what is said in words is left whole.
  const verb = tokens.findLastIndex(({ kind, text }) => kind === 'word' && /^(?:is|are|equals)$/.test(text));
  const after = tokens[verb + 1];
  if (verb > 0 && tokens[0]!.kind === 'word' && after && after.kind !== 'word') return tokens.slice(verb + 1);
  // "the point (3, 5)"
  const noun = tokens.findIndex(({ kind }) => kind !== 'word');
  if (
    noun > 0 &&
    tokens[0]!.text === 'the' &&
    /^(?:points?|interval|set|vector|pair)$/.test(tokens[noun - 1]!.text)
  )
    return tokens.slice(noun);
  const end = tokens.findIndex(({ kind, text }) => kind !== 'word' && text !== ':');
  const introduced = end > 0 && INTRODUCING.includes(tokens[end - 1]!.text) && allWords(tokens.slice(0, 1));
  return introduced ? tokens.slice(end) : tokens;
}

function answerOf(given: readonly Token[]): MathAnswer {
  const introduced = withoutIntroduction(given);
  const [first] = introduced;
  const isNoPart = first?.kind === 'word' ? /^(?:either|both)$/.test(first.text) : first?.text === '≈';
  const tokens = isNoPart ? introduced.slice(1) : introduced;
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
