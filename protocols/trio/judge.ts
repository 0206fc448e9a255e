/**
 * The judge stage. The judge gives step verdicts and a final verdict on every solution that parses, `votes` times, and the group's rewards follow.
 * The exact checker is used for gold rewards, for the monitors, and for training the judge unless the reward is label-free.
 */
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { tieOf } from '../answer-rewards.ts';
import { besideOracle, coinOf, sealedGold } from '../gold.ts';
import { parseGroup, verify } from '../verify.ts';
import { judgeReward, type SolverReward } from './rewards.ts';

/** Whether each solution gives the majority answer of its task; null where it gives none. */
function majorityLabels({ group }: RolloutGroup, solutions: readonly ParseResult<Solution>[]) {
  const answers = solutions.map((solution) => (solution.ok ? solution.value.answer : null));
  const vote = majority(answers, tieOf(group));
  return answers.map((answer) => (answer === null ? null : answer === vote?.answer));
}

/** `asked`: whether the judge is asked at all. A question that the policy wrote has no reference answer, so the majority of its answers is the label. */
export async function judge(
  family: TaskFamily,
  reward: SolverReward,
  context: RoundContext,
  groups: readonly RolloutGroup[],
  asked = true,
): Promise<ScoredGroup[]> {
  const solutionsGS = groups.map((group) => parseGroup(family, context, group));
  const verdicts = await verify(context, groups, solutionsGS, {
    family,
    role: 'judge',
    votes: reward.votes,
    ...(asked ? {} : { shown: 0 }),
  });
  return groups.map((group, g): ScoredGroup => {
    const solutions = solutionsGS[g]!;
    const isLabelled = !family.isUnlabelled?.(group.task);
    const byOracle = (says: (solution: Solution) => boolean) =>
      solutions.map((s) => (s.ok && isLabelled ? says(s.value) : null));
    const answersExact = byOracle((solution) => family.answerIsExact(group.task, solution));
    const solutionsExact = byOracle((solution) => family.exactJudgment(group.task, solution).right);
    const isVoted = reward.labelFree || !isLabelled;
    const labels = isVoted ? majorityLabels(group, solutions) : solutionsExact;
    const samples = group.samples.map((sample, s): Sample => {
      const evidence = {
        solution: solutions[s]!,
        judgments: verdicts[g]![s]!.map(({ parsed }) => parsed),
        answerExact: isLabelled ? sealedGold(context, answersExact[s]!) : () => labels[s]!,
        agrees: isVoted ? labels[s]! : null,
        coin: coinOf(sample.id),
      };
      return { ...sample, rewards: { reward: reward.solver(evidence), passed: reward.passed(evidence) } };
    });
    const judgments = verdicts[g]!.flatMap((votes, s) =>
      votes.map(({ sample, parsed }) => ({
        ...sample,
        rewards: {
          agreement: judgeReward(parsed, labels[s]!),
          ...(isVoted ? { label: Number(labels[s]!) } : {}),
        },
        ...besideOracle(solutionsExact[s]!, parsed.ok ? parsed.value.right : null),
      })),
    );
    return { ...group, samples, judgments, answersExact, solutionsExact };
  });
}
