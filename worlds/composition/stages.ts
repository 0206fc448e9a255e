/** In what order a policy is taught the parts of compositions. */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../demonstration.ts';
import type { Stage } from '../stage.ts';
import { demonstrateMix, type Mix } from './demonstrations.ts';
import { seeAll, seeParts, seeRoles } from './gates.ts';

interface MixedStage extends Stage {
  readonly mix: Mix;
}

const stage = ({ mix, ...rest }: Omit<MixedStage, 'demonstrate'>): MixedStage => ({
  ...rest,
  demonstrate: (random, faults) => demonstrateMix(random, mix, faults),
  mix,
});

const JOINING: Mix = { solutions: 16, steps: 12, readOuts: 10, walks: 2, proposals: 8, judgments: 8 };

/**
 * First every part at once: parts that are taught one after the other stay apart (after a stage of single calls alone, read-outs get stuck at three
 * calls). Then the roles within the whole mix: rows of roles from the first step delay the walk, and in a stage of their own they undo it. At last walks
 * of two calls join the parts within a few steps, where the policy is looked at often: two rows a step for ten steps too many, and there is nothing left
 * for rewards to teach. In some seeds the order of the calls or the functions are not known when the step size has fallen: such a stage goes through its
 * step sizes again. And in some, walks of two calls teach to take the outermost call second and to stop, which no such walk tells from taking the next one:
 * there walks of three calls follow.
 */
const STAGES = [
  stage({
    steps: 1000,
    again: 2,
    learningRate: 3e-3,
    decay: [400, 900],
    looks: { every: 40, at: seeParts },
    mix: { solutions: 20, steps: 14, readOuts: 12, walks: 0, proposals: 0, judgments: 0 },
  }),
  stage({
    steps: 240,
    again: 2,
    learningRate: 1e-3,
    decay: [120, 240],
    looks: { every: 20, at: seeRoles },
    mix: { solutions: 18, steps: 12, readOuts: 10, walks: 0, proposals: 10, judgments: 10 },
  }),
  stage({
    steps: 40,
    learningRate: 1e-3,
    decay: [20, 44],
    looks: { every: 5, at: seeAll },
    mix: JOINING,
  }),
  stage({
    ifMissed: true,
    steps: 40,
    again: 3,
    learningRate: 1e-3,
    decay: [20, 44],
    looks: { every: 5, at: seeAll },
    mix: { ...JOINING, walked: 3 },
  }),
];
export const compositionStages: readonly Stage[] = STAGES;

/** A demonstration of any of the stages. */
export const demonstrateComposition = (random: Random): Demonstration =>
  random.pick(demonstrateMix(random, random.pick(STAGES).mix));
