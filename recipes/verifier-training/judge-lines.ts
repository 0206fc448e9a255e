/** Stage three: a verifier marks what comes of a generator's lines. How it is trained is the question; the generator is always paid for what passes. */
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { invalid } from '../../core/recipe/task-family.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { coinOf } from '../../protocols/gold.ts';
import {
  isExact,
  judgeRewrites,
  lineReward,
  marksExactly,
  passedShare,
  solutionMade,
} from '../../protocols/rewritten-lines.ts';
import { rewardNamed } from '../../protocols/solver.ts';
import { isUnseenSlip, rewrittenLine } from '../../worlds/chains/slips.ts';
import type { Phase } from './phases.ts';

/** What pays the verifier. Each uses gold, since a generator’s line is paid only where it is wrong. */
export const rewards: Readonly<Record<string, RewardInfo>> = {
  marks: { description: 'the verifier is paid for exact marks', usesGold: true },
  format: { description: 'control: the verifier is paid for well-formed verdicts', usesGold: true },
  random: { description: 'control: a fair coin pays the verifier', usesGold: true },
};

/** What the verifier is shown in the place of a sample while it is taught: no flaw of a kind that it is examined on. */
const unexamined: typeof solutionMade = (stage, task, sample) => {
  const shown = solutionMade(stage, task, sample);
  const line = rewrittenLine(task);
  return shown.ok && isUnseenSlip(task, line, shown.value.steps[line - 1]!) ? invalid('held-out') : shown;
};

/** Verdicts on each solution, whether the right one is among them, and what is shown, by phase. */
const SHOWN = {
  teach: { votes: 4, besideRight: true, shown: unexamined },
  attack: { votes: 2, besideRight: false, shown: solutionMade },
} as const;

export const judgeLines =
  (phase: Phase) =>
  (context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> => {
    const { rewardFunction } = context.round.settings;
    rewardNamed(rewards, rewardFunction);
    const { shown, ...how } = SHOWN[phase];
    return judgeRewrites(context, groups, {
      ...how,
      shownFor: (task, sample) => shown(context, task, sample),
      payVerdict: ({ task, solution }, { sample: { id }, parsed }) => {
        if (rewardFunction === 'format') return Number(parsed.ok);
        if (rewardFunction === 'random') return Number(coinOf(id));
        return Number(marksExactly(task, solution, parsed));
      },
      payLine: (task, _sample, line, verdicts) =>
        lineReward(line.ok ? !isExact(task, line.value) : null, passedShare(task, verdicts)),
    });
  };
