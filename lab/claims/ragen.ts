/**
 * The claim of RAGEN: without its filter an agent falls into the echo trap, whose signs appear before its gradients grow, and the filter delays that.
 */

import { mean } from 'rollmesh';
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, rises } from '../rule/conditions.ts';
import { curveOf, lost, monitorOf } from '../rule/curves.ts';

const END = 'sampled';
const ROUNDS = 40;
/** Rounds between two evaluations. */
const EVERY = 10;
/**
 * A fall of held-out success this far below its best value so far is a collapse. It is 15 of 150 worlds, less than two standard errors (.057) of the
 * difference of two evaluations.
 */
const FALL = 0.1;

/** Mean of a monitor over five rounds, beginning at each round. */
const smooth = (values: readonly number[]): number[] =>
  values.slice(4).map((_, i) => mean(values.slice(i, i + 5)));

/** The first index at which a curve reaches this multiple of its first value, from below or from above; NaN where it never does. */
export function reaches(values: readonly number[], multiple: number): number {
  const level = (values[0] ?? 0) * multiple;
  const at = values.findIndex((value) => (multiple < 1 ? value <= level : value >= level));
  return at < 0 ? Number.NaN : at;
}

/** The first index at which a curve is `fall` below its best value so far; its length where it never is. */
export function collapses(values: readonly number[], fall: number): number {
  // These are rates over 150 worlds, where a rounding error must not decide.
  const at = values.findIndex((value, i) => value <= Math.max(...values.slice(0, i + 1)) - fall + 1e-9);
  return at < 0 ? values.length : at;
}

/** The round of the evaluation that shows a collapse; one evaluation after the end of the run where none does. */
const collapse =
  (arm: string): Measure =>
  (results, seed) =>
    EVERY * collapses(curveOf(results, arm, seed, END), FALL);
const delay =
  (arm: string, other: string): Measure =>
  (results, seed) =>
    collapse(arm)(results, seed) - collapse(other)(results, seed);

/**
 * Rounds by which the deviation of returns or the entropy halves before the gradient norm doubles; NaN where the norm never does, since there is then
 * nothing to precede.
 */
const lead =
  (arm: string): Measure =>
  (results, seed) => {
    const curve = (figure: string) => smooth(monitorOf(results, arm, seed, figure));
    const signs = ['returnSpread', 'entropy']
      .map((sign) => reaches(curve(sign), 0.5))
      .filter(Number.isFinite);
    // A sign that has not appeared by the end of the run appears after it at the earliest.
    return reaches(curve('gradientNorm'), 2) - Math.min(...signs, curve('entropy').length);
  };

/** Half of the time between two evaluations; smaller delays cannot be measured. */
const DELAY = EVERY / 2;

export const claim: Claim = {
  description:
    'An agent that is trained on all worlds gets better, then loses variety and falls. Trained on the quarter of the worlds whose returns differ most, it keeps what it gained. Returns and answers become alike before gradients grow.',
  rounds: ROUNDS,
  evaluateEvery: EVERY,
  pictures: { sampled: 'Held-out success, sampled at temperature 1' },
  arms: [
    {
      name: 'starpo-s',
      description:
        'as published: the quarter of the worlds with the largest deviation, no KL, clip .2/.28, entropy bonus',
    },
    { name: 'filter 50', variant: 'filter-50', description: 'the same on half of the worlds' },
    { name: 'filter 100', variant: 'filter-100', description: 'the same on all worlds: no filter' },
    {
      name: 'random 25',
      variant: 'random-25',
      description: 'the same on a quarter of the worlds at random: as many steps as starpo-s',
    },
    { name: 'starpo', variant: 'starpo', description: 'all worlds, KL .001, clip .2/.2, no entropy bonus' },
    coinArm('a fair coin pays each episode'),
    formatArm('an episode is paid for keeping to the grammar'),
  ],
  conditions: [
    rises('starpo-s', 0.1),
    {
      description:
        'filter 100: the round of the evaluation that shows success 0.1 below its best, within the run',
      measure: collapse('filter 100'),
      atMost: ROUNDS,
    },
    {
      description: 'rounds by which the filter delays the collapse, starpo-s against filter 100',
      measure: delay('starpo-s', 'filter 100'),
      atLeast: DELAY,
    },
    {
      description: 'rounds by which it delays it against as many steps on worlds at random',
      measure: delay('starpo-s', 'random 25'),
      atLeast: DELAY,
    },
    {
      description:
        'filter 100: rounds by which the deviation of returns or the entropy halves before the gradient norm doubles; NaN where it never doubles',
      measure: lead('filter 100'),
      atLeast: 1,
    },
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    {
      description: 'rounds by which half of the worlds delay the collapse',
      measure: delay('filter 50', 'filter 100'),
      atLeast: DELAY,
    },
    endsAbove('starpo-s', 'random 25'),
    endsAbove('starpo-s', 'filter 100'),
    {
      description: 'rounds by which starpo-s collapses later than starpo',
      measure: delay('starpo-s', 'starpo'),
      atLeast: DELAY,
    },
    { description: 'starpo: the same order of signs, in rounds', measure: lead('starpo'), atLeast: 1 },
    {
      description: 'starpo-s: success at the end below its best',
      measure: (results, seed) => lost(results, 'starpo-s', seed, END),
      atMost: 0.05,
    },
  ],
  gap: {
    label: 'price of actions',
    meaning:
      'The reward is 1 for the goal less 0.1 for each action and each refused one, so that the gap rises where episodes get shorter. The world itself pays, and there is nothing to hack.',
  },
  diagnosis:
    'With the filter success rises by 14 points (11 to 16), is within 1.4 points of its best at the end, and ends 11 points above training on all worlds (3 to 19) and 12 above as many steps on worlds chosen at random (1.5 to 22). Both intervals lie above zero and not above the bound of 5 points, so that the advantage of the filter is likely and its size is not shown. On average the filter delays the collapse by 10 rounds (−1 to 21). The published order, in which returns and answers become alike before gradients grow, is not seen without the filter: on seven seeds of eight gradients never double, and on the other they double first. With the filter greedy success stays near its start (69 to 68 %), and it falls by 13 points on all worlds and on worlds at random, so that the filter keeps a skill and adds none.',
};
