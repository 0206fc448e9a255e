/** SRPO’s claim: routed by whether they are right, attempts teach as fast as a teacher at first and as much as rewards in the end, and more. */
import type { ArmResults, Claim, Condition } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, rises } from '../../core/claims/conditions.ts';
import { curveOf } from '../../core/claims/curves.ts';
import { mean } from '../../core/rl/statistics.ts';

/** Sampled accuracy of the method minus the better of the two that it joins, the mean over all evaluations after the first. */
function aboveEnvelope(results: ArmResults, seed: number): number {
  const [routed, rewards, teacher] = ['srpo-route', 'grpo', 'sdpo'].map((arm) =>
    curveOf(results, arm, seed, 'sampled').slice(1),
  ) as [number[], number[], number[]];
  return mean(routed.map((own, i) => own - Math.max(rewards[i]!, teacher[i]!)));
}

const envelope: Condition = {
  description:
    'sampled accuracy, srpo-route no lower than the better of grpo and sdpo by more than 0.01, mean over the evaluations after the first',
  measure: aboveEnvelope,
  atLeast: -0.01,
};

export const claim: Claim = {
  description:
    'For as many rollouts a policy whose right attempts are trained by rewards and whose wrong ones are corrected by a teacher answers better in the end than one that is trained by rewards alone or by the teacher alone, and is at no time behind the better of the two. The other way round, right attempts to the teacher and wrong ones to rewards, it is worse, and so it is where wrong attempts are left out.',
  rounds: 24,
  evaluateEvery: 4,
  arms: [
    { name: 'srpo-route', description: 'as published' },
    { name: 'grpo', variant: 'grpo', description: 'rewards alone' },
    { name: 'sdpo', variant: 'sdpo', description: 'the teacher alone, for all attempts' },
    {
      name: 'no entropy weight',
      variant: 'no-entropy-weight',
      description: 'all tokens of wrong attempts count alike',
    },
    {
      name: 'no teacher',
      variant: 'no-teacher',
      description: 'the attempts that the teacher would correct are left out',
    },
    {
      name: 'inverse route',
      variant: 'inverse-route',
      description: 'right attempts go to the teacher, wrong ones to rewards',
    },
    coinArm('a coin says which attempts are right'),
    formatArm('every attempt in form is right'),
  ],
  conditions: [
    envelope,
    endsAbove('srpo-route', 'grpo', 0.03),
    endsAbove('srpo-route', 'sdpo'),
    endsAbove('srpo-route', 'inverse route', 0.03),
    endsAbove('srpo-route', 'no teacher', 0.03),
    rises('srpo-route', 0.05),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('srpo-route', 'no entropy weight', 0.02),
    endsAbove('srpo-route', 'grpo', 0.03, 'accuracy'),
  ],
};
