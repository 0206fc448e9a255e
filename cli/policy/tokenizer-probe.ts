/**
 * A tokenizer.json brings regular expressions that others wrote, and a Worker cannot be interrupted while it matches one: an expression
 * that backtracks for ever would hang it with every text that begins so. So an import tries the tokenizer's parts first, under a time
 * limit, on the texts that make such expressions slow: long repetitions of what the expression itself names, with an end that does not fit.
 */
import { createContext, Script } from 'node:vm';
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { wrongInput } from '../../core/errors.ts';
import { patternsOf } from '../../core/text/pattern-cost.ts';

/** The limit for all texts together. A normal tokenizer takes 100 ms. */
const LIMIT_MS = 5_000;
/** Characters of a text: enough to show exponential and cubic backtracking. */
const SHORT = 60;
const LONG = 3_000;
/** What tokenizers tell apart: letters of several scripts, digits, spaces, breaks, marks, apostrophes, pictures. */
const COMMON = [...'aA1 \n\r\t.!-_\'"(é漢あ́🙂'];
/** Endings that make a match of the whole text fail. */
const ENDS = ['', '\u0001', '!', 'a'];
/** How many characters and runs of a pattern are tried: no pattern in use has more. */
const MOST_CHARACTERS = 24;
const MOST_RUNS = 64;

/** Texts on which a bad pattern takes long: repetitions of its characters, of pairs of them, and of what it spells out. */
export function hardTexts(pattern: string): string[] {
  const written = [...new Set(pattern.match(/[\p{L}\p{N}]/gu) ?? [])].slice(0, MOST_CHARACTERS);
  const characters = [...new Set([...written, ...COMMON])];
  const runs = [...new Set(pattern.match(/[\p{L}\p{N} _-]{2,}/gu) ?? [])].slice(0, MOST_RUNS);
  const pairs = written.concat(COMMON).flatMap((a) => characters.map((b) => a + b));
  const repeat = (unit: string, size: number) => unit.repeat(Math.ceil(size / unit.length));
  const ended = (text: string) => ENDS.map((end) => text + end);
  return [
    ...[...characters, ...runs, ...pairs].flatMap((unit) => ended(repeat(unit, SHORT))),
    ...[...characters, ...runs].flatMap((unit) => ended(repeat(unit, LONG))),
  ];
}

/** Runs `work`, which must be synchronous, and interrupts it after `ms`, even within a match. */
function within(ms: number, work: () => void): 'done' | 'too long' {
  try {
    new Script('work()').runInContext(createContext({ work }), { timeout: ms });
    return 'done';
  } catch (error) {
    // The error comes from the other context, whose Error class is not this one's.
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'too long';
    throw error;
  }
}

/**
 * @throws RollmeshError `tokenizer.slow` where its parts take longer than five seconds for some thousand short texts. What else is wrong
 * with the file is left to `openTokenizer`.
 */
export function refuseSlowTokenizer(json: unknown, config: object, limitMs = LIMIT_MS): void {
  const patterns = patternsOf(json);
  if (!patterns.length) return;
  let at = 'its added tokens';
  const work = () => {
    // It runs its normaliser over the added tokens already here.
    const { normalizer, pre_tokenizer, decoder } = new HfTokenizer(json as object, config);
    for (const pattern of patterns) {
      at = `the pattern ${JSON.stringify(pattern.slice(0, 200))}`;
      for (const text of hardTexts(pattern)) {
        normalizer?.normalize(text);
        pre_tokenizer?.pre_tokenize(text, { section_index: 0 });
        decoder?.decode([text]);
      }
    }
  };
  try {
    if (within(limitMs, work) === 'done') return;
  } catch {
    return;
  }
  throw wrongInput('tokenizer.slow', `The tokenizer takes more than ${limitMs} ms: ${at}.`, {
    expected: 'regular expressions whose time grows with the length of a text alone',
    next: 'Take the tokenizer of the published checkpoint, or import with --no-tokenizer.',
  });
}
