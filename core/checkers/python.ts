/**
 * The checker `python`: the answer is a program in Python, and the task's tests decide whether it is right. The interpreter is too large for a Worker, so that rounds
 * are paid by a service beside the mesh (`rollmesh python`), and this checker judges where a command of this machine asks it (`policy eval`, `check-answers`).
 */
import * as v from 'valibot';
import { invalid, ok } from '../recipe/task-family.ts';
import { type PythonTests, python } from '../sandbox/python.ts';
import { type Checker, LONGEST_ANSWER, type Reference, shown, wrongReference } from './checker.ts';
import { lastBlock } from './last-block.ts';

const MOST_TESTS = 200;
const LONGEST_TEST = 20_000;
const test = v.pipe(v.string(), v.regex(/\S/), v.maxLength(LONGEST_TEST));
const list = v.pipe(v.array(test), v.minLength(1), v.maxLength(MOST_TESTS));
const entry = v.pipe(v.string(), v.regex(/^[\p{ID_Start}_][\p{ID_Continue}]*$/u));
const texts = v.optional(v.union([v.string(), v.array(v.string())]), '');

/** As lines of a file have them, as MBPP has them, and as HumanEval does. */
const written = v.union([
  v.object({ tests: v.union([test, list]), entry: v.optional(entry) }),
  v.object({ test_list: list, test_setup_code: texts, test_imports: texts }),
  v.object({ test, entry_point: entry }),
]);

/** The tests of a task. Throws `answer.reference`. */
export function pythonTests({ metadata }: Pick<Reference, 'metadata'>): PythonTests {
  const read = v.safeParse(written, metadata);
  if (!read.success)
    throw wrongReference(
      'python',
      `its tests are ${shown(JSON.stringify(metadata.tests ?? metadata.test_list ?? metadata.test) ?? 'not there')}.`,
      `tests in Python, like "tests": ["assert add(1, 2) == 3"], MBPP’s "test_list", or HumanEval’s "test" and "entry_point": at most ${MOST_TESTS}, each of at most ${LONGEST_TEST} characters`,
    );
  const own = read.output;
  if ('tests' in own) return { tests: [own.tests].flat(), entry: own.entry };
  if ('test_list' in own) {
    const before = [own.test_imports, own.test_setup_code].flat().filter(Boolean);
    return { tests: own.test_list.map((one) => [...before, one].join('\n')) };
  }
  return { tests: [`${own.test}\ncheck(${own.entry_point})`], entry: own.entry_point };
}

const LANGUAGES: ReadonlySet<string> = new Set(['', 'py', 'python', 'python3']);

/** The last block of Python between fences, or else the whole text. */
export const pythonIn = (text: string): string => lastBlock(text, LANGUAGES);

const REASONS: Readonly<Record<string, string>> = { syntax: 'does-not-parse' };

export const pythonChecker: Checker = {
  name: 'python',
  description:
    'A program in Python that passes the tests in metadata.tests, of MBPP or of HumanEval. Rounds are paid by `rollmesh python`.',
  readsMetadataAlone: true,
  runsAnswers: true,
  prepare: (reference) => {
    const tests = pythonTests(reference);
    return (given) => {
      if (given.length > LONGEST_ANSWER) return invalid('too-long');
      const run = python();
      if (!run) return { ok: false, reason: 'not-run-here' };
      const { outcome } = run(pythonIn(given), tests);
      if (outcome === 'passed' || outcome === 'failed') return ok(outcome === 'passed');
      return { ok: false, reason: REASONS[outcome] ?? outcome };
    };
  },
};
