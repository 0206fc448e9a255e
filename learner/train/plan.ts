/** Turns a training plan into optimiser steps: the units of every update are dealt to steps, epoch by epoch. */
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { LayersOnly, SetSettings, TrainingPlan, Update } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { minibatches } from './minibatches.ts';
import { unitsOf } from './parts/index.ts';
import type { Unit } from './parts/kind.ts';

export interface PlannedUpdate {
  readonly set: string;
  /** [epochs][steps][units]; every unit is in one step of each epoch. */
  readonly epochs: readonly (readonly (readonly Unit[])[])[];
  readonly optimistic: boolean;
  readonly only?: LayersOnly | undefined;
}

/**
 * Leaves out updates without a unit. Throws `give-up` where a training plan has updates and none of them has a unit, and `wrong-input`
 * where an update is for a set that cannot be trained or has items that do not fit.
 */
export function planSteps(
  plan: Pick<TrainingPlan, 'updates'>,
  sets: Readonly<Record<string, SetSettings>>,
  round: string,
): PlannedUpdate[] {
  const planned = plan.updates
    .map((update, u) => {
      const nth = plan.updates.slice(0, u).filter(({ set }) => set === update.set).length;
      return planUpdate(update, sets, (epoch) => streamOf(round, update.set, nth, epoch));
    })
    .filter(({ epochs }) => epochs.some((steps) => steps.length > 0));
  if (plan.updates.length && !planned.length)
    throw new RollmeshError('give-up', 'learner.empty-round', `Round ${round} has nothing to train on.`, {
      expected: 'at least one sample with a reward',
      next: 'Look at the round’s monitors: rewards may all be missing.',
    });
  return planned;
}

/** Each epoch of a set's nth update has its own seed for shuffling, so that the training of other sets does not change it. */
const streamOf = (round: string, set: string, nth: number, epoch: number): Random =>
  new Random(
    set === MAIN_SET && nth === 0 && epoch === 0 ? `${round}/train` : `${round}/train/${set}/${nth}/${epoch}`,
  );

function planUpdate(
  { set, parts, minibatches: count, epochs = 1, optimistic = false, only }: Update,
  sets: Readonly<Record<string, SetSettings>>,
  randomOf: (epoch: number) => Random,
): PlannedUpdate {
  const optimizer = sets[set]?.optimizer;
  if (!optimizer)
    throw wrongInput(
      'training-plan.set',
      `There is an update for the parameter set ${set}, which is not trained.`,
      {
        expected: 'a set of the recipe that has an optimiser',
      },
    );
  const units = parts.map(unitsOf);
  const steps = (epoch: number) => minibatches(units, count ?? optimizer.minibatches, randomOf(epoch));
  return { set, epochs: Array.from({ length: epochs }, (_, epoch) => steps(epoch)), optimistic, only };
}
