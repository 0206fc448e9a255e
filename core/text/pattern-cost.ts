/**
 * Whether a tokenizer's regular expression may run in a Worker, which cannot be interrupted while it matches. It is decided by the form of the
 * expression alone: searching a text must take at most a time that grows with the square of its length. That is so if every repetition is
 * one of a single character (or class), and each way through the expression has at most one unbounded repetition after which something
 * must still match. The expressions of the tokenizers in use have this form.
 */
import { wrongInput } from '../errors.ts';

const MOST_CHARACTERS = 20_000;
/** A repetition of at most so many characters counts as bounded. */
const BOUNDED = 8;

/** How much a part of an expression can be backtracked into. */
interface Part {
  /** Unbounded repetitions after which nothing must match within the part. */
  readonly open: number;
  /** Unbounded repetitions after which something must match. */
  readonly retried: number;
  /** Whether it may match the empty text. */
  readonly nullable: boolean;
  /** Whether it is one character or class. */
  readonly single: boolean;
}

const CHARACTER: Part = { open: 0, retried: 0, nullable: false, single: true };
/** An assertion takes no text, but what comes before it is tried again where it fails. */
const ASSERTION: Part = { ...CHARACTER, single: false };

class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Part {
    const part = this.#alternatives();
    if (this.#at < this.#text.length) throw new Error('it has a parenthesis too many');
    return part;
  }

  #alternatives(): Part {
    const all = [this.#sequence()];
    while (this.#take('|')) all.push(this.#sequence());
    if (all.length === 1) return all[0]!;
    return {
      open: Math.max(...all.map(({ open }) => open)),
      retried: Math.max(...all.map(({ retried }) => retried)),
      nullable: all.some(({ nullable }) => nullable),
      single: false,
    };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at]!))
      parts.push(this.#repeated(this.#atom()));
    if (parts.length === 1) return parts[0]!;
    let [open, retried] = [0, 0];
    for (const part of parts) {
      if (!part.nullable) {
        retried += open;
        open = 0;
      }
      open += part.open;
      retried += part.retried;
    }
    return { open, retried, nullable: parts.every(({ nullable }) => nullable), single: false };
  }

  #atom(): Part {
    if (this.#take('(')) {
      const head = this.#match(/\?(?:<?[=!]|[a-z]*(?:-[a-z]+)?:|<\w+>|>)/y);
      const inner = this.#alternatives();
      if (!this.#take(')')) throw new Error('it has a parenthesis without an end');
      return /^\?<?[=!]$/.test(head ?? '') ? { ...ASSERTION, retried: inner.open + inner.retried } : inner;
    }
    if (this.#match(/\\(?:[1-9]|k<)/y)) throw new Error('it refers back to what it matched');
    if (this.#match(/\\[bBAzZ]|[\^$]/y)) return ASSERTION;
    if (this.#match(/\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\[\s\S]|\[\^?(?:\\[\s\S]|[^\]\\])*\]|[^\\[]/y))
      return CHARACTER;
    throw new Error('it cannot be read');
  }

  #repeated(part: Part): Part {
    const found = this.#match(/[*+?]|\{(\d+)(,?)(\d*)\}/y);
    if (found === undefined) return part;
    // Lazy or possessive.
    this.#match(/[?+]/y);
    const [least, most] = bounds(found);
    if (most > 1 && !part.single) throw new Error('it repeats a group');
    const nullable = part.nullable || least === 0;
    if (most > BOUNDED) return { open: 1, retried: 0, nullable, single: false };
    return { ...part, nullable, single: false };
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function bounds(repetition: string): readonly [number, number] {
  if (repetition === '*') return [0, Number.POSITIVE_INFINITY];
  if (repetition === '+') return [1, Number.POSITIVE_INFINITY];
  if (repetition === '?') return [0, 1];
  const [least = '0', most] = repetition.slice(1, -1).split(',');
  return [
    Number(least),
    most === undefined ? Number(least) : most === '' ? Number.POSITIVE_INFINITY : Number(most),
  ];
}

/** Why the expression may take long; null if it cannot. */
export function costOfPattern(pattern: string): string | null {
  if (pattern.length > MOST_CHARACTERS) return `it has ${pattern.length} characters`;
  try {
    const { retried } = new Reader(pattern).whole();
    return retried > 1 ? `it repeats ${retried} parts without bound before another part` : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The texts of all `{"Regex": …}` in a tokenizer.json. */
export function patternsOf(json: unknown): string[] {
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) =>
    key === 'Regex' && typeof value === 'string' ? [value] : patternsOf(value),
  );
}

/** @throws RollmeshError `tokenizer.pattern` where an expression of a tokenizer.json may take long. */
export function refuseCostlyPatterns(json: unknown): void {
  for (const pattern of patternsOf(json)) {
    const why = costOfPattern(pattern);
    if (why === null) continue;
    throw wrongInput(
      'tokenizer.pattern',
      `A regular expression of the tokenizer may take long: ${why}: ${JSON.stringify(pattern.slice(0, 200))}.`,
      {
        expected: 'repetitions of single characters, at most one of them without bound before another part',
        next: 'Take the tokenizer of the published checkpoint, or import with --no-tokenizer.',
      },
    );
  }
}
