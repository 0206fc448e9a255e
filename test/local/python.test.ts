/**
 * Programs in Python in processes of their own, with the real interpreter: a few here, each a second of a core, and all of them in the night. What runs beside
 * the interpreter is tested in test/cli/python-rewards.test.ts.
 */
import { expect, test } from 'vitest';
import { PYODIDE, runPython, runPythonSync } from '../../local/python/run-python.ts';
import manifest from '../../package.json' with { type: 'json' };
import { FAMILIES, HOSTILE_PYTHON } from '../core/sandbox/hostile-python.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';

const TESTS = { tests: ['assert f(2) == 4'] };
/** Fewer steps than usual, so that what runs for ever ends soon. */
const STEPS = 200_000;

async function outcomesOf(programs: readonly { readonly program: string }[], atOnce = 2): Promise<string[]> {
  const outcomes: string[] = [];
  const left = [...programs.entries()];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = left.shift(); next; next = left.shift())
        outcomes[next[0]] = (await runPython(next[1].program, TESTS, STEPS)).outcome;
    }),
  );
  return outcomes;
}

const firstOf = (family: string) => ({
  family,
  program: FAMILIES[family]!.programs[0]!,
  outcomes: FAMILIES[family]!.outcomes,
});
const QUICK = [
  'is right',
  'says that it is equal to everything',
  'changes what tests use',
  'reads or writes a file',
  'reaches for a network or for JavaScript',
].map(firstOf);
const ASKED = NIGHT ? HOSTILE_PYTHON : QUICK;

test(`programs come to what the rule of their family says${IN_THE_NIGHT && ': some'}`, async () => {
  expect(HOSTILE_PYTHON.length).toBeGreaterThan(100);
  const outcomes = await outcomesOf(ASKED);
  const others = ASKED.flatMap(({ family, program, outcomes: allowed }, i) =>
    (allowed as readonly string[]).includes(outcomes[i]!) ? [] : [{ family, program, outcome: outcomes[i] }],
  );
  expect(others).toEqual([]);
});

test.runIf(NIGHT)(`every outcome is the same when it is asked for again${IN_THE_NIGHT}`, async () => {
  const some = HOSTILE_PYTHON.filter((_, i) => i % 4 === 0);
  expect(await outcomesOf(some)).toEqual(await outcomesOf(some, 1));
});

test.runIf(NIGHT)(`what ends in no step of its own is given up, and is no verdict${IN_THE_NIGHT}`, () => {
  const run = runPythonSync('import re\nre.match("(a+)+$", "a" * 40 + "b")', TESTS);
  expect(run).toEqual({ outcome: 'timed-out', failed: null });
});

test('the interpreter is the one that a clone has', () => {
  expect(manifest.devDependencies.pyodide).toBe(PYODIDE);
});
