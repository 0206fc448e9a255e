/**
 * Reads a mathematical expression as people and models write it, in LaTeX or in plain text. Bounded: at most `LONGEST` characters, and
 * no deeper than they allow. Products may be implied; a run of letters that is no known name is a product of variables.
 *
 *     answer   sum ( `=` sum )*, or a list: `(1, 2)`  `[0, 1)`  `\{1, 2\}`  `1, 2`
 *     sum      product ( (`+`|`-`) product )*
 *     product  signed ( (`*` `\cdot` `\times` | `/` `\div` | nothing) signed )*
 *     signed   (`-`|`+`)* power            power    postfix ( `^` exponent )?
 *     postfix  atom (`!` | `%`)*           atom     number | name | function argument | group | `|sum|` | \frac \sqrt \binom
 */
import Fraction from 'fraction.js';
import { invalid, ok, type ParseResult } from '../../recipe/task-family.ts';

export const LONGEST = 500;

export type Expression =
  | { readonly op: 'number'; readonly value: Fraction }
  | { readonly op: 'symbol'; readonly name: string }
  | { readonly op: BinaryOperation; readonly left: Expression; readonly right: Expression }
  | { readonly op: 'call'; readonly name: FunctionName; readonly of: Expression };
export type BinaryOperation = 'add' | 'subtract' | 'multiply' | 'divide' | 'power' | 'binomial';

export const FUNCTIONS = [
  'sqrt',
  'exp',
  'ln',
  'sin',
  'cos',
  'tan',
  'cot',
  'sec',
  'csc',
  'arcsin',
  'arccos',
  'arctan',
  'sinh',
  'cosh',
  'tanh',
  'abs',
  'factorial',
  'floor',
  'ceil',
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/** Other names of functions. Every logarithm without a base is the natural one. */
const ALIASES: Readonly<Record<string, FunctionName>> = {
  log: 'ln',
  asin: 'arcsin',
  acos: 'arccos',
  atan: 'arctan',
};
const functionNamed = (name: string): FunctionName | undefined =>
  FUNCTIONS.find((known) => known === name) ?? ALIASES[name];

/** Names of more than one letter that are no product of letters. */
const NAMES = [
  'pi',
  'infinity',
  'alpha',
  'beta',
  'gamma',
  'delta',
  'epsilon',
  'theta',
  'lambda',
  'mu',
  'sigma',
  'phi',
  'omega',
];
const WORDS = [...FUNCTIONS, ...Object.keys(ALIASES), ...NAMES].sort((a, b) => b.length - a.length);
const SPLIT_LETTERS = new RegExp(`${WORDS.join('|')}|[A-Za-z]`, 'g');
const TOKENS = /\\[A-Za-z]+|\\.|\d+(?:\.\d*)?|\.\d+|[A-Za-z]+|\*\*|\S/g;

/** Commands that only change the layout. */
const LAYOUT =
  /\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle|limits|quad|qquad)(?![A-Za-z])|\\[,;:! ()[\]]|\$|\\\$|~/g;
const TEXT = /\\(?:text|textbf|textrm|mbox|mathrm|mathbf|operatorname)\s*\{([^{}]*)\}/g;

/** One relation's sides, or a list of elements with its brackets. */
export type MathAnswer =
  | { readonly kind: 'relation'; readonly sides: readonly Expression[] }
  | { readonly kind: 'list'; readonly brackets: string; readonly items: readonly Expression[] };

/** Thrown to end parsing, with the reason. */
class ParseFailure extends Error {}

/** Units and words in a text command are dropped; a single letter or a function's name in one is kept. */
const keepNames = (_: string, inner: string): string => {
  const name = inner.trim();
  return /^[A-Za-z]$/.test(name) || functionNamed(name) ? ` ${name} ` : ' ';
};

function tokensOf(text: string): string[] {
  const plain = text
    .normalize('NFC')
    .replace(/[−–]/g, '-')
    .replace(/[×·⋅]/g, '*')
    .replace(/÷/g, '/')
    .replace(/π/g, ' pi ')
    .replace(/√/g, ' sqrt ')
    .replace(/°|\^\s*\{?\s*\\circ\s*\}?/g, ' ')
    .replace(/(\d)(?:\{,\}|\\,)(?=\d{3}(?!\d))/g, '$1')
    .replace(/(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)/g, (number) => number.replaceAll(',', ''))
    .replace(TEXT, keepNames)
    .replace(LAYOUT, ' ');
  return (plain.match(TOKENS) ?? []).flatMap((token) =>
    /^[A-Za-z]/.test(token) ? (token.match(SPLIT_LETTERS) ?? []) : [token],
  );
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '\\{': '\\}', '|': '|' };
const number = (value: Fraction): Expression => ({ op: 'number', value });
const ZERO = number(new Fraction(0));
const isWhole = (node: Expression): boolean => node.op === 'number' && node.value.d === 1n;

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;
  /** Depth of open bars: inside them a bar closes. */
  #bars = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  get next(): string | undefined {
    return this.#tokens[this.#at];
  }

  take(...wanted: readonly string[]): string | undefined {
    const token = this.next;
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#at++;
    return token;
  }

  expect(token: string): void {
    if (!this.take(token)) throw new ParseFailure('no-expression');
  }

  sum(): Expression {
    let left = this.product();
    for (let sign = this.take('+', '-'); sign; sign = this.take('+', '-'))
      left = { op: sign === '+' ? 'add' : 'subtract', left, right: this.product() };
    return left;
  }

  product(): Expression {
    let left = this.signed();
    for (;;) {
      if (this.take('*', '\\cdot', '\\times', '\\ast')) left = { op: 'multiply', left, right: this.signed() };
      else if (this.take('/', '\\div', ':')) left = { op: 'divide', left, right: this.signed() };
      else if (this.#beginsAtom()) {
        const mixed = isWhole(left) && this.#beginsFraction();
        const right = this.power();
        const fraction = right.op === 'divide' && isWhole(right.left) && isWhole(right.right);
        left = { op: mixed && fraction ? 'add' : 'multiply', left, right };
      } else return left;
    }
  }

  signed(): Expression {
    if (this.take('-')) return { op: 'subtract', left: ZERO, right: this.signed() };
    if (this.take('+')) return this.signed();
    return this.power();
  }

  power(): Expression {
    const base = this.#postfix();
    if (!this.take('^', '**')) return base;
    return { op: 'power', left: base, right: this.#exponent() };
  }

  #exponent(): Expression {
    if (this.take('-')) return { op: 'subtract', left: ZERO, right: this.#exponent() };
    return this.power();
  }

  #postfix(): Expression {
    let node = this.#atom();
    for (let mark = this.take('!', '%', '\\%'); mark; mark = this.take('!', '%', '\\%'))
      node =
        mark === '!'
          ? { op: 'call', name: 'factorial', of: node }
          : { op: 'divide', left: node, right: number(new Fraction(100)) };
    return node;
  }

  #beginsFraction(): boolean {
    return /^\\[dtc]?frac$/.test(this.next ?? '');
  }

  #beginsAtom(): boolean {
    const token = this.next ?? '';
    if (token === '|') return this.#bars === 0;
    if (/^[\d.A-Za-z]/.test(token) || token === '(' || token === '{' || token === '[') return true;
    return (
      /^\\(?:[dtc]?frac|sqrt|d?binom|lfloor|lceil|[A-Za-z]+)$/.test(token) &&
      !/^\\(?:cdot|times|ast|div|rfloor|rceil)$/.test(token)
    );
  }

  #group(open: string): Expression {
    // Bars outside do not close inside brackets.
    const outer = this.#bars;
    this.#bars = open === '|' ? outer + 1 : 0;
    const inner = this.sum();
    this.#bars = outer;
    this.expect(CLOSING[open]!);
    return inner;
  }

  /** The argument of \frac and the like: a group, or the next digit or name. */
  #argument(): Expression {
    if (this.take('{')) return this.#group('{');
    const token = this.next ?? '';
    if (/^\d{2,}$/.test(token)) throw new ParseFailure('no-expression');
    return this.#atom();
  }

  #atom(): Expression {
    const token = this.next;
    if (token === undefined) throw new ParseFailure('no-expression');
    this.#at++;
    if (/^[\d.]/.test(token)) return this.#number(token);
    if (token === '|') return { op: 'call', name: 'abs', of: this.#group('|') };
    if (token === '(' || token === '{' || token === '[') return this.#group(token);
    const name = token.startsWith('\\') ? token.slice(1) : token;
    if (/^[dtc]?frac$/.test(name)) return { op: 'divide', ...this.#two() };
    if (/^[dt]?binom$/.test(name)) return { op: 'binomial', ...this.#two() };
    if (name === 'lfloor' || name === 'lceil') {
      const inner = this.sum();
      this.expect(name === 'lfloor' ? '\\rfloor' : '\\rceil');
      return { op: 'call', name: name === 'lfloor' ? 'floor' : 'ceil', of: inner };
    }
    if (name === 'sqrt') return this.#root();
    const called = functionNamed(name);
    if (called) return this.#call(called, name);
    if (name === 'infty') return this.#symbol('infinity');
    if (/^var(?:epsilon|theta|phi)$/.test(name)) return this.#symbol(name.slice(3));
    if (NAMES.includes(name) || /^[A-Za-z]$/.test(name)) return this.#symbol(name);
    throw new ParseFailure('unknown-command');
  }

  #number(token: string): Expression {
    const [before = '', after = ''] = token.split('.');
    if (before === '' && after === '') throw new ParseFailure('no-expression');
    return number(new Fraction(BigInt(before + after), 10n ** BigInt(after.length)));
  }

  #two(): { left: Expression; right: Expression } {
    // \frac12 is one half: the digits of a bare number are arguments of their own.
    const token = this.next ?? '';
    if (/^\d\d$/.test(token)) {
      this.#at++;
      return { left: this.#number(token[0]!), right: this.#number(token[1]!) };
    }
    const left = this.#argument();
    return { left, right: this.#argument() };
  }

  #root(): Expression {
    if (!this.take('[')) {
      const of = this.next === '(' || this.next === '{' ? this.#atom() : this.#argument();
      return { op: 'call', name: 'sqrt', of };
    }
    const degree = this.#group('[');
    const right: Expression = { op: 'divide', left: number(new Fraction(1)), right: degree };
    return { op: 'power', left: this.#argument(), right };
  }

  #call(called: FunctionName, name: string): Expression {
    let base: Expression | undefined;
    if (name === 'log' && this.take('_')) base = this.#argument();
    const exponent = this.take('^') ? this.#exponent() : undefined;
    let of: Expression;
    if (this.next === '(' || this.next === '{' || this.next === '[') of = this.#postfix();
    else {
      of = this.power();
      while (this.#beginsAtom() && !this.#beginsFunction())
        of = { op: 'multiply', left: of, right: this.power() };
    }
    let value: Expression = { op: 'call', name: called, of };
    if (base) value = { op: 'divide', left: value, right: { op: 'call', name: 'ln', of: base } };
    return exponent ? { op: 'power', left: value, right: exponent } : value;
  }

  #beginsFunction(): boolean {
    return functionNamed((this.next ?? '').replace(/^\\/, '')) !== undefined;
  }

  #symbol(name: string): Expression {
    if (!this.take('_')) return { op: 'symbol', name };
    const subscript = this.take('{') ? this.#untilBrace() : (this.#tokens[this.#at++] ?? '');
    if (!/^[A-Za-z0-9]+$/.test(subscript)) throw new ParseFailure('no-expression');
    return { op: 'symbol', name: `${name}_${subscript}` };
  }

  #untilBrace(): string {
    let text = '';
    while (this.next !== undefined && this.next !== '}') text += this.#tokens[this.#at++];
    this.expect('}');
    return text;
  }
}

/** Positions of a token outside all brackets. */
function topLevel(tokens: readonly string[], wanted: string): number[] {
  let depth = 0;
  return tokens.flatMap((token, i) => {
    if (['(', '[', '{', '\\{'].includes(token)) depth++;
    else if ([')', ']', '}', '\\}'].includes(token)) depth--;
    return token === wanted && depth === 0 ? [i] : [];
  });
}

function split(tokens: readonly string[], wanted: string): (readonly string[])[] {
  const cuts = topLevel(tokens, wanted);
  return [...cuts, tokens.length].map((end, i) => tokens.slice(i ? cuts[i - 1]! + 1 : 0, end));
}

function whole(tokens: readonly string[]): Expression {
  const reader = new Reader(tokens);
  const node = reader.sum();
  if (reader.next !== undefined) throw new ParseFailure('no-expression');
  return node;
}

/** The brackets around all of the tokens, where they hold a list or are braces of a set. */
function bracketsOf(tokens: readonly string[]): string | null {
  const [open = '', close = ''] = [tokens[0], tokens.at(-1)];
  const pair = open + close;
  if (!['()', '[]', '[)', '(]', '\\{\\}'].includes(pair)) return null;
  const inner = tokens.slice(1, -1);
  return pair === '\\{\\}' || topLevel(inner, ',').length > 0 ? pair : null;
}

/** Reasons: too-long, empty, no-expression, unknown-command. */
export function parseMath(text: string): ParseResult<MathAnswer, string> {
  if (text.length > LONGEST) return invalid('too-long');
  const tokens = tokensOf(text.trim().replace(/\.$/, ''));
  if (tokens.length === 0) return invalid('empty');
  try {
    const brackets = bracketsOf(tokens);
    const inner = brackets === null ? tokens : tokens.slice(1, -1);
    const items = split(inner, ',');
    if (brackets !== null || items.length > 1)
      return ok({ kind: 'list', brackets: brackets ?? '', items: items.map(whole) });
    return ok({ kind: 'relation', sides: split(tokens, '=').map(whole) });
  } catch (error) {
    if (error instanceof ParseFailure) return invalid(error.message);
    throw error;
  }
}
