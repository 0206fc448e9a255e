/** Stage three: a verifier marks what comes of a generator's lines, beside the right solution, and both are paid. */
import { Random } from '../../core/random.ts';
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { ok, type ParseResult, type Solution } from '../../core/recipe/task-family.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import {
  isExact,
  judgeRewrites,
  lineReward,
  marksExactly,
  passedShare,
  solutionMade,
} from '../../protocols/rewritten-lines.ts';
import { rewardNamed } from '../../protocols/solver.ts';
import { chainWith, rewrittenLine, slipAt } from '../../worlds/chains/slips.ts';

export const rewards: Readonly<Record<string, RewardInfo>> = {
  game: {
    description:
      'the verifier is paid for exact marks; the generator for wrong lines that pass, and it pays for lines that are not wrong',
    usesGold: true,
  },
  format: { description: 'control: what is well-formed is paid, for both', usesGold: false },
  random: { description: 'control: a fair coin, for both', usesGold: false },
};

/** What the verifier is shown in the place of a sample: what its line makes, or in the static variant a random last digit. */
const shownFor = (context: RoundContext, task: string, sample: Sample): ParseResult<Solution> => {
  if (context.round.settings.variant !== 'static') return solutionMade(context, task, sample);
  const line = rewrittenLine(task);
  return ok(chainWith(task, line, slipAt(new Random(`slip/${sample.id}`), 'digit', task, line)!));
};

export async function judgeLines(
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { rewardFunction, groupSize } = context.round.settings;
  rewardNamed(rewards, rewardFunction);
  return judgeRewrites(context, groups, {
    votes: groupSize,
    besideRight: true,
    shownFor: (task, sample) => shownFor(context, task, sample),
    payVerdict: ({ task, solution }, { sample: { id }, parsed }) => {
      if (rewardFunction === 'format') return Number(parsed.ok);
      if (rewardFunction === 'random') return Number(coinOf(id));
      return Number(sealedGold(context, marksExactly(task, solution, parsed))());
    },
    payLine: (task, { id }, shown, verdicts) => {
      if (rewardFunction === 'format') return Number(shown.ok);
      if (rewardFunction === 'random') return Number(coinOf(id));
      const wrong = sealedGold(context, shown.ok ? !isExact(task, shown.value) : null)();
      return lineReward(wrong, passedShare(task, verdicts));
    },
  });
}
