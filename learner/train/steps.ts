/** Takes the optimiser steps of a plan one after the other. Their figures stay on the device until the end and are then read at once. */
import { RollmeshError } from '../../core/errors.ts';
import type { OptimizerSettings, UpdatePart } from '../../core/plan/training-plan.ts';
import { rateFactor, type Schedule } from '../nn/schedule.ts';
import * as tf from '../tfjs.ts';
import { type HeldSets, skipNormOf } from './held-sets.ts';
import { layersAlone } from './layers-alone.ts';
import type { Unit } from './parts/kind.ts';
import type { PlannedUpdate } from './plan.ts';
import type { RoundScores } from './scores.ts';
import { type StepRecord, stepTokens, updateStep } from './update.ts';

/** The figures of one optimiser step. */
export interface StepFigures {
  readonly set: string;
  readonly units: readonly Unit[];
  readonly rate: number;
  readonly loss: number;
  /** Before clipping; NaN where a server that took the step does not tell it. */
  readonly gradientNorm: number;
  /** True where the gradient had exploded, so that the weights were not changed. */
  readonly skipped: boolean;
  /** Loss of each part in the step, and the number of tokens or units that its kind's monitor counted. */
  readonly parts: readonly { readonly part: UpdatePart; readonly loss: number; readonly counted: number }[];
}

export const scheduleOf = ({ schedule, warmup, totalSteps = 0, floor = 0 }: OptimizerSettings): Schedule => ({
  shape: schedule ?? 'constant',
  warmupSteps: warmup,
  totalSteps,
  floor,
});

/**
 * Trains the sets in place, update by update and epoch by epoch. Throws `give-up` where a loss or gradient is not finite or the gradient
 * exploded in every step; the weights must then not be used.
 */
export async function takeSteps(
  planned: readonly PlannedUpdate[],
  sets: Pick<HeldSets, 'learner'>,
  scores: RoundScores,
  tokenBudget: number,
): Promise<StepFigures[]> {
  const taken: (Pick<StepFigures, 'set' | 'units' | 'rate'> & { record: StepRecord; skipNorm: number })[] =
    [];
  try {
    for (const { set, epochs, optimistic, only } of planned) {
      const whole = await sets.learner(set);
      const { settings, ...learner } = only ? layersAlone(whole, only) : whole;
      const most = stepTokens(learner, tokenBudget);
      try {
        for (const units of epochs.flat()) {
          const rate = settings.learningRate * rateFactor(scheduleOf(settings), learner.optimizer.steps);
          const record = updateStep(learner, units, scores, { rate, optimistic, tokenBudget: most });
          taken.push({ set, units, rate, record, skipNorm: skipNormOf(settings) });
        }
      } finally {
        if (only) learner.optimizer.dispose();
      }
    }
    const numbers = await Promise.all(taken.map(({ record }) => record.numbers.data()));
    return finiteSteps(
      taken.map(({ record, skipNorm, ...step }, i) => {
        const [loss, gradientNorm, ...parts] = Array.from(numbers[i]!) as [number, number, ...number[]];
        return {
          ...step,
          loss,
          gradientNorm,
          skipped: gradientNorm > Math.fround(skipNorm),
          parts: record.parts.map((part, p) => ({
            part,
            loss: parts[2 * p]!,
            counted: parts[2 * p + 1]!,
          })),
        };
      }),
    );
  } finally {
    tf.dispose(taken.map(({ record }) => record.numbers));
  }
}

export function finiteSteps(steps: StepFigures[]): StepFigures[] {
  const bad = steps.find(
    ({ loss, gradientNorm }) => !Number.isFinite(loss) || !Number.isFinite(gradientNorm),
  );
  if (bad)
    throw new RollmeshError(
      'give-up',
      'learner.non-finite',
      `The loss is ${bad.loss} and the gradient norm ${bad.gradientNorm}.`,
      {
        expected: 'finite numbers',
        next: 'Nothing of this round is published. Lower the learning rate, or look for damaged samples.',
      },
    );
  if (steps.length && steps.every(({ skipped }) => skipped))
    throw new RollmeshError(
      'give-up',
      'learner.exploded',
      `The gradient exploded in every step of the round: its norm was up to ${Math.max(...steps.map(({ gradientNorm }) => gradientNorm))}.`,
      {
        expected: 'gradient norms up to the set’s skipNorm in at least one step',
        next: 'Nothing of this round is published. Look at the scale of rewards and targets, or raise skipNorm.',
      },
    );
  return steps;
}
