/** CoSPlay: programs and tests that a policy writes to the same problem judge each other, and nothing is trained. */
import type { LearnTools, RoundRecords } from '../../core/plan/training-plan.ts';
import { deriveId, Random } from '../../core/random.ts';
import type { WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { solutionOf } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { familyTasks } from '../../worlds/drawn-tasks.ts';
import { parseTest, passes, statements, testIsExact } from '../../worlds/programs/statements.ts';
import { STOP } from '../../worlds/worked.ts';
import { fillPools, poolsOf, type Reading, TESTER } from './play.ts';
import { byMajority, byMatrix, type Pools } from './pools.ts';

const problems = familyTasks(statements);

const VARIANTS = {
  resampled: 'a program that is written anew is told neither the one before nor the test that it fails',
  'shuffled-tests': 'every test asks for the output of another, and the pools stay as they are written first',
} as const;

const readingOf = ({ settings }: Pick<RoundSpec, 'settings'>): Reading => ({
  exact: settings.rewardFunction === 'exact-tests',
  shuffled: settings.variant === 'shuffled-tests',
});

/** A program chosen at random is chosen from the pools as they are written first, as single programs are. */
const choosesAtRandom = ({ settings }: Pick<RoundSpec, 'settings'>): boolean =>
  settings.rewardFunction === 'random';

/** The place of the program that the run’s reward function chooses from pools; null where they hold none. */
function chosenOf(round: Pick<RoundSpec, 'settings'>, group: string, pools: Pools): number | null {
  if (!choosesAtRandom(round)) return byMatrix(pools);
  const programs = pools.programs.flatMap((program, p) => (program === null ? [] : [p]));
  return programs.length ? new Random(`chosen/${group}`).pick(programs) : null;
}

/** Programs and tests that the chosen program agrees with earn 1: it is all that the policy can say of them. */
function score(context: RoundContext, group: RolloutGroup): ScoredGroup {
  const { round, tokenizer } = context;
  const { pools } = poolsOf(group, tokenizer, readingOf(round), round.settings.groupSize);
  const last = pools.at(-1)!;
  const at = chosenOf(round, group.group, last);
  const chosen = at === null ? null : last.programs[at]!;
  const each = group.samples.map((sample) => {
    const text = tokenizer.decode(sample.ids);
    if (sample.role === TESTER) {
      const test = parseTest(text);
      if (sample.outcome !== 'ok' || !test.ok) return { agrees: false, exact: null };
      return {
        agrees: chosen !== null && passes(chosen, test.value),
        exact: testIsExact(group.task, test.value),
      };
    }
    const solution = solutionOf(statements, group.task, sample, tokenizer);
    if (!solution.ok) return { agrees: false, exact: null };
    return {
      agrees: solution.value.answer === chosen,
      exact: statements.answerIsExact(group.task, solution.value),
    };
  });
  return {
    ...group,
    samples: group.samples.map((sample, i) => ({ ...sample, rewards: { reward: Number(each[i]!.agrees) } })),
    judgments: [],
    answersExact: each.map(({ exact }) => exact),
    solutionsExact: each.map(({ exact }) => exact),
  };
}

/** What the oracle says of one problem's pools, for the report alone. */
function toldOf(
  { round }: Pick<RoundRecords, 'round'>,
  group: ScoredGroup,
  tools: Pick<LearnTools, 'decode'>,
) {
  const { pools } = poolsOf(group, tools, readingOf(round), round.settings.groupSize);
  const [first, last] = [pools[0]!, pools.at(-1)!];
  const right = (program: string | null) =>
    Number(program !== null && statements.answerIsExact(group.task, { steps: [], answer: program }));
  const chosen = (from: Pools, at: number | null) => right(at === null ? null : from.programs[at]!);
  const exactTests = ({ tests }: Pools) =>
    mean(tests.map((test) => Number(test !== null && testIsExact(group.task, test))));
  const passedBy = (at: number | null): number => {
    const tests = last.tests.flatMap((test) => test ?? []);
    const program = at === null ? null : last.programs[at]!;
    return tests.length && program !== null ? mean(tests.map((test) => Number(passes(program, test)))) : 0;
  };
  return {
    one: mean(first.programs.map(right)),
    majority: chosen(first, byMajority(first)),
    matrix: chosen(first, byMatrix(first)),
    renewed: chosen(last, byMatrix(last)),
    chosen: chosen(last, chosenOf(round, group.group, last)),
    tests: exactTests(first),
    testsRenewed: exactTests(last),
    anyRight: Number(first.programs.some((program) => right(program) === 1)),
    passedByChosen: passedBy(byMatrix(last)),
  };
}

/** The figures of some problems. */
function figuresOf(
  stage: Pick<RoundRecords, 'round'>,
  groups: readonly ScoredGroup[],
  tools: Pick<LearnTools, 'decode'>,
): Record<string, number> {
  const each = groups.map((group) => toldOf(stage, group, tools));
  const over = (some: typeof each, figure: keyof (typeof each)[number]) =>
    mean(some.map((one) => one[figure]));
  const allWrong = each.filter(({ anyRight }) => anyRight === 0);
  const found = each.filter(({ renewed }) => renewed === 1);
  return {
    one: over(each, 'one'),
    majority: over(each, 'majority'),
    matrix: over(each, 'matrix'),
    renewed: over(each, 'renewed'),
    chosen: over(each, 'chosen'),
    tests: over(each, 'tests'),
    testsRenewed: over(each, 'testsRenewed'),
    allWrong: allWrong.length / each.length,
    ...(allWrong.length
      ? { rescued: over(allWrong, 'renewed'), passedWrong: over(allWrong, 'passedByChosen') }
      : {}),
    ...(found.length ? { passedRight: over(found, 'passedByChosen') } : {}),
  };
}

const play = (context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> => {
  const { variant } = context.round.settings;
  return fillPools(context, tasks, {
    reading: readingOf(context.round),
    renews: !choosesAtRandom(context.round) && variant !== 'shuffled-tests',
    untold: variant === 'resampled',
  });
};

/** The pools of the held-out problems. Since nothing is trained, they are filled once in a run; another run, of another seed, fills others. */
const examine = (context: EvaluationContext): Promise<Record<string, number>> =>
  context.once('pools', async () => {
    const { round, tokenizer, evaluationTasks } = context;
    const tasks = statements.heldOut(evaluationTasks).map((task, index) => ({
      group: deriveId('evaluate', 'pools', round.settings.seed, task),
      index,
      task,
      proposal: null,
    }));
    const groups = (await play(context, tasks)).map((group) => score(context, group));
    return figuresOf(context, groups, tokenizer);
  });

export const cosplay: WithoutSetup = {
  name: 'cosplay',
  title: 'Programs and tests of one policy that judge each other, without training',
  paper: { title: 'CoSPlay', year: 2026 },
  summary:
    'Nothing is trained. A policy writes programs and tests to a problem that comes without tests, and every program is run on every test. The program that passes the most tests is chosen. Programs that fail a test which the chosen one passes are written again with that test, tests that no program passes are replaced, and the choice is made anew.',
  method: {
    setting:
      'A statement says in words what a program over a list does, the last word first. In the start policy, the coder takes "over" and "under" for each other in most statements that name one of them, so that there the majority of its programs is wrong, and now and then slips elsewhere. The tester’s errors are slips, which seldom agree. An interpreter with bounded fuel and memory runs programs; whether a program or a test is right is checked exactly, and nobody is told.',
    roles:
      'The coder writes eight programs to each problem, and the tester eight tests, each an input with the output that it expects. Twice, up to four programs are written again, with the program before and a test that it fails, and tests that no program passes are written anew. Both are the start policy.',
    rewards:
      'A sample earns 1 where the chosen program agrees with it: the same program, or a test that it passes. The reward changes no weights, and its distance from what is exact is the gap that the report shows.',
    credit: 'There is none, since no sample trains anything.',
    objective:
      'There is none. The chosen program is the one that passes the most tests; of those that pass as many, one of the largest group that puts out the same on their inputs.',
    schedule: 'Every round draws fresh problems. No round changes the weights.',
  },
  needsOfTasks: { datum: 'interpreter', which: 'problems whose programs and tests an interpreter runs' },
  differences: [
    'How the pass matrix is scored in the paper is not known to us; here programs are compared by the number of tests that they pass, and a test is dropped where no program passes it.',
    'The paper first explores ideas for a solution; here programs are sampled straight from the statement.',
    'That the coder’s errors agree with each other and the tester’s do not is planted in the start policy. Where both misread alike, a test confirms a wrong program; pools without a right program show what that looks like.',
    'Statements are two or three words over lists of numbers; the paper’s problems are those of programming contests.',
    'No format control: all programs of a pool are well-formed, so that a choice by form is a choice at random, which is the control.',
  ],
  figures: {
    one: 'Share of exact programs among those written first: what one sample reaches.',
    majority: 'Share of problems in which a program of the largest group with equal outputs is exact.',
    matrix:
      'Share of problems in which the program that passes the most of the tests written first is exact.',
    renewed: 'The same share after programs and tests were written anew.',
    chosen: 'Share of problems in which the program that the reward function chooses is exact.',
    tests: 'Share of exact tests among those written first.',
    testsRenewed: 'Share of exact tests in the pool at the end.',
    allWrong: 'Share of problems to which no program written first is exact.',
    rescued: 'Of those problems, the share in which the program that is chosen at the end is exact.',
    passedWrong:
      'Mean share of the tests that the chosen program passes where no program written first is exact.',
    passedRight: 'Mean share of the tests that the chosen program passes where it is exact.',
  },
  taskName: 'statements',
  stop: STOP,
  rewards: {
    matrix: { description: 'agreement with the program that passes the most tests', usesGold: false },
    'exact-tests': {
      description: 'upper bound: as matrix, with the outputs of tests made exact',
      usesGold: true,
    },
    random: { description: 'control: agreement with a program drawn at random', usesGold: false },
  },
  variants: VARIANTS,
  sets: { [MAIN_SET]: { optimizer: null } },
  roles: {
    // With exact tests a program is written again from the output that is right.
    [SOLVER]: role('writes programs', statements.maxNew.solver, { seesGold: true }),
    [TESTER]: role('writes tests', statements.maxNew.proposer, {
      shown: 'what the program should do, in words',
    }),
  },
  propose: async (context) => problems(context),
  rollOut: play,
  judge: async (context, groups) => groups.map((group) => score(context, group)),
  learn: (records, tools) => ({ updates: [], figures: figuresOf(records, records.groups, tools) }),
  evaluate: async (context) =>
    evaluation(
      await evaluateSolver(context, { family: statements, role: SOLVER, temperature: 1, force: false }),
      await examine(context),
    ),
  describe: { difficulty: (task) => statements.difficulty(task) },
};
