/**
 * trio, and the flagship, which is trio in the world of compositions: one set of weights proposes tasks, solves them and judges the solutions. The method
 * is described below, as data. The folder's files in the order of a round: propose.ts, rewards.ts and judge.ts (after the solver's rollouts), learn.ts, evaluate.ts; ladder.ts has the variants.
 */
import type { Game } from '../../core/game/game.ts';
import type { RoundRecords } from '../../core/plan/training-plan.ts';
import { type Described, played, type Recipe, type RecipeOver } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { groupCentredBatchScaled, grpo } from '../../core/rl/estimators/index.ts';
import type { InvalidOutcome } from '../../core/schema/outcome.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import { evaluateVerifier, VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { describedBy, ofFamily, rewardNamed, smallSteps } from '../../protocols/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { composition, DEEPEST_TRAINED } from '../../worlds/composition/family.ts';
import { compositions, sums } from '../../worlds/toy-worlds.ts';
import { setup } from '../setup.ts';
import { evaluate } from './evaluate.ts';
import { judge } from './judge.ts';
import {
  climbed,
  drawnLadder,
  isFineTuned,
  isJudged,
  ladderState,
  payOf,
  refusesDeep,
  VARIANTS,
} from './ladder.ts';
import { learn, type ProposalPay, payProposals, type Together, writtenBy } from './learn.ts';
import { propose } from './propose.ts';
import { freeRewards, rewards, type SolverReward } from './rewards.ts';

/** How many held-out tasks are voted on with the judge's verdicts, and how many answers each has. */
const VOTED = { voted: 200, answers: 4 };

const described = {
  name: 'trio',
  title: 'Proposer, solver and judge co-trained on shared weights',
  paper: { title: 'rollmesh’s flagship; after RL Tango and Multi-Agent Evolve', year: 2026 },
  summary:
    'One policy writes arithmetic tasks, solves them with or without steps, and judges the solutions step by step. The proposer is paid for tasks that half of the rollouts solve, the judge for agreeing with the exact checker (or, without any labels, with the majority of the solver’s answers), the solver by the chosen reward.',
  method: {
    setting:
      'Tasks are chains of small sums and differences. One set of weights plays all three roles; the start policy has seen demonstrations of each and mostly answers without steps, though it would be right more often with them. Nobody supplies tasks.',
    roles:
      'The proposer writes tasks until the round has as many as it wants; a task must keep to the grammar, must not be held out and must not repeat one of the round. The solver answers each task several times. The judge gives a verdict on every step of a solution and on the whole, once a solution, or four times where its verdict alone pays the solver.',
    rewards:
      'The proposer earns 4p(1 - p), where p is the share of the task’s rollouts that pass: most for tasks that half of them solve. An invalid or repeated task earns -0.5, a held-out one nothing at all. The solver’s default reward is 0.8 for an exact answer plus 0.2 times the share of its steps that the judge calls right. The judge earns 1 where its verdict on the whole is that of the exact checker, or, with the rewards `self-consistency` and `majority`, where it says whether the solution gives the majority answer of its task.',
    credit:
      'Advantages are computed role by role, since the three rewards have different scales. The proposer’s rewards are whitened over the round. The solver’s are centred on the mean of their task and scaled by the deviation of the round. The judge is trained on at most 256 judgments, half of them of right solutions, weighted so that both kinds count the same.',
    objective:
      'The loss is the sum of the three roles’ clipped policy gradients (ratios in [0.8, 1.28], a mean over each role’s tokens), plus a k3 estimate of the KL divergence to version 0 with weight 0.1, or 0.3 where the solver is paid by the judge or by a coin.',
    schedule: 'Each round samples with the newest version and makes one update of the shared weights.',
  },
  differences: [
    'Tango keeps generator and verifier in two sets of weights; here all roles share one.',
    'Multi-Agent Evolve’s judge is paid for format only; here for agreement with an exact checker.',
  ],
  rewards,
  variants: {},
  sets: { main: { optimizer: smallSteps() } },
} satisfies Described;

interface Trio extends Together {
  readonly rewards: Readonly<Record<string, SolverReward>>;
  readonly proposals?: (round: RoundSpec) => ProposalPay;
  /** Where tasks have depths that are climbed. */
  readonly ladder?: Ladder;
}

interface Ladder {
  /** The highest difficulty of a task that may be written. */
  readonly levels: number;
  /** What a round's tasks are where another than the proposer writes them; null where it does. */
  readonly drawn: (context: RoundContext) => Promise<Proposals | null>;
  /** Why a run refuses a task that is otherwise right. */
  readonly refuses: (round: RoundSpec) => (task: string) => InvalidOutcome | null;
  /** Whether the judge is asked. */
  readonly judged: (round: RoundSpec) => boolean;
  /** What the run carries to its next round. */
  readonly state: (records: RoundRecords) => unknown;
}

const ASKED = ['solve', 'propose', 'verify'] as const;
type Asked = (typeof ASKED)[number];

/** What a plan says and leaves of the ladder. */
function climb({ levels, state }: Ladder, { difficulty }: TaskFamily, records: RoundRecords) {
  const recipeState = state(records);
  return {
    figures: writtenBy(difficulty, levels, records.groups),
    ...(recipeState === undefined ? {} : { recipeState }),
  };
}

/** All of trio over a game but its descriptions, sets and evaluation. */
const shapeOver = (game: Game<Asked>, { rewards, proposals: pay, ladder, ...together }: Trio) => {
  const { family, words } = game;
  const rewardOf = ({ settings }: RoundSpec) => rewardNamed(rewards, settings.rewardFunction);
  return {
    ...ofFamily(family),
    rewards,
    roles: {
      proposer: {
        description: 'writes tasks',
        sampling: { maxNew: words.propose.maxNew, temperature: 1 },
      },
      solver: {
        description: 'solves them, with or without steps',
        sampling: { maxNew: words.solve.maxNew, temperature: 1 },
      },
      judge: {
        description: 'gives a verdict on every step and on the whole',
        sampling: { maxNew: words.verify.maxNew, temperature: 1 },
        usesGold: true,
      },
    },
    freezable: ['proposer', 'judge'],
    propose: async (context) =>
      (await ladder?.drawn(context)) ?? propose(game, context, ladder?.refuses(context.round)),
    rollOut: (context, tasks) => rollOut({ family }, context, tasks),
    judge: (context, groups) =>
      judge(family, rewardOf(context.round), context, groups, ladder?.judged(context.round)),
    payProposals: ({ round, proposals, groups }) => payProposals(proposals, groups, pay?.(round)),
    learn: (records) => ({
      ...learn(rewardOf(records.round), together, records),
      ...(ladder ? climb(ladder, family, records) : {}),
    }),
    describe: describedBy(family),
  } satisfies Partial<Recipe>;
};

const written: RecipeOver<Asked> = {
  needs: { verbs: ASKED, data: ['answer'] },
  over: (game) => ({
    ...described,
    ...shapeOver(game, { rewards, solver: groupCentredBatchScaled, weights: () => ({}) }),
    evaluate: (context) =>
      evaluateVerifier(context, { family: game.family, solver: 'solver', judge: 'judge', ...VOTED }),
  }),
  elsewhere: {
    figures: VERIFIER_FIGURES,
    summary:
      'One policy writes questions like those of the files, answers them and the files’ own, and judges the answers. The proposer is paid for questions that half of the answers get right, the judge for agreeing with the checker or, on the proposer’s questions, with the majority of the answers, the solver by the chosen reward.',
    differences: [
      ...described.differences,
      'Half of a round’s questions are written by the proposer after an example from the files, and the rest are the files’ own: nobody can check a question that a policy wrote, so that its label is the majority of the solver’s answers. A round in which the proposer writes too little is filled up from the files.',
      'The proposer has no reward for well-posed questions beyond the pass rate: a question that makes answers differ, and is no good question, is paid too.',
    ],
  },
  ownReward: 'the word that pays its solver is what its judge has to say and what prices its proposals',
};

export const trio: Recipe = played(written, sums, {
  ...setup('trio'),
  evaluate: (context) => evaluate(arithmetic, context),
});

const LADDER: Trio = {
  proposals: payOf,
  rewards: freeRewards('gold'),
  solver: (rewards, groups) => grpo(rewards, groups),
  // A judge at chance is paid by luck, which would be noise in the shared weights. It is trained where its votes alone pay the solver.
  weights: ({ votes }) => ({ proposer: 0.5, judge: Number(votes > 1) }),
  fineTuned: isFineTuned,
  ladder: {
    levels: DEEPEST_TRAINED,
    drawn: drawnLadder,
    refuses: refusesDeep,
    judged: isJudged,
    state: ({ round, groups, recipeState }) => climbed(round, recipeState, groups),
  },
};

/** trio where tasks have depths, so that there is something to learn for as long as the proposer finds what is hard. */
export const trioInComposition: Recipe = {
  ...described,
  ...shapeOver(compositions, LADDER),
  name: 'trio-in-composition',
  called: 'trio in composition',
  title: 'Proposer and solver co-trained where the proposer chooses how deep tasks are nested',
  needsOfTasks: {
    datum: 'generator',
    which: 'tasks that the policy writes and a checker knows the answers of',
  },
  summary:
    'One policy writes tasks that nest functions, such as “f07 of f12 of bdca”, solves them call by call, and judges the solutions step by step. The proposer is paid for tasks that half of the rollouts solve, so that the depth that it writes climbs with the solver; the solver by the exact checker. The judge’s verdicts are shown and pay nobody unless a reward says so.',
  method: {
    setting:
      'Tasks are nested calls of sixteen functions on strings of four letters, whose names say nothing of what they do. The start policy knows each function alone and the order in which calls are worked out; it solves most tasks of two calls, some of three and next to none of four. It writes tasks of one call mostly, and of three now and then. Nobody supplies tasks.',
    roles: described.method.roles,
    rewards:
      'The proposer earns 4p(1 - p), where p is the share of the task’s rollouts that pass; what is no task, repeats another, or is answered as well by a way that stops early, earns 0, and a held-out one nothing at all. A task earns less by the share of the round’s other tasks that nest the same functions in the same order. A penalty would drive it to the shortest tasks, which are right more often. The solver’s default reward is 1 for an exact answer. The judge earns 1 where its verdict on the whole is that of the exact checker, or, with the rewards `self-consistency` and `majority`, where it says whether the solution gives the majority answer of its task.',
    credit:
      'Advantages are computed role by role. The proposer’s rewards are whitened over the round. The solver’s are centred on the mean of their task and divided by its deviation (GRPO).',
    objective:
      'The loss is the sum of the proposer’s and the solver’s clipped policy gradients (ratios in [0.8, 1.28], a mean over each role’s tokens), with a weight of 0.5 for the proposer’s. The judge, which begins at chance, is trained where its verdict alone pays the solver, and otherwise not: its steps would be noise for the other two. There is no KL divergence to version 0.',
    schedule: described.method.schedule,
  },
  figures: {
    solved:
      'Share of held-out tasks of this depth (calls that are nested) that greedy answers solve with every step right. One depth more than any task that may be trained on is asked, too.',
    written: 'Share of the round’s tasks that the proposer wrote with this depth.',
  },
  variants: VARIANTS,
  state: ladderState,
  ...setup('trio-in-composition'),
  sets: { main: { optimizer: smallSteps({ learningRate: 2e-4, warmup: 5, minibatches: 2 }) } },
  evaluate: (context) => evaluate(composition, context, { byLevel: true, judged: isJudged(context.round) }),
};
