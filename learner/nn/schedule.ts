/** Learning rate schedules as a factor on the base rate. They are pure functions of the step, so a resumed run continues the curve. */

export interface Schedule {
  shape: 'constant' | 'linear' | 'cosine';
  /** Steps over which the rate rises linearly from 0. */
  warmupSteps: number;
  /** Steps after which a decaying rate has reached `floor`; ignored by `constant`. */
  totalSteps: number;
  /** Smallest factor, which is reached at the end. */
  floor: number;
}

export const CONSTANT: Schedule = { shape: 'constant', warmupSteps: 0, totalSteps: 0, floor: 0 };

/** Factor of step 0, 1, …; the first step of a warm-up over n steps has factor 1 / n. */
export function rateFactor({ shape, warmupSteps, totalSteps, floor }: Schedule, step: number): number {
  if (step < warmupSteps) return (step + 1) / warmupSteps;
  if (shape === 'constant') return 1;
  const span = Math.max(1, totalSteps - warmupSteps);
  const done = Math.min(1, (step - warmupSteps) / span);
  const left = shape === 'linear' ? 1 - done : 0.5 * (1 + Math.cos(Math.PI * done));
  return floor + (1 - floor) * left;
}
