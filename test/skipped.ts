/** A reporter that names what was skipped, file by file, when all tests have run. What is skipped says why in its title, such as a machine without Chromium. */
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

/** The outermost suites and tests of a module that were skipped as a whole; a reason that a test gave stands after its name. */
function* skippedIn(of: TestModule | TestSuite): Generator<string> {
  for (const child of of.children) {
    if (child.type === 'test') {
      if (child.result().state === 'skipped') yield titleOf(child);
    } else if ([...child.children.allTests()].every((test) => test.result().state === 'skipped'))
      yield child.fullName;
    else yield* skippedIn(child);
  }
}

function titleOf(test: TestCase): string {
  const result = test.result();
  return result.state === 'skipped' && result.note ? `${test.fullName}: ${result.note}` : test.fullName;
}

export default class Skipped implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap((module) =>
      [...skippedIn(module)].map((title) => `  ${relative('.', module.moduleId)}: ${title}`),
    );
    if (lines.length) console.log(`\nSkipped on this machine:\n${lines.sort().join('\n')}`);
  }
}
