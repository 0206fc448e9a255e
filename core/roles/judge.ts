/**
 * The judge: step verdicts and a final verdict on every readable solution, `votes` times; then the rewards of the group.
 * Exact checkers stand beside it, for gold rewards, for the judge's own training and for the monitors.
 */
import type { RolledGroup, Sample, ScoredGroup } from '../schema/sample.ts';
import { besideTruth, coinOf, sealedGold } from './gold.ts';
import type { Stage } from './stage.ts';
import { rewardKind, type ThreeRoles } from './three-role-game.ts';
import { readGroup, verify } from './verify.ts';

export async function judge(
  game: ThreeRoles,
  stage: Stage,
  groups: readonly RolledGroup[],
): Promise<ScoredGroup[]> {
  const { family } = game;
  const kind = rewardKind(game, stage.round.settings.reward);
  const solutionsGS = groups.map((group) => readGroup(family, stage, group));
  const verdicts = await verify(stage, groups, solutionsGS, { family, role: 'judge', votes: kind.votes });
  return groups.map((group, g): ScoredGroup => {
    const solutions = solutionsGS[g]!;
    const gold = solutions.map((s) => (s.ok ? family.gold(group.task, s.value) : null));
    const truth = solutions.map((s) => (s.ok ? family.truth(group.task, s.value).right : null));
    const samples = group.samples.map((sample, s): Sample => {
      const evidence = {
        solution: solutions[s]!,
        judgments: verdicts[g]![s]!.map(({ reading }) => reading),
        gold: sealedGold(stage, gold[s]!),
        coin: coinOf(sample.id),
      };
      return { ...sample, rewards: { reward: kind.solver(evidence), passed: kind.passed(evidence) } };
    });
    const judgments = verdicts[g]!.flatMap((votes, s) =>
      votes.map(({ sample, reading }) => ({
        ...sample,
        rewards: { agreement: game.judgeReward(reading, truth[s]!) },
        ...besideTruth(truth[s]!, reading.ok ? reading.value.right : null),
      })),
    );
    return { ...group, samples, judgments, gold, truth };
  });
}
