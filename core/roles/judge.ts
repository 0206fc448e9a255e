/**
 * The judge: step verdicts and a final verdict on every readable solution, `votes` times; then the rewards of the group.
 * Exact checkers stand beside it, for gold rewards, for the judge's own training and for the monitors.
 */
import { deriveId } from '../random.ts';
import type { RolledGroup, Sample, ScoredGroup } from '../schema/sample.ts';
import type { Judgment, Reading, Solution } from '../tasks/family.ts';
import { refuse } from '../tasks/family.ts';
import { coinOf, sealedGold } from './gold.ts';
import { type Stage, sampleOf } from './stage.ts';
import { rewardKind, type ThreeRoles } from './three-role-game.ts';

export async function judge(
  game: ThreeRoles,
  stage: Stage,
  groups: readonly RolledGroup[],
): Promise<ScoredGroup[]> {
  const { round, tokenizer } = stage;
  const { family } = game;
  const kind = rewardKind(game, round.settings.reward);

  const solutionsGS = groups.map((group) =>
    group.samples.map(
      (sample): Reading<Solution> =>
        sample.outcome === 'ok'
          ? family.readSolution(group.task, tokenizer.decode(sample.ids))
          : refuse(sample.outcome),
    ),
  );
  const asked = groups.flatMap((group, g) =>
    group.samples.flatMap((sample, s) => {
      const solution = solutionsGS[g]![s]!;
      if (!solution.ok) return [];
      const ids = tokenizer.encode(family.judgePrompt(group.task, solution.value));
      const sampleIds = Array.from({ length: kind.votes }, (_, i) => deriveId(sample.id, 'judge', i));
      return [{ g, s, of: sample.id, solution: solution.value, prompt: { ids, sampleIds } }];
    }),
  );
  const completions = await stage.generate(
    'judge',
    asked.map(({ prompt }) => prompt),
  );

  const out = groups.map((group, g): ScoredGroup => {
    const truths = solutionsGS[g]!.map((solution) =>
      solution.ok ? family.truth(group.task, solution.value).right : null,
    );
    const golds = solutionsGS[g]!.map((solution) =>
      solution.ok ? family.gold(group.task, solution.value) : null,
    );
    return { ...group, samples: [], judgments: [], gold: golds, truth: truths };
  });
  const readings: Reading<Judgment>[][][] = groups.map((group) => group.samples.map(() => []));
  for (const [a, { g, s, of, solution, prompt }] of asked.entries()) {
    for (const [i, completion] of completions[a]!.entries()) {
      const reading = completion.stopped
        ? family.readJudgment(solution, tokenizer.decode(completion.ids))
        : refuse('cut-off');
      readings[g]![s]!.push(reading);
      const agreement = game.judgeReward(reading, out[g]!.truth[s]!);
      const outcome = reading.ok ? 'ok' : reading.reason;
      out[g]!.judgments.push({
        ...sampleOf(stage, 'judge', prompt.sampleIds[i]!, prompt.ids, completion, outcome, { agreement }),
        of,
      });
    }
  }
  for (const [g, group] of groups.entries()) {
    out[g]!.samples = group.samples.map((sample, s): Sample => {
      const evidence = {
        solution: solutionsGS[g]![s]!,
        judgments: readings[g]![s]!,
        gold: sealedGold(stage, out[g]!.gold[s]!),
        coin: coinOf(sample.id),
      };
      return { ...sample, rewards: { reward: kind.solver(evidence), passed: kind.passed(evidence) } };
    });
  }
  return out;
}
