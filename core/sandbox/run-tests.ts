/** Runs a program's tests: the tests in one engine, the program in another. */
import { ASSERTIONS, SURROUNDINGS } from './assertions.ts';
import { MEMBRANE } from './membrane.ts';
import { type Bytes, bytesOf, Engine, type Image, imageOf, type Limit, LimitReached } from './vm.ts';

/** Steps of the engine that a program and its tests may take, each: some hundred milliseconds of a core. */
export const STEPS = 20_000_000;
/** How deep calls may go from one engine into the other and back. */
const DEEPEST = 32;
/** Bytes that may go from one engine to the other at a time. */
const MOST_BYTES = 1 << 20;

/** `syntax`, `threw`: the program itself does not parse or throws, before any test. */
export type Outcome = 'passed' | 'failed' | 'syntax' | 'threw' | Limit;

export interface TestRun {
  readonly outcome: Outcome;
  /** The first test that failed, from 0; null where none ran. */
  readonly failed: number | null;
  /** Steps that program and tests took together: the same on every machine. */
  readonly steps: number;
}

/** What the errors say that a program did not catch. The engine has an InternalError for memory. */
const ERRORS: Readonly<Record<string, Outcome>> = Object.assign(Object.create(null), {
  SyntaxError: 'syntax',
  InternalError: 'out-of-memory',
});

const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;

interface Images {
  readonly program: Image;
  readonly tests: Image;
}
const images = new WeakMap<WebAssembly.Module, Images>();
function imagesOf(module: WebAssembly.Module): Images {
  const kept = images.get(module) ?? {
    program: imageOf(module, MEMBRANE, false, [SURROUNDINGS]),
    tests: imageOf(module, MEMBRANE, true, [ASSERTIONS]),
  };
  images.set(module, kept);
  return kept;
}

/** Does a test parse? Nothing of it is run. */
export function parses(module: WebAssembly.Module, test: string): boolean {
  const engine = new Engine(imagesOf(module).tests, STEPS, (text) => text);
  try {
    return engine.parses(asTest(test));
  } catch (error) {
    if (error instanceof LimitReached) return false;
    throw error;
  } finally {
    engine.close();
  }
}

/** Each test has its own constants. */
const asTest = (test: string): string => `{${test}\n}`;

/** `export` before a declaration says nothing here: every top-level name is the tests' to use. */
const asScript = (program: string): string =>
  program.replace(
    /^[ \t]*export[ \t]+(?:default[ \t]+)?(?=(?:async[ \t]+)?function\b|class\b|const\b|let\b|var\b)/gm,
    '',
  );

/**
 * Evaluates the program, then the tests one after the other. A test fails if it throws, if its value is `false`, or if it waits for what never comes. The first that
 * fails ends the run. `entry`: a name that is the program's even where the language has it.
 */
export function runTests(
  module: WebAssembly.Module,
  program: string,
  tests: readonly string[],
  { entry, steps = STEPS }: { readonly entry?: string | undefined; readonly steps?: number } = {},
): TestRun {
  const made = imagesOf(module);
  let depth = 0;
  const between =
    (from: () => Engine, to: () => Engine) =>
    (text: Bytes): Bytes => {
      if (text.length > MOST_BYTES || ++depth > DEEPEST) throw new LimitReached('out-of-memory');
      const answer = to().receiveFrom(from(), text);
      if (answer.length > MOST_BYTES) throw new LimitReached('out-of-memory');
      depth--;
      return answer;
    };
  const answering: Engine = new Engine(
    made.program,
    steps,
    between(
      () => answering,
      () => testing,
    ),
  );
  const testing: Engine = new Engine(
    made.tests,
    steps,
    between(
      () => testing,
      () => answering,
    ),
  );
  const ended = (outcome: Outcome, failed: number | null = null): TestRun => ({
    outcome,
    failed,
    steps: 2 * steps - answering.steps - testing.steps,
  });
  let at: number | null = null;
  try {
    const threw = answering.evaluate(asScript(program));
    if (threw !== null) return ended(ERRORS[threw] ?? 'threw');
    const names = [
      ...new Set([
        ...tests.flatMap((test) => test.match(NAME) ?? []),
        ...(entry === undefined ? [] : [entry]),
      ]),
    ];
    testing.receive(bytesOf(JSON.stringify(['bind', names, entry ?? null])), true);
    for (at = 0; at < tests.length; at++) {
      const begun = testing.begin(asTest(tests[at]!));
      if (begun === null) return ended('failed', at);
      while (testing.runJobs() + answering.runJobs() > 0);
      if (testing.stateOf(begun) !== 'ended') return ended('failed', at);
    }
    return ended('passed');
  } catch (error) {
    if (error instanceof LimitReached) return ended(error.limit, at);
    throw error;
  } finally {
    answering.close();
    testing.close();
  }
}
