/** RL Tango: a generator and a generative process verifier, both trained by reinforcement learning, each with weights of its own. */
import type {
  LearnTools,
  PolicyItem,
  RoundRecords,
  TrainingPlan,
  Update,
} from '../../core/plan/training-plan.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { exponentialDecay, mixStreams } from '../../core/rl/rewards/index.ts';
import { inPhases } from '../../core/round/in-phases.ts';
import { phaseAt, type Schedule } from '../../core/round/phases.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { nearStart, ppoClip } from '../../protocols/objectives.ts';
import { policyUpdate, SOLVER } from '../../protocols/solver.ts';
import {
  JUDGE,
  OPTIMIZER,
  type SolverVerifierGame,
  solverAndVerifier,
} from '../../protocols/solver-verifier.ts';
import {
  APPROVAL_FIGURES,
  approvalFigures,
  readVerified,
  stepAdvantages,
  stepReader,
  type Verified,
} from '../../protocols/step-credit.ts';
import { chainMarks, chains, freshChain } from '../../worlds/chains/family.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { classCounts, classWeightedVerdicts } from './verdict-credit.ts';

/** Which of the two a round trains. */
const SCHEDULE: Schedule<'verifier' | 'generator'> = {
  first: [{ phase: 'verifier', rounds: 12 }],
  cycle: [
    { phase: 'generator', rounds: 3 },
    { phase: 'verifier', rounds: 1 },
  ],
};
/** The number of generator updates over which α falls. */
const FALL = 48;
const VOTES = 5;
const VERIFIER_SET = 'verifier';
const FORMAT_WEIGHT = 0.8;
/** The format score of a verdict by its outcome; outcomes that are not listed have none. */
const FORMAT: Readonly<Partial<Record<Outcome, number>>> = { ok: 1, contradiction: 1, 'verdict-count': 0.2 };
const VARIANTS = {
  outcome: 'the generator is paid for outcomes alone: GRPO; the verifier rests',
  constant: 'α stays at 0.5',
};

export const turnOf = (index: number) => phaseAt(SCHEDULE, index);

export const alphaOf = (variant: string | undefined, before: number): number =>
  variant === 'outcome' ? 0 : variant === 'constant' ? 0.5 : exponentialDecay(0.1, 1e-3, before, FALL);

/** A verifier's round rests where the verifier is frozen or its verdicts are not used. */
function phaseOf({ index, settings: { freeze, variant } }: RoundSpec): 'verifier' | 'generator' | 'rest' {
  const { phase } = turnOf(index);
  return phase === 'verifier' && (freeze.includes(JUDGE) || variant === 'outcome') ? 'rest' : phase;
}

/** What a round of each phase samples. */
const SHAPES: Readonly<Record<ReturnType<typeof phaseOf>, SolverVerifierGame['shape']>> = {
  verifier: () => ({ solutions: 1, shown: 1, votes: VOTES }),
  generator: ({ settings: { groupSize, variant } }) => ({
    solutions: groupSize,
    shown: variant === 'outcome' ? 0 : groupSize,
    votes: 1,
  }),
  rest: () => ({ solutions: 1, shown: 0, votes: VOTES }),
};

export function solutionsWithAdvantages(
  verified: readonly Verified[],
  alpha: number,
  stepsOf: (ids: TokenIds) => number[],
): PolicyItem[] {
  const outcomes = grpo(
    verified.map(({ sample: { rewards } }) => rewards.reward ?? null),
    verified.map(({ group }) => group),
  );
  const streams = [
    { weight: 1 - alpha, advantages: outcomes },
    { weight: alpha, advantages: stepAdvantages(verified, stepsOf) },
  ];
  const mixed = mixStreams(
    streams,
    verified.map(({ sample }) => sample.ids.length),
  );
  return verified.flatMap(({ sample }, i) => (mixed[i] ? [{ sample, advantage: mixed[i]! }] : []));
}

/** The reward of a verdict: its agreement with the solution's label, and its format; marks on steps are not rewarded. */
export const verdictReward = ({ outcome, rewards }: Pick<Sample, 'outcome' | 'rewards'>): number =>
  rewards.agreement! + FORMAT_WEIGHT * (FORMAT[outcome] ?? 0);

const update = (set: string, role: string, items: readonly PolicyItem[]): Update[] =>
  policyUpdate(role, items, { ...ppoClip(), ...nearStart(1e-3, set), entropy: 1e-3 }, set);

function generatorPlan(family: TaskFamily, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const verified = readVerified(family, groups, tools);
  const alpha = alphaOf(round.settings.variant, turnOf(round.index).before);
  const items = solutionsWithAdvantages(verified, alpha, stepReader(family, tools.encode));
  return { updates: update(MAIN_SET, SOLVER, items), figures: approvalFigures(verified) };
}

function verifierPlan(
  family: TaskFamily,
  { groups, recipeState }: RoundRecords,
  tools: LearnTools,
): TrainingPlan {
  const before = readState(classCounts, recipeState) ?? [];
  // Where no solution parses there is no verdict.
  const { items, counts } = classWeightedVerdicts(groups, before, verdictReward);
  return {
    updates: update(VERIFIER_SET, JUDGE, items),
    recipeState: counts,
    figures: approvalFigures(readVerified(family, groups, tools)),
  };
}

const described = {
  name: 'tango',
  title: 'Generator and process verifier, co-trained in turns',
  paper: arXiv('2505.15034', 'RL Tango: Reinforcing Generator and Verifier Together for Language Reasoning'),
  summary:
    'A generator solves step by step; a verifier with weights of its own marks every step. The generator is paid for exact answers and a little for approved steps, the verifier for its final verdict and its form, never for its marks. They learn in turns, three updates to one.',
  method: {
    setting:
      'A generator solves long chains of eight operators step by step. A verifier with weights of its own marks every step. Only the final answers can be checked.',
    roles:
      'The solver, the generator, writes every step. The judge, the verifier, marks each step and gives a final verdict, once a solution in the generator’s rounds and five times in its own.',
    rewards:
      'A solution’s outcome is 1 if it is exact and 0 if it is not, and each of its K steps earns +1/K or -1/K by the verifier’s mark. A verdict earns 1 where it is the exact checker’s, plus up to 0.8 for its format. Its marks on steps are never graded.',
    credit:
      'The generator’s outcomes and step rewards are each standardised over the group; step advantages are summed to go and mixed in by (1 - α) · outcome + α · steps, where α falls from 0.1 to 0.001 over 48 generator updates. Verdicts are compared among those on the same solution and weighted by 1/√count of right and wrong solutions, with counts remembered at a decay of 0.8.',
    objective:
      'A clipped policy gradient for each, ratios in [0.8, 1.2] and a mean over tokens, plus 0.001 times a k3 estimate of the KL divergence to version 0, minus 0.001 times the entropy.',
    schedule:
      'The verifier trains alone for 12 rounds. Then they take turns: three updates of the generator to one of the verifier.',
  },
  differences: [
    'The schedule is scaled from 440 updates to a sixth or so: 12 of the verifier alone, and α falls over 48 of the generator, of which a claim plays the first 9. An update has 48 tasks and takes four optimiser steps, the paper’s 256 and one.',
    'A verdict that does not follow from its marks counts as not parsed, but keeps its format reward; one that misquotes a step has none, and a wrong number of marks is no verdict. A solution that does not parse is shown to no verifier.',
    'The verifier starts from supervised checks, of which nearly half pass everything; the paper’s starts untrained. Its step size is three times the generator’s.',
  ],
  figures: { ...VERIFIER_FIGURES, ...APPROVAL_FIGURES },
  variants: VARIANTS,
  state: classCounts,
  sets: {
    [MAIN_SET]: { optimizer: { ...OPTIMIZER, learningRate: 1e-4 } },
    [VERIFIER_SET]: { optimizer: OPTIMIZER },
  },
} satisfies Described;

const written: RecipeOver<'solve' | 'verify'> = {
  needs: { verbs: ['solve', 'verify'], data: ['answer'] },
  over: ({ family, tasks, readVerdict }) => {
    const playing = (phase: keyof typeof SHAPES) =>
      solverAndVerifier({
        family,
        tasks,
        ...(readVerdict ? { readVerdict } : {}),
        judgeSet: VERIFIER_SET,
        shape: SHAPES[phase],
        answers: 4,
        placement: 'step',
      });
    return {
      ...described,
      ...playing('generator'),
      ...inPhases(phaseOf, {
        generator: {
          ...playing('generator'),
          learn: (records, tools) => generatorPlan(family, records, tools),
        },
        verifier: { ...playing('verifier'), learn: (records, tools) => verifierPlan(family, records, tools) },
        rest: { ...playing('rest'), learn: () => ({ updates: [] }) },
      }),
    };
  },
  ownReward: 'the word that pays its generator is what its verifier has to say',
};

const freshChains = familyGame(chains, {
  tasks: (context) => drawnTasks(context, (random) => freshChain(random)),
  readVerdict: chainMarks,
});

export const tango = played(written, freshChains);
