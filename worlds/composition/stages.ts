/** In what order a policy is taught the parts of compositions. */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../demonstration.ts';
import type { Stage } from '../stage.ts';
import { demonstrateMix, type Mix } from './demonstrations.ts';
import { isReady } from './gates.ts';

const stage = (
  steps: number,
  learningRate: number,
  decay: Stage['decay'],
  mix: Mix,
): Stage & { readonly mix: Mix } => ({
  steps,
  learningRate,
  decay,
  demonstrate: (random) => demonstrateMix(random, mix),
  mix,
});

/**
 * One to two million tokens. Two nested calls go from a guess to a skill within a hundred steps of the third stage. The fourth adds the roles that do not solve, and
 * walks with some calls applied, and single steps at every place; it goes on until read-outs are faultless at every depth and three calls are solved now and then.
 */
const STAGES = [
  stage(600, 3e-3, [540, 900], { one: 48, two: 2, orders: 4 }),
  stage(160, 1.5e-3, [100, 200], { one: 24, two: 4, readOuts: 10 }),
  stage(480, 2e-3, [384, 640], { one: 16, two: 6, readOuts: 10 }),
  {
    ...stage(1600, 1.2e-3, [1600, 1600], {
      one: 6,
      two: 3,
      readOuts: 10,
      some: 4,
      steps: 10,
      proposals: 6,
      judgments: 4,
    }),
    until: { every: 40, holds: isReady },
  },
];
export const compositionStages: readonly Stage[] = STAGES;

/** A demonstration of any of the stages. */
export const demonstrateComposition = (random: Random): Demonstration =>
  random.pick(demonstrateMix(random, random.pick(STAGES).mix));
