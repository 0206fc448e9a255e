/**
 * What held-out answers are worth at several temperatures, greedy ones at 0, as figures of an evaluation. Of version 0 it is what a choice of the
 * temperature gives without training. The best of several is the better by chance alone, and so is to be compared with the best of another version.
 */

/** Means over the held-out questions, shares from 0 to 1. */
export interface AtTemperature {
  readonly temperature: number;
  /** Right answers. */
  readonly accuracy: number;
  /** pass@k and majority@k, with k the number of samples of each question; null of the one greedy answer. */
  readonly pass: number | null;
  readonly majority: number | null;
}

export const TEMPERATURE_FIGURES = {
  sampledAt:
    'Share of right held-out answers that were sampled at the temperature behind the dot. `sampledAt.0` is greedy.',
  passAt:
    'pass@k at the temperature behind the dot: share of the held-out questions of whose k samples one at least is right. k is `heldOutSamples.samples`.',
  majorityAt:
    'majority@k at the temperature behind the dot: share of the held-out questions of which the answer that most of k samples give is right.',
  bestTemperature:
    'The temperature at which most held-out answers are right, 0 for greedy. On as many questions the best of several is the better by chance alone.',
} as const;

/** The temperature of most right answers, the lowest of several. Throws `internal` of none. */
export function bestOf(at: readonly AtTemperature[]): AtTemperature {
  const [first, ...others] = at.toSorted((a, b) => a.temperature - b.temperature);
  if (!first) throw new Error('internal: the best of no temperatures');
  return others.reduce((best, one) => (one.accuracy > best.accuracy ? one : best), first);
}

export const temperatureFigures = (at: readonly AtTemperature[]): Record<string, number> => ({
  ...Object.fromEntries(
    at.flatMap(({ temperature, accuracy, pass, majority }) => [
      [`sampledAt.${temperature}`, accuracy],
      ...(pass === null ? [] : [[`passAt.${temperature}`, pass]]),
      ...(majority === null ? [] : [[`majorityAt.${temperature}`, majority]]),
    ]),
  ),
  bestTemperature: bestOf(at).temperature,
});

const SAMPLED = 'sampledAt.';

/** What the figures of an evaluation say of temperatures, ascending; none where the run did not ask. */
export function temperaturesIn(figures: Readonly<Record<string, number | null>> = {}): AtTemperature[] {
  return Object.entries(figures)
    .flatMap(([name, accuracy]) => {
      if (!name.startsWith(SAMPLED) || accuracy === null) return [];
      const at = name.slice(SAMPLED.length);
      const [pass, majority] = [figures[`passAt.${at}`] ?? null, figures[`majorityAt.${at}`] ?? null];
      return [{ temperature: Number(at), accuracy, pass, majority }];
    })
    .sort((a, b) => a.temperature - b.temperature);
}
