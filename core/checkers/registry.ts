/** Checkers by name, and how a name with settings is written on a command line and in a file. */
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import { auto } from './auto.ts';
import { anyAccepted, type Checker, shown } from './checker.ts';
import { choice } from './choice.ts';
import { exact } from './exact.ts';
import { expression } from './expression.ts';
import { jsonSchema } from './json-schema.ts';
import { math } from './math/checker.ts';
import { numberChecker } from './number.ts';
import { programChecker } from './program.ts';
import { pythonChecker } from './python.ts';
import { regex } from './regex.ts';
import { set } from './set.ts';

const settings = v.variant('name', [
  v.object({ name: v.literal('number'), tolerance: v.pipe(v.number(), v.minValue(0), v.maxValue(1)) }),
  v.object({
    name: v.literal('program'),
    steps: v.pipe(v.number(), v.safeInteger(), v.minValue(10_000), v.maxValue(1e9)),
  }),
]);

/** The checkers that need nothing but this folder; `auto` is the default. */
export const CHECKERS: readonly Checker[] = [
  ...[auto, exact, numberChecker(), choice, regex].map(anyAccepted),
  jsonSchema,
  set,
  expression,
  anyAccepted(math),
  programChecker(),
  pythonChecker,
];

/**
 * A checker by its name, or by a JSON object with its name and settings: `number`, `{"name": "number", "tolerance": 0.01}`.
 * `known` are the checkers to choose from. Throws `wrong-input` for anything else.
 */
export function findChecker(text: string, known: readonly Checker[] = CHECKERS): Checker {
  const found = known.find(({ name }) => name === text);
  if (found) return found;
  if (text.trimStart().startsWith('{')) {
    const set = v.safeParse(v.pipe(v.string(), v.parseJson(), settings), text);
    if (set.success)
      return set.output.name === 'program'
        ? programChecker(set.output.steps)
        : anyAccepted(numberChecker({ tolerance: set.output.tolerance }));
  }
  throw wrongInput('checker.unknown', `There is no checker ${shown(text)}.`, {
    expected: `one of ${known.map(({ name }) => name).join(', ')}, or {"name": "number", "tolerance": 0.01} or {"name": "program", "steps": 1000000}`,
  });
}
