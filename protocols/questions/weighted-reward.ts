/**
 * A weighted sum of named rewards. Each of them is a stream of its own in the record, beside `reward`, which is the sum. Where one of them is missing
 * the sum is missing too, because the sum of the others would be on another scale than the sums of the other samples.
 */
import type { Score } from '../../core/net/reward-service.ts';
import { type BoundedModule, scoreByModule } from '../../core/recipe/reward-function.ts';
import type { RewardInfo } from '../../core/recipe/role.ts';
import { type Rubric, usesReference } from '../../core/recipe/rubric.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import type { RubricJudge } from './judged-reward.ts';
import type { RewardModel } from './model-reward.ts';
import type { QuestionEvidence, QuestionReward } from './rewards.ts';

/** One of the rewards in a sum. */
export interface RewardPart extends RewardInfo {
  /** The stream's name in the record. */
  readonly name: string;
  readonly weight: number;
  /** The policy that judges, where this reward is a grade. */
  readonly judge?: RubricJudge;
  /** The reward model that pays it, where one does. */
  readonly model?: RewardModel;
  /** [samples] */
  readonly score: (evidence: QuestionEvidence) => readonly Score[] | Promise<readonly Score[]>;
}

export interface WeightedReward extends RewardInfo {
  readonly parts: readonly RewardPart[];
}

/** The stream of the sum. */
export const TOTAL = 'reward';

export const weightedReward = (parts: readonly RewardPart[]): WeightedReward => ({
  description: parts.map(({ name, weight }) => `${weight} × ${name}`).join(' + '),
  usesGold: parts.some(({ usesGold }) => usesGold),
  ownScale: true,
  ...(parts.some(({ services }) => services)
    ? { services: parts.flatMap(({ services = [] }) => services) }
    : {}),
  parts,
});

/** A named reward of the protocol as a part of a sum. */
export const builtInPart = (name: string, weight: number, { pay, ...info }: QuestionReward): RewardPart => ({
  ...info,
  name,
  weight,
  score: (evidence) => pay(evidence).map((value) => value ?? 'not-rated'),
});

/** The function of a module as a part of a sum. */
export const modulePart = (name: string, weight: number, module: BoundedModule): RewardPart => ({
  name,
  weight,
  description: `the module ${name}`,
  // The module gets the whole task, and so the reference answer.
  usesGold: true,
  score: ({ rollouts, task }) => rollouts.map((rollout) => scoreByModule(module, rollout, task())),
});

/** The answers of an HTTP service as a part of a sum. */
export const servicePart = (name: string, weight: number, url: string): RewardPart => ({
  name,
  weight,
  description: `the service ${url}`,
  usesGold: true,
  services: [url],
  score: ({ askService, round, group, sampleIds, rollouts, task }) =>
    askService({
      url,
      reward: name,
      round,
      group,
      task: task(),
      rollouts: rollouts.map((rollout, i) => ({ id: sampleIds[i]!, ...rollout })),
    }),
});

/** The grades of a policy that judges by a rubric as a part of a sum. */
export const judgedPart = (
  name: string,
  weight: number,
  rubric: Rubric,
  policy: RubricJudge['policy'],
): RewardPart => ({
  name,
  weight,
  description: `the grade of ${policy.name}@${policy.version} by the rubric ${name}`,
  usesGold: usesReference(rubric),
  judge: { name, rubric, policy },
  score: ({ judged }) => judged[name]!,
});

/** What a reward model pays as a part of a sum. */
export const modelPart = (name: string, weight: number, policy: RewardModel['policy']): RewardPart => ({
  name,
  weight,
  description: `the reward model ${policy.name}@${policy.version}`,
  usesGold: false,
  model: { name, policy },
  score: ({ measured }) => measured[name]!,
});

/** The reward models of a reward. */
export const modelsOf = (reward: QuestionReward | WeightedReward): readonly RewardModel[] =>
  'parts' in reward ? reward.parts.flatMap(({ model }) => model ?? []) : [];

/** The judges of a reward. */
export const judgesOf = (reward: QuestionReward | WeightedReward): readonly RubricJudge[] =>
  'parts' in reward ? reward.parts.flatMap(({ judge }) => judge ?? []) : [];

type Paid = Pick<Sample, 'rewards' | 'missing'>;

/** The rewards of a group's samples, [samples]. */
export async function payByReward(
  reward: QuestionReward | WeightedReward,
  evidence: QuestionEvidence,
): Promise<readonly Paid[]> {
  if ('pay' in reward) return reward.pay(evidence).map((value) => ({ rewards: { [TOTAL]: value ?? null } }));
  const { parts } = reward;
  const scores = await Promise.all(parts.map(({ score }) => score(evidence)));
  return evidence.sampleIds.map((_, i) =>
    paidSample(
      parts,
      scores.map((column) => column[i]!),
    ),
  );
}

/** `scores` [parts] of one sample. */
function paidSample(parts: readonly RewardPart[], scores: readonly Score[]): Paid {
  const missing = parts.flatMap(({ name }, p) => {
    const score = scores[p]!;
    return typeof score === 'number' ? [] : [[name, score] as const];
  });
  const numbers = scores.map((score) => (typeof score === 'number' ? score : null));
  const total = missing.length
    ? null
    : parts.reduce((sum, { weight }, p) => sum + weight * (scores[p] as number), 0);
  return {
    rewards: { [TOTAL]: total, ...Object.fromEntries(parts.map(({ name }, p) => [name, numbers[p]!])) },
    ...(missing.length ? { missing: Object.fromEntries(missing) } : {}),
  };
}

/** What the figures of `rewardFigures` mean, by what their names begin with. */
export const REWARD_FIGURES = {
  reward:
    'Mean of this part of the weighted reward over the rollouts that have it, in the reward’s own unit.',
  missing: 'Number of rollouts that lack this part of the weighted reward, by the reason.',
} as const;

/** For a round's report: the mean of every reward in a sum, and how often it was missing, by kind. Empty for a reward that is no sum. */
export function rewardFigures(groups: readonly Pick<ScoredGroup, 'samples'>[]): Record<string, number> {
  const samples = groups.flatMap((group) => group.samples);
  const names = [...new Set(samples.flatMap(({ rewards }) => Object.keys(rewards)))].filter(
    (name) => name !== TOTAL,
  );
  const means = names.flatMap((name) => {
    const had = samples.flatMap(({ rewards }) => rewards[name] ?? []);
    return had.length
      ? [[`reward.${name}`, had.reduce((sum, value) => sum + value, 0) / had.length] as const]
      : [];
  });
  const counts: Record<string, number> = {};
  for (const { missing = {} } of samples)
    for (const [name, kind] of Object.entries(missing)) {
      const figure = `missing.${name}.${kind}`;
      counts[figure] = (counts[figure] ?? 0) + 1;
    }
  return { ...Object.fromEntries(means), ...counts };
}
