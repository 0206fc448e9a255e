/**
 * The judge gives step verdicts and a final verdict on every readable solution, `votes` times; then the group's rewards follow.
 * Exact checkers stand beside it, for gold rewards, for the monitors, and for the judge's own training unless the reward is label-free.
 */
import { majority } from '../../core/rl/rewards/index.ts';
import type { RoundContext } from '../../core/round-context.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import type { ParseResult, Solution } from '../../core/task-family.ts';
import { tieOf } from '../../protocols/answer-rewards.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { parseGroup, verify } from '../../protocols/verify.ts';
import { arithmetic } from '../../tasks/arithmetic/family.ts';
import { judgeReward, rewardOf } from './rewards.ts';

/** Whether each solution gives the answer that most solutions of its task give; null where it gives none. */
function majorityLabels({ group }: RolloutGroup, solutions: readonly ParseResult<Solution>[]) {
  const answers = solutions.map((solution) => (solution.ok ? solution.value.answer : null));
  const vote = majority(answers, tieOf(group));
  return answers.map((answer) => (answer === null ? null : answer === vote?.answer));
}

export async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const reward = rewardOf(context.round.settings.rewardFunction);
  const solutionsGS = groups.map((group) => parseGroup(arithmetic, context, group));
  const verdicts = await verify(context, groups, solutionsGS, {
    family: arithmetic,
    role: 'judge',
    votes: reward.votes,
  });
  return groups.map((group, g): ScoredGroup => {
    const solutions = solutionsGS[g]!;
    const answersExact = solutions.map((s) => (s.ok ? arithmetic.answerIsExact(group.task, s.value) : null));
    const solutionsExact = solutions.map((s) =>
      s.ok ? arithmetic.exactJudgment(group.task, s.value).right : null,
    );
    const samples = group.samples.map((sample, s): Sample => {
      const evidence = {
        solution: solutions[s]!,
        judgments: verdicts[g]![s]!.map(({ parsed }) => parsed),
        answerExact: sealedGold(context, answersExact[s]!),
        coin: coinOf(sample.id),
      };
      return { ...sample, rewards: { reward: reward.solver(evidence), passed: reward.passed(evidence) } };
    });
    const labels = reward.labelFree ? majorityLabels(group, solutions) : solutionsExact;
    const judgments = verdicts[g]!.flatMap((votes, s) =>
      votes.map(({ sample, parsed }) => ({
        ...sample,
        rewards: {
          agreement: judgeReward(parsed, labels[s]!),
          ...(reward.labelFree ? { label: Number(labels[s]!) } : {}),
        },
        ...besideOracle(solutionsExact[s]!, parsed.ok ? parsed.value.right : null),
      })),
    );
    return { ...group, samples, judgments, answersExact, solutionsExact };
  });
}
