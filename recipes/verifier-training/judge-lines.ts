/** Stage three: a verifier marks what comes of a generator's lines. How it is trained is the question; the generator is always paid for what passes. */
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { invalid, type ParseResult, type Solution } from '../../core/recipe/task-family.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { coinOf } from '../../protocols/gold.ts';
import {
  isExact,
  judgeRewrites,
  lineReward,
  marksExactly,
  parseRewrite,
  passedShare,
} from '../../protocols/rewritten-lines.ts';
import { rewardNamed } from '../../protocols/solver.ts';
import { isUnseenSlip, rewrittenLine } from '../../worlds/chains/slips.ts';
import { phaseOf } from './phases.ts';

/** What pays the verifier. Each uses gold, since a generator’s line is paid only where it is wrong. */
export const rewards: Readonly<Record<string, RewardInfo>> = {
  marks: { description: 'the verifier is paid for exact marks', usesGold: true },
  format: { description: 'control: the verifier is paid for well-formed verdicts', usesGold: true },
  random: { description: 'control: a fair coin pays the verifier', usesGold: true },
};

/** Verdicts on each solution. */
const VOTES = { teach: 4, attack: 2 } as const;

/** What the verifier is shown in the place of a sample. While it is taught, it is shown no flaw of a kind that it is examined on. */
export function shownFor(
  { round, tokenizer }: Pick<RoundContext, 'round' | 'tokenizer'>,
  task: string,
  { ids, outcome }: Pick<Sample, 'ids' | 'outcome'>,
): ParseResult<Solution> {
  const shown = outcome === 'ok' ? parseRewrite(task, tokenizer.decode(ids)) : invalid(outcome);
  if (!shown.ok || phaseOf(round) === 'attack') return shown;
  const line = rewrittenLine(task);
  return isUnseenSlip(task, line, shown.value.steps[line - 1]!) ? invalid('held-out') : shown;
}

export async function judgeLines(
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { rewardFunction } = context.round.settings;
  rewardNamed(rewards, rewardFunction);
  const phase = phaseOf(context.round);
  return judgeRewrites(context, groups, {
    votes: VOTES[phase],
    besideRight: phase === 'teach',
    shownFor: (task, sample) => shownFor(context, task, sample),
    payVerdict: ({ task, solution }, { sample: { id }, parsed }) => {
      if (rewardFunction === 'format') return Number(parsed.ok);
      if (rewardFunction === 'random') return Number(coinOf(id));
      return Number(marksExactly(task, solution, parsed));
    },
    payLine: (task, _sample, shown, verdicts) =>
      lineReward(shown.ok ? !isExact(task, shown.value) : null, passedShare(task, verdicts)),
  });
}
