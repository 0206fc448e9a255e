/**
 * Reads one expression. Products may be implied; units and other words after a value are left out, with their exponents, and kept as its `measure`.
 *
 *     sum       product ( (`+`|`-`) product )*
 *     product   signed ( (`*` | `/` | nothing) signed )* unit?
 *     signed    (`-`|`+`)* power            power    postfix ( `^` exponent )?
 *     postfix   atom (`!` | `%` | `°`)*     atom     number | mixed number | symbol | function argument | group | `|sum|` | \frac \sqrt \binom
 */
import Fraction from 'fraction.js';
import { CLOSING } from './brackets.ts';
import type { FunctionName } from './names.ts';
import type { Token } from './token.ts';
import { binary, type Expression, fail, negated, number } from './tree.ts';

const SCALES: Readonly<Record<string, number>> = {
  hundred: 2,
  lakh: 5,
  lakhs: 5,
  crore: 7,
  crores: 7,
  thousand: 3,
  million: 6,
  billion: 9,
  trillion: 12,
};
export const CONNECTIVES = ['or', 'and'];
/** Words that change the value that they stand after, so that they are no units. */
const ARITHMETIC =
  /^(?:squared|cubed|plus|minus|times|over|divided|dozens?|gross|score|grand|tens|myriads?|mille|\w*fold|hal(?:f|ves)|thirds?|quarters?|hundreds|thousands|millions|billions|(?:f(?:if|our)|six|seven|eigh|nin|ten|twelf|twentie|sixteen|hundred|thousand|million|billion)ths?|root|inverse|reciprocal|less|fewer|more|no|never|maybe|perhaps|possibly|unless|except|instead|otherwise|of|not|to|if|for|is|are|was|were|has|have)$/;
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
/** The tokens of one expression, read by recursive descent. */
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
        left = this.#scaled(left, new Fraction(10n ** BigInt(SCALES[this.#tokens[this.#at++]!.text]!)));
      else if (this.#take('*')) left = binary('multiply', left, this.#signed());
      else if (this.#take('/')) left = binary('divide', left, this.#signed());
      else if (this.#beginsAtom()) {
        // "3 4" is no product.
        if (this.#next?.kind === 'number' && this.#tokens[this.#at - 1]?.kind === 'number') fail();
        left = binary('multiply', left, this.#lastUnit() ?? this.#power());
      } else return left;
    }
  }

  /** A number in thousands or the like is one number. */
  #scaled(of: Expression, scale: Fraction): Expression {
    if (of.op !== 'number') return binary('multiply', of, number(scale));
    return { ...number(of.value.mul(scale)), ...(of.measure && { measure: of.measure }) };
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
  #number({ value = new Fraction(0), bare, text, money }: Token): Expression {
    const measured = money ? { measure: money } : {};
    const fraction = bare ? this.#properFraction() : null;
    if (fraction) return { ...number(value.add(fraction)), ...measured };
    const decimals = /\.(\d+)$/.exec(text)?.[1]?.length;
    return { op: 'number', value, ...(decimals !== undefined && { decimals }), ...measured };
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

/** All of the tokens as one expression. Throws `ParseFailure` where they are none. */
export const expressionOf = (tokens: readonly Token[]): Expression => new Reader(tokens).whole();
