/** Plausible errors about programs and lists, for the wrong solutions of a warm start. */
import type { Random } from '../../core/random.ts';
import { randomWord } from './generate.ts';
import { execute } from './interpreter.ts';
import { countLoops, type List, MAX_SHOWN, type Program, writeList } from './language.ts';

/** One element off by one or two; an empty list gets an element. */
export function slippedList(random: Random, list: List): List {
  if (list.length === 0) return [random.int(10)];
  const at = random.int(list.length);
  return list.map((x, i) => (i === at ? x + random.pick([-2, -1, 1, 2]) : x));
}

/** A program’s text with one word replaced, added or left out: another text, which may not parse. */
export function edited(random: Random, text: string): string {
  const words = text.split(' ');
  const edit = random.int(words.length > 1 ? 3 : 2);
  words.splice(random.int(words.length), edit === 1 ? 0 : 1, ...(edit === 2 ? [] : [randomWord(random)]));
  return words.join(' ');
}

/**
 * The steps of a run in which one instruction is misread and every step after it follows from the wrong list. For programs with loops, and for runs
 * that fail after the error, the steps stay right and the answer is miscopied.
 */
export function slippedRun(
  random: Random,
  program: Program,
  trace: readonly List[],
): { steps: string[]; answer: string } {
  const miscopied = {
    steps: trace.map(writeList),
    answer: writeList(slippedList(random, trace.at(-1) ?? [])),
  };
  if (countLoops(program) > 0) return miscopied;
  const at = random.int(trace.length);
  const wrong = slippedList(random, trace[at]!);
  const rest = execute(program.slice(at + 1), wrong);
  if (!rest.ok || rest.value.output.length > MAX_SHOWN) return miscopied;
  const steps = [...trace.slice(0, at), wrong, ...rest.value.trace].map(writeList);
  return { steps, answer: steps.at(-1)! };
}
