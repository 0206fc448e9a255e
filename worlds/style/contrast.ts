/**
 * Demonstrations for a responder that can be asked for a better or for a worse response: after <right> it is shown perfect ones, after
 * <wrong> ones that miss points of the rubric, and without either its careless habits.
 *
 *     <solve>task<sep>           as every responder is asked
 *     <solve>task<right><sep>    better
 *     <solve>task<wrong><sep>    worse
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP } from '../worked.ts';
import { habitualResponse } from './demonstrations.ts';
import { exemplar, type Point, parseStyleTask, randomStyleTask, stylePrompt } from './family.ts';
import { flawedResponse } from './flaws.ts';

export type Wish = 'better' | 'worse';

export const wishPrompt = (task: string, wish: Wish): string =>
  stylePrompt(`${task}${wish === 'better' ? '<right>' : '<wrong>'}`);

/** Points that a worse response misses; it keeps its form. */
const MISSED: readonly Point[] = ['order', 'source', 'distinct', 'length'];

export function demonstrateContrast(random: Random): Demonstration {
  const task = randomStyleTask(random);
  const parsed = parseStyleTask(task);
  if (!parsed.ok) throw new Error(`internal: ${task} is no task: ${parsed.reason}`);
  const answered = (prompt: string, response: string): Demonstration => ({
    role: 'responder',
    prompt,
    completion: `<answer>${response}${STOP}`,
  });
  const kind = random.pick(['plain', 'better', 'worse'] as const);
  if (kind === 'plain') return answered(stylePrompt(task), habitualResponse(random, parsed.value));
  if (kind === 'better') return answered(wishPrompt(task, kind), exemplar(random, parsed.value));
  const flawed = drawUntil(
    () => flawedResponse(random, parsed.value, random.shuffle(MISSED).slice(0, 1 + random.int(2))) ?? '',
    (response) => response !== '',
  );
  return answered(wishPrompt(task, kind), flawed);
}
