/**
 * The rollout and judge stages of both phases: solutions, and either many verdicts on each, which become labels, or one, which decides the reward.
 */
import type { Game } from '../../core/game/game.ts';
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { Judgment, ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { phaseAt, type Schedule } from '../../core/round/phases.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import type { Answer } from '../../protocols/ask-about-samples.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { parseGroup, verify } from '../../protocols/verify.ts';
import { type Consensus, chosenVerdict } from './labels.ts';
import { processReward, stepAugmentedReward } from './rewards.ts';

export interface ProcessGame extends Game<'solve' | 'verify'> {
  /** The family without its bound on the number of lines; absent where it has none. */
  readonly ungated?: TaskFamily;
}

/** The role whose verdicts become labels. */
export const LABELLER = 'labeller';
/** The number of verdicts on a solution that are combined into one label. */
const VOTES = 16;

const SCHEDULE: Schedule<'label' | 'solve'> = {
  first: [{ phase: 'label', rounds: 6 }],
  cycle: [{ phase: 'solve', rounds: 1 }],
};
export const phaseOf = ({ index }: Pick<RoundSpec, 'index'>) => phaseAt(SCHEDULE, index).phase;

export const VARIANTS = {
  single: 'one verdict on each solution is its label, and is imitated as it is',
  outcome: 'the label is the majority of the verdicts on the whole; marks on lines have no vote',
  'no-gate': 'solutions with any number of lines are paid by the verifier',
  'step-augmented':
    '0.4 times the share of lines that are called right, plus 0.6 times the verdict on the whole',
  selective: 'praise is kept on lines that are called right, and blame on lines that are called wrong',
} as const;

export const rewards: Readonly<Record<string, RewardInfo>> = {
  process: {
    description: 'the verifier’s verdict on a well-formed solution; nobody sees an exact answer',
    usesGold: false,
    labelFree: true,
  },
  gold: { description: 'upper bound: the exact answer pays the solver', usesGold: true },
  random: { description: 'control: a fair coin pays the solver', usesGold: false },
  format: { description: 'control: any well-formed solution is paid', usesGold: false },
};

const consensusOf = ({ settings: { variant } }: RoundSpec): Consensus =>
  variant === 'single' || variant === 'outcome' ? variant : 'steps';

export const familyOf = (
  { family, ungated }: ProcessGame,
  { settings: { variant } }: RoundSpec,
): TaskFamily => (variant === 'no-gate' ? ungated! : family);

/** Of each task half as many solutions as are written later: they are labelled. */
export const writeLabelled = (
  game: ProcessGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> =>
  rollOut(
    { family: familyOf(game, context.round) },
    context,
    tasks,
    SOLVER,
    Math.ceil(context.round.settings.groupSize / 2),
  );

/** Verdicts of the labeller, of which the majority is what is imitated. */
export const labelSolutions = (
  game: ProcessGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> => {
  const consensus = consensusOf(context.round);
  const votes = consensus === 'single' ? 1 : VOTES;
  return judged(game, context, groups, { role: LABELLER, votes, consensus, pay: () => ({}) });
};

/** A verdict of the verifier, which pays the solver. */
export const paySolutions = (
  game: ProcessGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> =>
  judged(game, context, groups, {
    role: JUDGE,
    votes: 1,
    consensus: null,
    pay: (...evidence) => ({ reward: payOf(context, ...evidence) }),
  });

interface Judging {
  readonly role: string;
  /** Verdicts on each solution. */
  readonly votes: number;
  readonly consensus: Consensus | null;
  readonly pay: (
    sample: Sample,
    solution: ParseResult<Solution>,
    verdict: ParseResult<Judgment> | undefined,
    answerExact: boolean | null,
  ) => Sample['rewards'];
}

async function judged(
  game: ProcessGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
  { role, votes, consensus, pay }: Judging,
): Promise<ScoredGroup[]> {
  const { round } = context;
  rewardNamed(rewards, round.settings.rewardFunction);
  const family = familyOf(game, round);
  const solutionsGS = groups.map((group) => parseGroup(family, context, group));
  const verdictsGSV = await verify(context, groups, solutionsGS, { family, role, votes });
  return groups.map((group, g): ScoredGroup => {
    const { task } = group;
    const solutions = solutionsGS[g]!;
    const answersExact = solutions.map((s) => (s.ok ? family.answerIsExact(task, s.value) : null));
    const solutionsExact = solutions.map((s, i) =>
      s.ok ? answersExact[i] === true && family.exactJudgment(task, s.value).right : null,
    );
    return {
      ...group,
      samples: group.samples.map((sample, s) => ({
        ...sample,
        rewards: pay(sample, solutions[s]!, verdictsGSV[g]![s]![0]?.parsed, answersExact[s]!),
      })),
      judgments: group.samples.flatMap((_, s) =>
        recorded(verdictsGSV[g]![s]!, consensus, solutionsExact[s]!),
      ),
      answersExact,
      solutionsExact,
    };
  });
}

/** The verdicts on a solution, as recorded: `chosen` marks the one that is trained on, if any. */
function recorded(
  answers: readonly Answer<Judgment>[],
  consensus: Consensus | null,
  exact: boolean | null,
): Sample[] {
  const verdicts = answers.map(({ parsed }) => (parsed.ok ? parsed.value : null));
  const chosen = consensus && chosenVerdict(verdicts, consensus);
  return answers.map(({ sample, parsed }, i) => ({
    ...sample,
    rewards: consensus ? { chosen: Number(i === chosen) } : {},
    ...besideOracle(exact, parsed.ok ? parsed.value.right : null),
  }));
}

function payOf(
  context: RoundContext,
  { id }: Sample,
  solution: ParseResult<Solution>,
  verdict: ParseResult<Judgment> | undefined,
  answerExact: boolean | null,
): number {
  const { rewardFunction, variant } = context.round.settings;
  if (rewardFunction === 'random') return Number(coinOf(id));
  if (!solution.ok) return 0;
  if (rewardFunction === 'format') return 1;
  if (rewardFunction === 'gold') return Number(sealedGold(context, answerExact)() === true);
  const read = verdict?.ok ? verdict.value : null;
  return variant === 'step-augmented' ? stepAugmentedReward(read) : processReward(read);
}
