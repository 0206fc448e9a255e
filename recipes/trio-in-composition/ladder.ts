/**
 * Variants of trio in composition that answer what a trained proposer buys: others write the tasks, or the solver learns otherwise. No task of any of
 * them has more than DEEPEST_USED calls, so that one depth which the start can read is measured and never trained on.
 */
import * as v from 'valibot';
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { interiorDifficulty } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { admit, refuseRepeated } from '../../core/round/admit.ts';
import type { InvalidOutcome } from '../../core/schema/outcome.ts';
import type { RoundSpec, RunSettings } from '../../core/schema/round.ts';
import type { Proposals, ScoredGroup } from '../../core/schema/sample.ts';
import type { ProposalPay } from '../../protocols/trio/learn.ts';
import { chainOf, depthOf, randomTask } from '../../worlds/composition/family.ts';
import { NESTED } from '../../worlds/composition/functions.ts';

/** Most calls of a task in a variant. */
export const DEEPEST_USED = 4;

export const VARIANTS = {
  'to-four': 'no task of more than four calls is used, so that five are never trained on',
  frontier:
    'as to-four, and a proposal earns 1 - p where some rollouts solve its task, and 1/4 where none does',
  rule: 'a rule writes the tasks: half of them as deep as it has come, a quarter one call less; it goes one call deeper when 70 % of the answers to the deepest are right. Four calls at most',
  mixture: 'a program writes as many tasks of one, two, three and four calls in every round',
  'one-call': 'a program writes tasks of one call',
  'fine-tuning': 'the tasks of `mixture`, and the solver is fine-tuned on its right answers in place of GRPO',
} as const;
type Variant = keyof typeof VARIANTS;

/** How deep the rule has come. */
export const ladderState = v.object({ deepest: v.pipe(v.number(), v.integer(), v.minValue(1)) });

/** At this share of right answers to its deepest tasks the rule goes one call deeper. */
const CLIMBS_AT = 0.7;

/** Depths of the rule's tasks [count]: half the deepest, a quarter the one before, the others the lower ones in turn. */
function depthsOfRule(deepest: number, count: number): number[] {
  const lower = Math.max(1, deepest - 1);
  return Array.from({ length: count }, (_, i) => {
    if (i < count / 2) return deepest;
    return i < (3 * count) / 4 ? lower : 1 + (i % lower);
  });
}

const inTurn = (depths: number, count: number) => Array.from({ length: count }, (_, i) => 1 + (i % depths));

async function depthsOf(variant: Variant, context: RoundContext): Promise<number[] | null> {
  const { tasks } = context.round.settings;
  switch (variant) {
    case 'to-four':
    case 'frontier':
      return null;
    case 'rule':
      return depthsOfRule(readState(ladderState, await context.recipeState())?.deepest ?? 1, tasks);
    case 'one-call':
      return inTurn(1, tasks);
    default:
      return inTurn(DEEPEST_USED, tasks);
  }
}

const variantOf = ({ settings }: Pick<RoundSpec, 'settings'>) => settings.variant as Variant | undefined;

/** The tasks that a program writes in place of the proposer; null where the proposer writes them. The same for a seed and a round, whoever learns from them. */
export async function drawnLadder(context: RoundContext): Promise<Proposals | null> {
  const { round } = context;
  const variant = variantOf(round);
  const depths = variant ? await depthsOf(variant, context) : null;
  if (!depths) return null;
  const random = new Random(`ladder/${round.settings.seed}/${round.index}`);
  const refuse = refuseRepeated();
  const tasks = depths.map((depth) => {
    for (;;) {
      const task = randomTask(random, depth, NESTED);
      if (!refuse(task)) return { task, proposal: null };
    }
  });
  return { round: round.id, samples: [], tasks: admit(round, tasks) };
}

/** Why a variant does not use a task that is otherwise right. */
export const refusesDeep =
  (round: Pick<RoundSpec, 'settings'>) =>
  (task: string): InvalidOutcome | null =>
    variantOf(round) && depthOf(task) > DEEPEST_USED ? 'too-long' : null;

/** What a task is worth that no rollout solves: as much as one that three of four solve. */
const UNSOLVED = 1 / 4;

/**
 * 1 - p where some rollouts pass, as in Absolute Zero (arXiv:2505.03335): what is hardly ever solved is worth more than what is hardly ever missed. The
 * checker can solve every task that is used, so that one which no rollout solves is worth something, too.
 */
const frontier = (passRate: number): number => (passRate === 0 ? UNSOLVED : interiorDifficulty(passRate));

/** How proposals are paid. */
export const payOf = (round: Pick<RoundSpec, 'settings'>): ProposalPay => ({
  unusable: 0,
  kindOf: chainOf,
  ...(variantOf(round) === 'frontier' ? { worth: frontier } : {}),
});

/** Rewards that no verdict decides. */
const WITHOUT_VERDICTS: readonly string[] = ['gold', 'majority', 'format', 'random'];

/** Is the judge asked? Not in a variant whose reward reads no verdict: nobody looks at them there, and they would count as tokens. */
export const isJudged = ({ settings: { variant, rewardFunction } }: Pick<RoundSpec, 'settings'>): boolean =>
  variant === undefined || !WITHOUT_VERDICTS.includes(rewardFunction);

/** Is the solver fine-tuned on its right answers? */
export const isFineTuned = ({ variant }: Pick<RunSettings, 'variant'>): boolean => variant === 'fine-tuning';

/** How deep the rule has come after a round, for the state that it leaves; undefined in other variants. */
export function climbed(
  round: Pick<RoundSpec, 'settings'>,
  before: unknown,
  groups: readonly ScoredGroup[],
): v.InferOutput<typeof ladderState> | undefined {
  if (variantOf(round) !== 'rule') return undefined;
  const deepest = readState(ladderState, before)?.deepest ?? 1;
  const passed = groups
    .filter(({ task }) => depthOf(task) === deepest)
    .flatMap(({ samples }) => samples.flatMap(({ rewards }) => rewards.passed ?? []));
  const goesOn = passed.length > 0 && mean(passed) >= CLIMBS_AT;
  return { deepest: Math.min(DEEPEST_USED, deepest + Number(goesOn)) };
}
