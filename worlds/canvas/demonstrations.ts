/** What a policy is shown of canvases before any reward: what is on them, and questions of every kind with their answers. */
import { imageText } from '../../core/images/patches.ts';
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP } from '../worked.ts';
import { isHeldOutScene, promptOf, randomTask, readTask } from './family.ts';
import { DESCRIBE, describe, KIND_NAMES } from './questions.ts';
import { drawScene, randomScene } from './scene.ts';

/** The share of descriptions, in which every shape is a few tokens to learn from: what sees them learns answers in a tenth of the time. */
const DESCRIBED = 0.5;

export function demonstrateCanvas(random: Random): Demonstration {
  if (random.bool(DESCRIBED)) {
    const scene = drawUntil(
      () => randomScene(random),
      (drawn) => !isHeldOutScene(drawn),
    );
    return {
      role: 'solver',
      prompt: imageText(drawScene(scene)) + DESCRIBE,
      completion: describe(scene) + STOP,
    };
  }
  const task = randomTask(random, random.pick(KIND_NAMES));
  return { role: 'solver', prompt: promptOf(task), completion: readTask(task)!.answer + STOP };
}
