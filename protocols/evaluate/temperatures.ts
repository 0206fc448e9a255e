/** Several answers to each held-out question at several temperatures, where a run asks for them. */
import * as v from 'valibot';
import type { Policy } from '../../core/policy/policy.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import { type AtTemperature, temperatureFigures } from '../../core/statistics/temperatures.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { sampledFigures } from './figures.ts';
import { type QuestionSettings, samplesAt } from './questions.ts';

const MOST_TEMPERATURES = 8;
const MOST_SAMPLES = 64;

export const heldOutSamples = v.strictObject({
  /** Samples of each question at each temperature, the k of pass@k and majority@k. */
  samples: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(MOST_SAMPLES)), 8),
  temperatures: v.optional(
    v.pipe(
      v.array(v.pipe(v.number(), v.gtValue(0), v.maxValue(100))),
      v.minLength(1),
      v.maxLength(MOST_TEMPERATURES),
      v.check((all) => new Set(all).size === all.length, 'Expected each temperature once'),
    ),
    [0.3, 0.6, 1],
  ),
});
export type HeldOutSamples = v.InferOutput<typeof heldOutSamples>;

/** `greedy`: the share of right greedy answers. */
export async function temperaturesOf(
  { samples, temperatures }: HeldOutSamples,
  greedy: number,
  policy: Pick<Policy, 'generate'>,
  renderer: Renderer,
  tasks: readonly PlacedTask[],
  settings: Omit<QuestionSettings, 'samples' | 'temperature'>,
): Promise<Record<string, number>> {
  const at: AtTemperature[] = [{ temperature: 0, accuracy: greedy, pass: null, majority: null }];
  for (const temperature of temperatures) {
    const of = sampledFigures(
      await samplesAt(policy, renderer, tasks, { ...settings, samples, temperature }),
    )!;
    at.push({
      temperature,
      accuracy: of.accuracy.share,
      pass: of.passAt[samples]!.share,
      majority: of.majorityAt[samples]!.share,
    });
  }
  return temperatureFigures(at);
}
