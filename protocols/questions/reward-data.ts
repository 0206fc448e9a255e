/** The rewards of a recipe over files, made from plain data: those that every such recipe has, and a weighted sum where the data names one. */
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import type { BoundedModule } from '../../core/recipe/reward-function.ts';
import { rubric } from '../../core/recipe/rubric.ts';
import { name as policyName } from '../../core/schema/sample.ts';
import { SUM } from './paid-by-sum.ts';
import { QUESTION_REWARDS } from './rewards.ts';
import {
  builtInPart,
  judgedPart,
  modelPart,
  modulePart,
  type RewardPart,
  servicePart,
  type WeightedReward,
  weightedReward,
} from './weighted-reward.ts';

const builtIn = v.picklist(Object.keys(QUESTION_REWARDS) as (keyof typeof QUESTION_REWARDS)[]);

const exactVersion = v.strictObject({
  name: policyName,
  version: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});

export const rewardSum = v.pipe(
  v.array(
    v.strictObject({
      /** The stream's name in the record. */
      name: v.string(),
      weight: v.pipe(v.number(), v.finite()),
      /**
       * Makes a reward from its data: a reward of the protocol by its name, a module by the hash of its text, a service by its address, a policy
       * that judges, or a reward model.
       */
      from: v.union([
        v.strictObject({ builtIn }),
        v.strictObject({ module: v.string() }),
        v.strictObject({ url: v.pipe(v.string(), v.url()) }),
        v.strictObject({ rubric, policy: exactVersion }),
        v.strictObject({ model: exactVersion }),
      ]),
    }),
  ),
  v.minLength(1),
);
type RewardSum = v.InferOutput<typeof rewardSum>;

function partOf(
  { name, weight, from }: RewardSum[number],
  modules: Readonly<Record<string, BoundedModule>>,
): RewardPart {
  if ('builtIn' in from) return builtInPart(name, weight, QUESTION_REWARDS[from.builtIn]);
  if ('url' in from) return servicePart(name, weight, from.url);
  if ('rubric' in from) return judgedPart(name, weight, from.rubric, from.policy);
  if ('model' in from) return modelPart(name, weight, from.model);
  const module = modules[from.module];
  if (module) return modulePart(name, weight, module);
  throw wrongInput('reward.missing', `The reward module ${name} (${from.module}) was not passed in.`, {
    expected: 'the module that was written beside the recipe’s',
  });
}

/** The weighted sum that the data describes, as a reward. */
export const sumOf = (sum: RewardSum, modules: Readonly<Record<string, BoundedModule>>): WeightedReward =>
  weightedReward(sum.map((one) => partOf(one, modules)));

/** The sum comes first and so is the default; its name is `weighted`. */
export const rewardsOf = (
  sum: RewardSum | undefined,
  modules: Readonly<Record<string, BoundedModule>>,
): Readonly<Record<string, (typeof QUESTION_REWARDS)[keyof typeof QUESTION_REWARDS] | WeightedReward>> => ({
  ...(sum ? { [SUM]: sumOf(sum, modules) } : {}),
  ...QUESTION_REWARDS,
});
