/**
 * The checker `program`: the answer is a program in JavaScript, and the task's tests decide whether it is right. Programs run in an engine of their own
 * (`core/sandbox`), without clock, chance, network and files, under limits that are counted and not timed.
 */
import * as v from 'valibot';
import { invalid, ok } from '../recipe/task-family.ts';
import { quickJs } from '../sandbox/quickjs.ts';
import { parses, runTests, STEPS } from '../sandbox/run-tests.ts';
import { type Checker, LONGEST_ANSWER, type Reference, shown, wrongReference } from './checker.ts';
import { lastBlock } from './last-block.ts';

const MOST_TESTS = 200;
const LONGEST_TEST = 20_000;
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

const entry = v.pipe(v.string(), v.regex(NAME));
const test = v.pipe(v.string(), v.regex(/\S/), v.maxLength(LONGEST_TEST));
const list = v.pipe(v.array(test), v.minLength(1), v.maxLength(MOST_TESTS));
const written = v.object({ tests: v.union([test, list]), entry: v.optional(entry) });
const values = v.pipe(v.array(v.unknown()), v.minLength(1), v.maxLength(MOST_TESTS));
const compared = v.pipe(
  v.object({ inputs: values, outputs: values, entry }),
  v.check(({ inputs, outputs }) => inputs.length === outputs.length),
);

const EXPECTED =
  'tests in JavaScript, like "tests": ["assert(add(1, 2) === 3)"], or "inputs": [[1, 2]], "outputs": [3] and "entry": "add", as many inputs as outputs: ' +
  `at most ${MOST_TESTS}, each test of at most ${LONGEST_TEST} characters`;

interface Tests {
  readonly tests: readonly string[];
  readonly entry?: string | undefined;
}

/** `assert x == 3`, `def`, `import x`: how tests in Python are written. */
const PYTHON = /^\s*(?:assert\s+(?!\()|def \w+\(|from \w+ import|import \w+\s*$)/m;

/** How tests for Jest, Vitest and Chai begin. */
const EXPECT = /(?<![\w$.])expect\s*\(/;

const inPython = (what: string) =>
  wrongReference('program', `${what} is in Python.`, 'tests in JavaScript, or --checker python');

function whatIsWrong(metadata: Reference['metadata']): string {
  const { tests, inputs, outputs } = metadata;
  const says = (name: string) => `its "${name}" is ${shown(JSON.stringify(metadata[name]))}`;
  if (tests !== undefined) {
    const all = [tests].flat();
    if (all.length > MOST_TESTS) return `it has ${all.length} tests`;
    const at = all.findIndex((one) => typeof one === 'string' && one.length > LONGEST_TEST);
    if (at >= 0) return `its test ${at + 1} has ${(all[at] as string).length} characters`;
    return v.is(v.object({ tests: v.union([test, list]) }), metadata) ? says('entry') : says('tests');
  }
  const pairs = [inputs, outputs];
  if (pairs.every((one) => one === undefined)) return 'it has no "tests"';
  for (const name of ['inputs', 'outputs', 'entry'])
    if (metadata[name] === undefined) return `it has no "${name}"`;
  const wrong = ['inputs', 'outputs'].find((name) => !v.is(values, metadata[name]));
  if (wrong !== undefined) return says(wrong);
  if (!v.is(entry, metadata.entry)) return says('entry');
  return `it has ${pairs.map((one) => (one as unknown[]).length).join(' "inputs" and ')} "outputs"`;
}

function testsOf({ metadata }: Reference): Tests {
  const own = v.safeParse(written, metadata);
  if (own.success) {
    const tests = [own.output.tests].flat();
    const python = tests.find((one) => PYTHON.test(one));
    if (python !== undefined) throw inPython(`The test ${shown(python)}`);
    // The answer's own `expect` would decide whether the answer is right.
    const jest = own.output.entry === 'expect' ? undefined : tests.find((one) => EXPECT.test(one));
    if (jest !== undefined)
      throw wrongReference(
        'program',
        `The test ${shown(jest)} calls expect, which tests do not have here.`,
        'assert as in Node, or "entry": "expect" where the answer is to define it',
      );
    return { tests, entry: own.output.entry };
  }
  const pairs = v.safeParse(compared, metadata);
  if (pairs.success) {
    const { inputs, outputs, entry: name } = pairs.output;
    const json = (value: unknown) => `JSON.parse(${JSON.stringify(JSON.stringify(value))})`;
    const tests = inputs.map(
      (input, i) =>
        `assert.deepEqual(${name}(...${json(Array.isArray(input) ? input : [input])}), ${json(outputs[i])})`,
    );
    return { tests, entry: name };
  }
  if (metadata.tests === undefined && metadata.test_list !== undefined)
    throw inPython('The field "test_list" (of MBPP)');
  throw wrongReference('program', `${whatIsWrong(metadata)}.`, EXPECTED);
}

const LANGUAGES: ReadonlySet<string> = new Set(['', 'js', 'javascript', 'mjs', 'cjs', 'node']);

/** The last block of JavaScript between fences, or else the whole text. */
export const codeIn = (text: string): string => lastBlock(text, LANGUAGES);

const REASONS = { syntax: 'does-not-parse', threw: 'threw' } as const;

/** `steps`: how many steps of the engine the program may take, and the tests as many. */
export function programChecker(steps = STEPS): Checker {
  const run = (tests: Tests, text: string) =>
    runTests(quickJs(), codeIn(text), tests.tests, { entry: tests.entry, steps });
  return {
    name: 'program',
    description:
      'A program in JavaScript that passes the tests in metadata.tests, or gives metadata.outputs for metadata.inputs.',
    readsMetadataAlone: true,
    runsAnswers: true,
    prepare: (reference) => {
      const tests = testsOf(reference);
      return (given) => {
        if (given.length > LONGEST_ANSWER) return invalid('too-long');
        const { outcome } = run(tests, given);
        switch (outcome) {
          case 'passed':
          case 'failed':
            return ok(outcome === 'passed');
          case 'syntax':
          case 'threw':
            return invalid(REASONS[outcome]);
        }
        return invalid(outcome);
      };
    },
    faultOf: ({ solution, ...reference }) => {
      const tests = testsOf(reference);
      const unread = tests.tests.find((one) => !parses(quickJs(), one));
      if (unread !== undefined) return `its test ${shown(unread)} is no JavaScript`;
      if (run(tests, '').outcome === 'passed') return 'its tests pass for an empty answer';
      if (solution === undefined) return null;
      const { outcome, failed } = run(tests, solution);
      if (outcome === 'passed') return null;
      const where = failed === null ? '' : ` at the test ${shown(tests.tests[failed]!)}`;
      return `its own "solution" does not pass its tests: ${outcome}${where}`;
    },
  };
}
