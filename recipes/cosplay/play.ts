/** How pools are filled: programs and tests are written to every problem, then twice what the pools make of each other is written anew. */
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { solutionOf } from '../../core/recipe/task-family.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { SOLVER } from '../../protocols/solver.ts';
import {
  meantOutput,
  type ProgramTest,
  parseTest,
  repairPrompt,
  statements,
  testerPrompt,
} from '../../worlds/programs/statements.ts';
import { type Anew, anew, type Pools, renewed } from './pools.ts';

export const TESTER = 'tester';
/** How often the pools are renewed. */
const RENEWALS = 2;

type Decoder = { readonly decode: (ids: readonly number[]) => string };
type Told = Pick<RolloutGroup, 'task' | 'samples'>;

/** How tests are read, other than as they are written. */
export interface Reading {
  /** Every output is that of the problem's own program; for the upper bound. */
  readonly exact: boolean;
  /** Every test asks for the output of the test after it; for a control. */
  readonly shuffled: boolean;
}

const readTests = (
  task: string,
  written: readonly (ProgramTest | null)[],
  { exact, shuffled }: Reading,
): (ProgramTest | null)[] =>
  written.map((test, t) => {
    if (test === null) return null;
    if (shuffled) return { ...test, output: (written[(t + 1) % written.length] ?? test).output };
    if (!exact) return test;
    const output = meantOutput(task, test.input);
    return output && { ...test, output };
  });

/** The pools of a group before it is renewed and after each time, as far as its samples go; and what is to be written next. */
export function poolsOf(
  { task, samples }: Told,
  tokenizer: Decoder,
  reading: Reading,
  groupSize: number,
): { readonly pools: readonly Pools[]; readonly next: Anew } {
  const left = [...samples];
  const take = (role: string, count: number): Sample[] =>
    left.splice(0, count).filter((one) => one.role === role);
  const programs = (count: number) =>
    take(SOLVER, count).map((sample) => {
      const solution = solutionOf(statements, task, sample, tokenizer);
      return solution.ok ? solution.value.answer : null;
    });
  const tests = (count: number) =>
    readTests(
      task,
      take(TESTER, count).map(({ ids, outcome }) => {
        const test = parseTest(tokenizer.decode(ids));
        return outcome === 'ok' && test.ok ? test.value : null;
      }),
      reading,
    );
  const pools: Pools[] = [{ programs: programs(groupSize), tests: tests(groupSize) }];
  for (;;) {
    const next = anew(pools.at(-1)!);
    if (!left.length || next.repairs.length + next.tests.length === 0) return { pools, next };
    pools.push(renewed(pools.at(-1)!, next, programs(next.repairs.length), tests(next.tests.length)));
  }
}

interface Play {
  readonly reading: Reading;
  /** Whether the pools are renewed. */
  readonly renews: boolean;
  /** Whether a program is written anew without being told the one before and the test that it fails. */
  readonly untold: boolean;
}

/** Stage two: as many programs as tests to each problem, and what is written anew. The samples of a group come in the order in which they are asked for. */
export async function fillPools(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  { reading, renews, untold }: Play,
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const { groupSize } = round.settings;
  const groups = tasks.map((task) => ({ round: round.id, ...task, samples: [] as Sample[] }));
  const written = groups.map(() => ({ [SOLVER]: 0, [TESTER]: 0 }));
  /** Asks a role of each group, and puts the samples into the groups. asked [groups][prompts] */
  const write = async (
    role: typeof SOLVER | typeof TESTER,
    asked: readonly (readonly { readonly prompt: string; readonly count: number }[])[],
  ) => {
    const prompts = groups.flatMap(({ group, task }, g) =>
      asked[g]!.map(({ prompt, count }) => {
        const from = written[g]![role];
        written[g]![role] += count;
        return {
          g,
          prompt,
          sampleIds: rolloutIds(group, role, count, from),
          parse: (text: string) => (role === TESTER ? parseTest(text) : statements.parseSolution(task, text)),
        };
      }),
    );
    const samples = await samplePrompts(context, role, prompts);
    for (const [i, { g }] of prompts.entries()) groups[g]!.samples.push(...samples[i]!);
  };
  const full = (promptOf: (task: string) => string) =>
    groups.map(({ task }) => [{ prompt: promptOf(task), count: groupSize }]);
  await write(SOLVER, full(statements.solverPrompt));
  await write(TESTER, full(testerPrompt));
  for (let renewal = 0; renews && renewal < RENEWALS; renewal++) {
    const next = groups.map((group) => {
      const { pools, next } = poolsOf(group, tokenizer, reading, groupSize);
      return { programs: pools.at(-1)!.programs, ...next };
    });
    await write(
      SOLVER,
      groups.map(({ task }, g) =>
        next[g]!.repairs.map(({ at, test }) => ({
          prompt: untold ? statements.solverPrompt(task) : repairPrompt(task, next[g]!.programs[at]!, test),
          count: 1,
        })),
      ),
    );
    await write(
      TESTER,
      groups.map(({ task }, g) => {
        const count = next[g]!.tests.length;
        return count ? [{ prompt: testerPrompt(task), count }] : [];
      }),
    );
  }
  return groups;
}
