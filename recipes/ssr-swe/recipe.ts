/** Self-play SWE-RL: one policy injects bugs into programs and repairs them; tests are the only source of reward. */
import type {
  LearnTools,
  PolicyItem,
  PolicyPart,
  RoundRecords,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { penalisedDifficulty } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { AnswerReward } from '../../protocols/answer-rewards.ts';
import { coinOf } from '../../protocols/gold.ts';
import { ppoClip, updateOf } from '../../protocols/objectives.ts';
import { paidByRate, solveRate } from '../../protocols/proposals.ts';
import {
  creditedItems,
  groupItems,
  policyPart,
  rewardOf,
  SOLVER,
  solverAlone,
  trainedSolver,
} from '../../protocols/solver.ts';
import { repair } from '../../worlds/programs/repair.ts';
import { INJECTOR, injectBugs, ssrState, stateAfter, stateOf } from './bugs.ts';

/** Samples of each held-out bug behind the sampled accuracy. */
const DRAWS = 4;

const VARIANTS = {
  'repair-only': 'bugs are random edits, and nobody injects',
  'no-gates': 'a bug is admitted if it is well-formed, whether or not a test fails and every edit matters',
  'first-order': 'failed repairs do not become bugs',
} as const;

const signed = (right: boolean): number => (right ? 1 : -1);
const rewards: Readonly<Record<string, AnswerReward>> = {
  tests: {
    description: '1 for a program that passes all tests, -1 for another; injectors by the share that does',
    usesGold: true,
    pay: ({ answersExact }) => answersExact().map((right) => signed(right === true)),
  },
  format: {
    description: 'control: any well-formed program passes',
    usesGold: false,
    pay: ({ solutions }) => solutions.map(({ ok }) => signed(ok)),
  },
  random: {
    description: 'control: a fair coin says whether a well-formed program passes',
    usesGold: false,
    pay: ({ group, solutions }) => solutions.map(({ ok }, i) => signed(ok && coinOf(group.samples[i]!.id))),
  },
};

/** `rate` is the share of repairs that pass; null where it is not known. A held-out program has no reward. */
export function injectorReward(outcome: Outcome, rate: number | null): number | null {
  if (outcome === 'held-out') return null;
  if (outcome !== 'ok') return -1;
  return rate === null ? null : penalisedDifficulty(rate);
}

const part = (role: string, items: readonly PolicyItem[]): PolicyPart[] =>
  items.length ? [policyPart(role, items, ppoClip())] : [];

function learn(
  { round, proposals, groups, recipeState }: RoundRecords,
  { decode }: LearnTools,
): TrainingPlan {
  const { samples } = proposals;
  const programs = samples.map(({ about }) => about!);
  const injected = creditedItems(samples, samples.map(rewardOf), programs, grpo);
  const parts = [...part(INJECTOR, injected), ...part(SOLVER, groupItems(groups, grpo))];
  const fresh = groups.filter(({ proposal }) => proposal !== null);
  const rates = fresh.flatMap(({ samples }) => solveRate(samples) ?? []);
  const state = stateAfter(stateOf(recipeState), groups, decode, round.settings.variant !== 'first-order');
  return {
    updates: updateOf(parts),
    recipeState: state,
    figures: {
      ...(proposals.samples.length
        ? { valid: mean(proposals.samples.map(({ outcome }) => Number(outcome === 'ok'))) }
        : {}),
      ...(rates.length
        ? {
            repaired: mean(rates),
            interior: mean(rates.map((rate) => Number(rate > 0 && rate < 1))),
            removals: mean(fresh.map(({ task }) => Number(isRemoval(task)))),
          }
        : {}),
      failedRepairs: state.failed.length,
    },
  };
}

/** Whether the bug has fewer words than the program. */
function isRemoval(task: string): boolean {
  const [program, bug] = task.split(';', 2).map((text) => text.split(' ').length) as [number, number];
  return bug < program;
}

export const ssrSwe: WithoutSetup = {
  name: 'ssr-swe',
  title: 'Injection and repair of bugs by one policy, with tests as the only teacher',
  paper: arXiv('2512.18552', 'Toward Training Superintelligent Software Agents through Self-Play SWE-RL'),
  summary:
    'One policy injects bugs into programs and repairs them. A bug is admitted if a test fails because of it and each of its edits matters; the solver is asked to make that test pass. The solver is paid for passing all tests, the injector for bugs that are repaired sometimes, not often. Failed repairs become bugs of their own.',
  method: {
    setting:
      'A repository is a short program over lists of numbers with four tests, and needs no issue and no description. An interpreter with bounded fuel and memory runs programs. In the start policy four of ten repairs carry an edit, and an injector varies a program without regard to what its test shows.',
    roles:
      'The injector sees a program and writes another one with a bug, and the input of a test that fails because of it, four times for each program. The solver sees the program with the bug, this test with the output that it has to have, and two of the four tests of the repository, and writes a program, as many times as the group is large. All four tests and the one that is asked for decide.',
    rewards:
      'The solver earns 1 for a program that passes, and -1 for another or for text that is not well-formed. With the share s of repairs that pass, the injector earns 1 - 1.8 s where s lies strictly between 0 and 1, -0.8 where it is 0 or 1, and -1 for a bug that is not well-formed, that repeats another of its round, that no test shows, or of which an edit can be taken back without repairing a test.',
    credit:
      'Rewards are standardised among the four bugs of one program, and among the repairs of one bug (GRPO).',
    objective:
      'A clipped policy gradient for both roles, ratios in [0.8, 1.2], with a mean over each role’s tokens. There is no KL term.',
    schedule:
      'Each round injects, repairs and makes one update of the shared weights. Bugs of earlier rounds take the places of those that were refused; up to a quarter of the tasks are failed repairs of the round before, which are not followed up a second time.',
  },
  needsOfTasks: { datum: 'interpreter', which: 'programs with tests that an interpreter runs' },
  differences: [
    'Repositories are programs of one to three instructions with four tests; the paper has containers of real ones, and agents with tools.',
    'An artefact is a bug and one test, which is taken out of the suite; the paper’s has a test script, a parser and patches of several files, and gates for each. Here the tests are given.',
    'The inverse mutation takes back one word at a time, where both programs have as many.',
    'Injectors are asked directly, without instructions to remove code or to look at its history; how many bugs remove an instruction is reported.',
    'Objective and estimator could not be checked against the paper’s.',
  ],
  figures: {
    valid: 'Share of the injected bugs that pass the gates.',
    repaired: 'Share of the repairs of new bugs that pass the tests.',
    interior: 'Share of the new bugs that some repairs mend and others do not.',
    removals: 'Share of the new bugs that only remove code.',
    failedRepairs: 'Number of failed repairs that become bugs of the next round.',
  },
  // A repair has no steps.
  ...solverAlone({ family: repair, rewards, draws: DRAWS, force: false }),
  state: ssrState,
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 2e-4, warmup: 5 }),
  roles: {
    [INJECTOR]: role(
      'writes a program with a bug, and a test that fails because of it',
      repair.maxNew.proposer,
      { speaksAs: 'proposer', seesGold: true },
    ),
    [SOLVER]: role('repairs a program', repair.maxNew.solver, { shown: 'a program with a bug, and tests' }),
  },
  freezable: [INJECTOR, SOLVER],
  propose: injectBugs,
  payProposals: paidByRate(injectorReward),
  learn,
  describe: { difficulty: (task) => repair.difficulty(task) },
};
