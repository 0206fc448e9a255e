/** From role batches to optimiser steps and micro-batches, on plain arrays. Which samples share a step is drawn by the round's id. */
import type { Random } from '../../core/random.ts';
import type { TrainingSample } from '../../core/recipe.ts';
import type { RoleBatches } from '../../core/roles/assemble.ts';
import type { RoleName } from '../../core/roles/stage.ts';
import { microBatches as groupByTokens, type SequenceInput } from '../nn/pack.ts';

/** A sample ready for the trainer. */
export interface TrainingItem extends TrainingSample {
  readonly role: RoleName;
  /** Weight of each of its completion tokens in the step's loss: the role's weight over the role's tokens in the step (token-mean). */
  readonly tokenWeight: number;
}

export const completionTokens = (items: readonly TrainingSample[]): number =>
  items.reduce((sum, { sample }) => sum + sample.ids.length, 0);

export const sequenceTokens = ({ sample }: TrainingSample): number =>
  sample.prompt.length + sample.ids.length;

/** `count` steps; each role's samples are shuffled and dealt out evenly. Steps without a sample are left out. */
export function minibatches(
  batches: RoleBatches,
  roleWeight: (role: RoleName) => number,
  count: number,
  random: Random,
): TrainingItem[][] {
  const steps: TrainingItem[][] = Array.from({ length: count }, () => []);
  for (const role of ['proposer', 'solver', 'judge'] as const) {
    const shuffled = random.shuffle(batches[role] ?? []);
    for (const [m, step] of steps.entries()) {
      const part = shuffled.filter((_, i) => i % count === m);
      const tokenWeight = roleWeight(role) / Math.max(1, completionTokens(part));
      step.push(...part.map((item) => ({ ...item, role, tokenWeight })));
    }
  }
  return steps.filter((step) => step.length > 0);
}

/** Prompt and completion of an item; the completion is what is scored. */
export const sequenceOf = ({ sample }: TrainingSample): SequenceInput => ({
  ids: [...sample.prompt, ...sample.ids],
  from: sample.prompt.length,
});

/** Consecutive items whose sequences fit `budget` tokens together; a longer sequence has a micro-batch of its own. */
export const microBatches = <T extends TrainingSample>(items: readonly T[], budget: number): T[][] =>
  groupByTokens(items.map(sequenceOf), budget).map((group) => group.map((i) => items[i]!));
