/**
 * Tries regular expressions that others wrote on the texts that make such expressions slow: long repetitions of what the expression itself names,
 * with an end that does not fit. A match cannot be interrupted in a Worker, but here it can.
 */
import { createContext, Script } from 'node:vm';

/** Characters of a text: enough to show exponential and cubic backtracking. */
export const SHORT = 60;
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

/** Each attempt of a busy machine may take so much longer than the one before. */
const LONGER = 3;
const ATTEMPTS = 4;

/**
 * Runs `work`, which must be synchronous, and interrupts it after `ms`, even within a match. Where other work on the machine took the time, and the
 * processor has spent less than half of it here, the work is begun again with more.
 */
export function within(ms: number, work: () => void): 'done' | 'too long' {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = process.cpuUsage();
    if (ends(ms * LONGER ** attempt, work)) return 'done';
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 >= ms / 2) return 'too long';
  }
  return 'too long';
}

/** Does `work` end within `ms` of the clock? */
function ends(ms: number, work: () => void): boolean {
  try {
    new Script('work()').runInContext(createContext({ work }), { timeout: ms });
    return true;
  } catch (error) {
    // The error comes from the other context, whose Error class is not this one's.
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}
