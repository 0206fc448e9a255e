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
 * About a million tokens of every part at once. Parts that are taught one after the other stay apart: after a stage of single calls alone, read-outs get stuck at three calls.
 * It ends as soon as every part is without fault, for what was taught apart joins by itself from then on, and leaves less and less for rewards to teach.
 */
const STAGES = [
  {
    ...stage(900, 3e-3, [350, 800], { solutions: 20, steps: 14, readOuts: 10, proposals: 4, judgments: 3 }),
    until: { every: 20, holds: isReady },
  },
];
export const compositionStages: readonly Stage[] = STAGES;

/** A demonstration of any of the stages. */
export const demonstrateComposition = (random: Random): Demonstration =>
  random.pick(demonstrateMix(random, random.pick(STAGES).mix));
