/** Arms and conditions that many claims have in common. */
import type { Arm, ArmResults, Condition, Measure } from './claim.ts';
import { atEnd, highest, rise } from './curves.ts';

/** Differences of accuracy below this are of no interest; how often eight seeds find twice as much depends on the spread (decisions/0012-one-rule.md). */
export const POINTS = 0.05;
/** A control may drift by so much of a held-out figure and no more. */
const DRIFT = 0.03;

/** What a figure of the held-out evaluation is called. */
const CALLED: Readonly<Record<string, string>> = {
  accuracy: 'greedy accuracy',
  sampled: 'sampled accuracy',
  forcedWorked: 'accuracy with steps forced',
};
const called = (figure: string) => CALLED[figure] ?? figure;

/** Controls by coin and by format alone are played with four seeds, unless a condition compares the method with them. */
const CONTROL_SEEDS = 4;

/** The control in which a coin decides instead of the reward. */
export const coinArm = (decides: string, more: Partial<Arm> = {}): Arm => ({
  name: 'random',
  reward: 'random',
  seedCount: CONTROL_SEEDS,
  description: `control: ${decides}`,
  ...more,
});

/** The control in which the format alone is paid. */
export const formatArm = (paid: string, more: Partial<Arm> = {}): Arm => ({
  name: 'format',
  reward: 'format',
  seedCount: CONTROL_SEEDS,
  description: `control: ${paid}`,
  ...more,
});

/** A held-out figure of one arm minus that of another, at the end of both runs. */
export const difference =
  (arm: string, other: string, figure = 'sampled'): Measure =>
  (results, seed) =>
    atEnd(results, arm, seed, figure) - atEnd(results, other, seed, figure);

export const rises = (arm: string, by: number, figure = 'sampled'): Condition => ({
  description: `${arm}: ${called(figure)} rises`,
  measure: (results, seed) => rise(results, arm, seed, figure),
  atLeast: by,
});

export const endsAbove = (
  arm: string,
  other: string,
  by: number = POINTS,
  figure = 'sampled',
): Condition => ({
  description: `${called(figure)} at the end, ${arm} above ${other}`,
  measure: difference(arm, other, figure),
  atLeast: by,
});

/** It may end lower, by `margin` at most. */
export const endsNoLower = (arm: string, other: string, margin: number, figure = 'sampled'): Condition => ({
  description: `${called(figure)} at the end, ${arm} no lower than ${other} by more than ${margin}`,
  measure: difference(arm, other, figure),
  atLeast: -margin,
});

const control =
  (how: (results: ArmResults, arm: string, seed: number, figure: string) => number, words: string) =>
  (arm: string, most: number = DRIFT, figure = 'sampled'): Condition => ({
    description: `${arm}: ${called(figure)} ${words}`,
    measure: (results, seed) => how(results, arm, seed, figure),
    atMost: most,
    control: true,
  });

/** The control ends no higher than it began. */
export const doesNotRise = control(rise, 'has not risen at the end');
/** No evaluation of the control is higher than the first. */
export const neverRises = control(highest, 'never rises');

/** What the policy answers greedily, above what it answers where other pictures are shown in place of those that are asked about. */
export const seesMore = (arm: string, by: number): Condition => ({
  description: `${arm}: greedy accuracy at the end above that with other pictures`,
  measure: (results, seed) => atEnd(results, arm, seed) - atEnd(results, arm, seed, 'otherPictures'),
  atLeast: by,
});
