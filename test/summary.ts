/**
 * A reporter that names what was skipped, file by file, when all tests have run, and what passed at a second try only. What is skipped says why in its title, such as
 * a machine without Chromium.
 */
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

/** The outermost suites and tests of a module that were skipped as a whole; a reason that a test gave stands after its name. */
function* skippedIn(of: TestModule | TestSuite): Generator<string> {
  for (const child of of.children) {
    if (child.type === 'test') {
      if (child.result().state === 'skipped') yield titleOf(child, [child]);
    } else {
      const tests = [...child.children.allTests()];
      if (tests.every((test) => test.result().state === 'skipped')) yield titleOf(child, tests);
      else yield* skippedIn(child);
    }
  }
}

/** The name, and the reason that one of the tests gave where it was skipped. */
function titleOf({ fullName }: TestCase | TestSuite, tests: readonly TestCase[]): string {
  const note = tests.map((test) => test.result()).find((result) => result.state === 'skipped' && result.note);
  return note?.state === 'skipped' ? `${fullName}: ${note.note}` : fullName;
}

function* retriedIn(module: TestModule): Generator<string> {
  for (const test of module.children.allTests())
    if (test.diagnostic()?.flaky)
      yield `${test.fullName}: ${test.result().errors?.[0]?.message.split('\n')[0] ?? 'no error kept'}`;
}

/** Titles below their heading, each after its file. */
function list(
  heading: string,
  modules: readonly TestModule[],
  titles: (module: TestModule) => Iterable<string>,
) {
  const lines = modules.flatMap((module) =>
    [...titles(module)].map((title) => `  ${relative('.', module.moduleId)}: ${title}`),
  );
  if (lines.length) console.log(`\n${heading}:\n${lines.sort().join('\n')}`);
}

export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    list('Skipped on this machine', modules, skippedIn);
    list('Failed once and passed at the second try', modules, retriedIn);
  }
}
