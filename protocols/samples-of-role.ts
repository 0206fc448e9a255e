/** Groups in which several roles write: the part that one role wrote, and the share of it that is exact. */
import { mean } from '../core/rl/statistics.ts';
import type { Sample, ScoredGroup } from '../core/schema/sample.ts';

/** The part of a group that one role wrote. */
export const writtenBy = (group: ScoredGroup, role: string): ScoredGroup => ({
  ...group,
  samples: group.samples.filter((sample) => sample.role === role),
  answersExact: group.answersExact.filter((_, i) => group.samples[i]!.role === role),
});

/** The share of exact answers; answers that cannot be parsed count as wrong. Null if there are no samples. */
export const exactShare = (groups: readonly Pick<ScoredGroup, 'answersExact'>[]): number | null => {
  const answers = groups.flatMap(({ answersExact }) => answersExact);
  return answers.length ? mean(answers.map((exact) => Number(exact === true))) : null;
};

/** The samples that earned 1, as texts for supervised fine-tuning. */
export const paidTexts = (samples: readonly Sample[]): Pick<Sample, 'prompt' | 'ids'>[] =>
  samples.filter(({ rewards }) => rewards.reward === 1).map(({ prompt, ids }) => ({ prompt, ids }));
