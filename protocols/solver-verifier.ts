/**
 * A solver and a verifier of its solutions over a task family: the shape of round that co-training the two shares. Tasks are drawn, a group of
 * rollouts solves each, and some of the solutions are verified. The run's reward function decides what counts as right, for the solver's reward and
 * for the verifier's alike. The recipe decides what a round trains.
 */
import { type Part, readTags } from '../core/recipe/reading.ts';
import type { RoundShape } from '../core/recipe/recipe.ts';
import { type Placement, type RewardInfo, role } from '../core/recipe/role.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import type { ParseResult, Solution, TaskFamily } from '../core/recipe/task-family.ts';
import type { RoundSpec } from '../core/schema/round.ts';
import type { Proposals, RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { evaluateVerifier } from './evaluate/verifier.ts';
import { besideOracle, coinOf, sealedGold } from './gold.ts';
import { rollOut } from './roll-out.ts';
import { describedBy, ofFamily, rewardNamed, SOLVER, smallSteps } from './solver.ts';
import { parseGroup, verify } from './verify.ts';

/** The verifier's role, as the monitors know it. */
export const JUDGE = 'judge';

/** How many held-out tasks are voted on. */
const VOTED = 200;

/** How both roles are trained unless a recipe says otherwise. */
export const OPTIMIZER = smallSteps({ learningRate: 3e-4, warmup: 5 });

interface Evidence {
  readonly solution: ParseResult<Solution>;
  /** Whether the answer is exact; null where there is none. Throws for a reward that is declared gold-free. */
  readonly answerExact: () => boolean | null;
  readonly coin: boolean;
}

export interface Label extends RewardInfo {
  readonly right: (evidence: Evidence) => boolean;
}

/** What counts as right: the exact answer, and the two controls that any gain must beat. */
export const LABELS: Readonly<Record<string, Label>> = {
  exact: {
    description: 'exact answers are right; the verifier is held to that',
    usesGold: true,
    right: ({ answerExact }) => answerExact() === true,
  },
  random: {
    description: 'control: a fair coin says what is right, for both',
    usesGold: false,
    right: ({ coin }) => coin,
  },
  format: {
    description: 'control: any well-formed answer is right, for both',
    usesGold: false,
    right: ({ solution }) => solution.ok,
  },
};

/** How many completions of each role a round samples. */
export interface Shape {
  /** Solutions of each task. */
  readonly solutions: number;
  /** How many of them are verified, and how often each. */
  readonly shown: number;
  readonly votes: number;
}

export interface SolverVerifierGame {
  readonly family: TaskFamily;
  /** A round's tasks, none held out. */
  readonly tasks: (context: RoundContext) => Proposals | Promise<Proposals>;
  /** The verifier's parameter set; default the main one. */
  readonly judgeSet?: string;
  readonly shape: (round: RoundSpec) => Shape;
  /** The tokens on which the solver's rewards are placed; default the whole solution. */
  readonly placement?: Placement;
  /** Answers to each held-out task that is voted on. */
  readonly answers: number;
  /** How a verdict is cut into parts for a reader; default by its tags. */
  readonly readVerdict?: (text: string) => readonly Part[];
}

export function solverAndVerifier(game: SolverVerifierGame): RoundShape {
  const { family, tasks, judgeSet, shape, answers, placement = 'sequence', readVerdict = readTags } = game;
  const { maxNew } = family;
  return {
    ...ofFamily(family),
    rewards: LABELS,
    roles: {
      [SOLVER]: role('solves tasks', maxNew.solver, { placement }),
      [JUDGE]: role('gives a verdict on every step and on the whole', maxNew.judge, {
        ...(judgeSet === undefined ? {} : { set: judgeSet }),
      }),
    },
    freezable: [SOLVER, JUDGE],
    propose: async (context) => tasks(context),
    rollOut: (context, admitted) =>
      rollOut({ family }, context, admitted, SOLVER, shape(context.round).solutions),
    judge: (context, groups) => judgeAll(game, context, groups),
    evaluate: (context) =>
      evaluateVerifier(context, { family, solver: SOLVER, judge: JUDGE, voted: VOTED, answers }),
    describe: {
      ...describedBy(family),
      parts: (role, text) => (role === JUDGE ? readVerdict : readTags)(text),
    },
  };
}

async function judgeAll(
  { family, shape }: SolverVerifierGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { right } = rewardNamed(LABELS, context.round.settings.rewardFunction);
  const { votes, shown } = shape(context.round);
  const solutionsGS = groups.map((group) => parseGroup(family, context, group));
  const verdicts = await verify(context, groups, solutionsGS, { family, role: JUDGE, votes, shown });
  return groups.map((group, g): ScoredGroup => {
    const solutions = solutionsGS[g]!;
    const answersExact = solutions.map((s) => (s.ok ? family.answerIsExact(group.task, s.value) : null));
    const labels = group.samples.map(({ id }, s) =>
      right({
        solution: solutions[s]!,
        answerExact: sealedGold(context, answersExact[s]!),
        coin: coinOf(id),
      }),
    );
    return {
      ...group,
      samples: group.samples.map(
        (sample, s): Sample => ({ ...sample, rewards: { reward: Number(labels[s]) } }),
      ),
      judgments: verdicts[g]!.flatMap((each, s) =>
        each.map(({ sample, parsed }) => ({
          ...sample,
          rewards: { agreement: Number(parsed.ok && parsed.value.right === labels[s]) },
          ...besideOracle(answersExact[s]!, parsed.ok ? parsed.value.right : null),
        })),
      ),
      answersExact,
      solutionsExact: solutions.map((s) => (s.ok ? family.exactJudgment(group.task, s.value).right : null)),
    };
  });
}
