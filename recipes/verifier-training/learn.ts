/** What a round teaches: the verifier, by one of three ways of training, and later the generator against it, each in a set of its own. */

import type { LearnTools, RoundRecords, TrainingPlan, UpdatePart } from '../../core/plan/training-plan.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { reinforcedByPrompt } from '../../protocols/reinforced.ts';
import { GENERATOR, solutionShown } from '../../protocols/rewritten-lines.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { exactSums, plainProofs } from '../../worlds/chains/analysis.ts';
import { writeSums } from '../../worlds/chains/family.ts';
import { phaseOf } from './phases.ts';

export const GENERATOR_SET = 'generator';

export const VARIANTS = {
  imitation: 'the verifier is fine-tuned on its own verdicts that earn 1',
  written:
    'the verifier is fine-tuned on exact verdicts that a script writes, one in the place of each of its own',
} as const;

interface Verdict {
  readonly task: string;
  readonly sample: Sample;
}

const imitated = (verdicts: readonly Verdict[]) =>
  verdicts
    .filter(({ sample }) => sample.rewards.reward === 1)
    .map(({ sample: { prompt, ids } }) => ({ prompt, ids }));

/** Under a control, the script does not know the sums and copies what stands there. */
const written = (
  verdicts: readonly Verdict[],
  exact: boolean,
  { decode, encode }: Pick<LearnTools, 'decode' | 'encode'>,
) =>
  verdicts.map(({ task, sample: { prompt } }) => {
    const solution = solutionShown(decode(prompt));
    const found = exact ? exactSums(task, solution) : solution.steps;
    return { prompt, ids: encode(writeSums(solution, found) + plainProofs.stop) };
  });

/** The update part of the verifier in a round; none where there is nothing to train it on. */
function verifierPart(
  verdicts: readonly Verdict[],
  { round }: RoundRecords,
  tools: LearnTools,
): UpdatePart[] {
  const { variant, rewardFunction } = round.settings;
  if (variant === undefined)
    return verdicts.length
      ? [
          reinforcedByPrompt(
            JUDGE,
            verdicts.map(({ sample }) => sample),
          ),
        ]
      : [];
  const items =
    variant === 'imitation' ? imitated(verdicts) : written(verdicts, rewardFunction === 'marks', tools);
  return items.length ? [{ kind: 'sft', role: JUDGE, weight: 1, items }] : [];
}

/** By the oracle, for the report and the claim alone: what the generator achieves. A line passes as far as verdicts let it; a verdict that does not parse lets nothing pass. */
function figuresOf(groups: readonly ScoredGroup[]): Record<string, number> {
  const lines = groups.flatMap(({ samples, solutionsExact }) =>
    samples.map((sample, s) => ({
      wrong: solutionsExact[s] === false,
      passed: Math.max(0, sample.rewards.reward ?? 0),
    })),
  );
  const wrong = lines.filter((line) => line.wrong);
  return {
    corrupted: wrong.length / lines.length,
    breached: mean(lines.map(({ passed }) => passed)),
    ...(wrong.length ? { fooled: mean(wrong.map(({ passed }) => passed)) } : {}),
  };
}

export function learn(records: RoundRecords, tools: LearnTools): TrainingPlan {
  const { round, groups } = records;
  const figures = figuresOf(groups);
  if (phaseOf(round) === 'attack') {
    const lines = groups.flatMap(({ samples }) => samples);
    return { updates: [{ set: GENERATOR_SET, parts: [reinforcedByPrompt(GENERATOR, lines)] }], figures };
  }
  const verdicts = groups.flatMap(({ task, judgments }) => judgments.map((sample) => ({ task, sample })));
  const parts = verifierPart(verdicts, records, tools);
  return { updates: parts.length ? [{ set: MAIN_SET, parts }] : [], figures };
}
