/** A pool of programs and a pool of tests that judge each other: who passes what, which program is chosen, what is written anew. Pure. */
import { outputOf } from '../../worlds/programs/interpreter.ts';
import { parseProgram } from '../../worlds/programs/language.ts';
import { type ProgramTest, passes } from '../../worlds/programs/statements.ts';

export interface Pools {
  /** null where the text is no program. */
  readonly programs: readonly (string | null)[];
  /** null where the text is no test. */
  readonly tests: readonly (ProgramTest | null)[];
}

/** Most programs that are written again at a time. */
const REPAIRED = 4;

const testsOf = ({ tests }: Pools): ProgramTest[] => tests.flatMap((test) => test ?? []);

/** The number of tests that each program passes [programs]; -1 for a text that is none. */
export const passed = (pools: Pools): number[] =>
  pools.programs.map((program) =>
    program === null ? -1 : testsOf(pools).filter((test) => passes(program, test)).length,
  );

/** What a program puts out on the inputs of the pool's tests, as text. */
function behaviourIn(pools: Pools, program: string): string {
  const parsed = parseProgram(program);
  return testsOf(pools)
    .map(({ input }) => (parsed.ok ? (outputOf(parsed.value, input)?.join(' ') ?? 'none') : 'none'))
    .join(';');
}

/** How many programs of the pool put out the same as each [programs], itself included; 0 for a text that is none. */
export function companions(pools: Pools): number[] {
  const behaviours = pools.programs.map((program) => program && behaviourIn(pools, program));
  return behaviours.map((own) => (own === null ? 0 : behaviours.filter((other) => other === own).length));
}

/** The place of the largest, the first of equals; null where no program is one. */
function best(pools: Pools, scores: readonly number[]): number | null {
  const order = pools.programs
    .flatMap((program, p) => (program === null ? [] : [p]))
    .sort((a, b) => scores[b]! - scores[a]! || a - b);
  return order[0] ?? null;
}

/** The place of a program of the largest group that puts out the same. */
export const byMajority = (pools: Pools): number | null => best(pools, companions(pools));

/** The place of the program that passes the most tests; of those that pass as many, one of the largest group. */
export function byMatrix(pools: Pools): number | null {
  const group = companions(pools);
  return best(
    pools,
    passed(pools).map((tests, p) => tests + group[p]! / (pools.programs.length + 1)),
  );
}

/** What is written anew: programs, each with a test that it fails and the chosen program passes, and tests that no program passes. */
export interface Anew {
  readonly repairs: readonly { readonly at: number; readonly test: ProgramTest }[];
  /** Places of the tests. */
  readonly tests: readonly number[];
}

export function anew(pools: Pools): Anew {
  const chosen = byMatrix(pools);
  if (chosen === null) return { repairs: [], tests: [] };
  const program = (at: number) => pools.programs[at]!;
  const told = testsOf(pools).filter((test) => passes(program(chosen), test));
  const worstFirst = passed(pools)
    .map((tests, at) => ({ tests, at }))
    .filter(({ tests }) => tests >= 0)
    .sort((a, b) => a.tests - b.tests || a.at - b.at);
  return {
    repairs: worstFirst
      .flatMap(({ at }) => {
        const test = told.find((one) => !passes(program(at), one));
        return test ? [{ at, test }] : [];
      })
      .slice(0, REPAIRED),
    tests: pools.tests.flatMap((test, t) =>
      test === null || !pools.programs.some((one) => one !== null && passes(one, test)) ? [t] : [],
    ),
  };
}

/** The pools with what was written anew: a program takes the place of the old one if it passes more of the tests there were, a test always. */
export function renewed(
  pools: Pools,
  asked: Anew,
  repaired: readonly (string | null)[],
  tests: readonly (ProgramTest | null)[],
): Pools {
  const programs = [...pools.programs];
  for (const [i, { at }] of asked.repairs.entries()) {
    const [before, after] = passed({ programs: [programs[at]!, repaired[i] ?? null], tests: pools.tests });
    if (after! > before!) programs[at] = repaired[i]!;
  }
  const kept = [...pools.tests];
  for (const [i, at] of asked.tests.entries()) kept[at] = tests[i] ?? null;
  return { programs, tests: kept };
}
