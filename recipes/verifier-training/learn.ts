/** What a round teaches: the verifier, by one of three ways of training, and later the generator against it, each in a set of its own. */
import type { LearnTools, RoundRecords, TrainingPlan, UpdatePart } from '../../core/plan/training-plan.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import { answersTo, reinforced, verdictsOn } from '../../protocols/reinforced.ts';
import { GENERATOR, solutionJudged } from '../../protocols/rewritten-lines.ts';
import { paidTexts } from '../../protocols/samples-of-role.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { exactSums, plainProofs } from '../../worlds/chains/analysis.ts';
import { writeSums } from '../../worlds/chains/family.ts';

export const GENERATOR_SET = 'generator';

export const VARIANTS = {
  imitation: 'the verifier is fine-tuned on its own verdicts that earn 1',
  written:
    'the verifier is fine-tuned on exact verdicts that a script writes, one in the place of each of its own',
} as const;

/** Under a control, the script does not know the sums and copies what stands there. */
const written = (
  groups: readonly Pick<ScoredGroup, 'task' | 'judgments'>[],
  exact: boolean,
  { encode }: Pick<LearnTools, 'encode'>,
) =>
  groups.flatMap(({ task, judgments }) =>
    judgments.map((judgment) => {
      const solution = solutionJudged(judgment);
      const found = exact ? exactSums(task, solution) : solution.steps;
      return { prompt: judgment.prompt, ids: encode(writeSums(solution, found) + plainProofs.stop) };
    }),
  );

/** The update part of the verifier in a round; none where there is nothing to train it on. */
function verifierPart({ round, groups }: RoundRecords, tools: LearnTools): UpdatePart[] {
  const { variant, rewardFunction } = round.settings;
  const verdicts = groups.flatMap(({ judgments }) => judgments);
  if (variant === undefined) return verdicts.length ? [reinforced(JUDGE, verdictsOn(groups))] : [];
  const items =
    variant === 'imitation' ? paidTexts(verdicts) : written(groups, rewardFunction === 'marks', tools);
  return [sftPart(JUDGE, items)];
}

/** By the oracle, for the report and the claim alone: what the generator achieves. A line passes as far as verdicts let it; a verdict that does not parse lets nothing pass. */
function figuresOf(groups: readonly ScoredGroup[]): Record<string, number> {
  const lines = groups.flatMap(({ samples, solutionsExact }) =>
    samples.map(({ rewards: { reward = null } }, s) => ({
      wrong: solutionsExact[s] === false,
      passed: reward === null ? 0 : Math.max(0, reward),
    })),
  );
  const wrong = lines.filter((line) => line.wrong);
  return {
    corrupted: wrong.length / lines.length,
    breached: mean(lines.map(({ passed }) => passed)),
    ...(wrong.length ? { fooled: mean(wrong.map(({ passed }) => passed)) } : {}),
  };
}

/** The verifier is taught and the generator rests. */
export function teach(records: RoundRecords, tools: LearnTools): TrainingPlan {
  return { updates: updateOf(verifierPart(records, tools)), figures: figuresOf(records.groups) };
}

/** The generator learns against the verifier, which rests. */
export const attack = ({ groups }: RoundRecords): TrainingPlan => ({
  updates: [{ set: GENERATOR_SET, parts: [reinforced(GENERATOR, answersTo(groups))] }],
  figures: figuresOf(groups),
});
