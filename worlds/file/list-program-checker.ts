/**
 * The checker `list-program`: the answer is a program in the small list language of `programs/language.ts`, run by its sandboxed interpreter
 * on the task's tests, `metadata.tests`: `[{"input": [3, 1], "output": [1, 3]}, …]`. Every test has to come out; each run is bounded
 * by the interpreter's fuel and memory.
 */
import * as v from 'valibot';
import { type Checker, shown, wrongReference } from '../../core/checkers/checker.ts';
import { ok } from '../../core/recipe/task-family.ts';
import { outputOf, sameList } from '../programs/interpreter.ts';
import { parseProgram } from '../programs/language.ts';

const list = v.pipe(v.array(v.pipe(v.number(), v.safeInteger())), v.maxLength(16));
const tests = v.pipe(v.array(v.object({ input: list, output: list })), v.minLength(1), v.maxLength(100));

export const listProgram: Checker = {
  name: 'list-program',
  description: 'A program in the list language whose output is right on every test in metadata.tests.',
  readsMetadataAlone: true,
  prepare: ({ metadata }) => {
    const expected = v.safeParse(tests, metadata.tests);
    if (!expected.success)
      throw wrongReference(
        'list-program',
        `metadata.tests is ${shown(String(JSON.stringify(metadata.tests)))}.`,
        '1 to 100 tests like {"input": [3, 1], "output": [1, 3]}, lists of at most 16 whole numbers',
      );
    return (given) => {
      const parsed = parseProgram(given.trim());
      if (!parsed.ok) return parsed;
      const passes = expected.output.every(({ input, output }) => {
        const actual = outputOf(parsed.value, input);
        return actual !== null && sameList(actual, output);
      });
      return ok(passes);
    };
  },
};
