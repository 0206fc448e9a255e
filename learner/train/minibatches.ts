/** Splits an update's units into optimiser steps and micro-batches, on plain arrays. The round's id seeds the shuffle of units over steps. */

import type { Sequence, UpdatePart } from '../../core/plan/training-plan.ts';
import type { Random } from '../../core/random.ts';
import { kindOfPart } from './parts/index.ts';
import type { Unit } from './parts/kind.ts';

export const sequenceTokens = ({ prompt, ids }: Sequence): number => prompt.length + ids.length;

/** Number of prompt and scored tokens of a unit. */
export const unitTokens = ({ sequences }: Pick<Unit, 'sequences'>): number =>
  sequences.reduce((sum, sequence) => sum + sequenceTokens(sequence), 0);

/** Shuffles the units of each part and deals them out evenly to `count` steps. Steps without a unit are left out. */
export function minibatches(parts: readonly (readonly Unit[])[], count: number, random: Random): Unit[][] {
  const steps: Unit[][] = Array.from({ length: count }, () => []);
  for (const units of parts) {
    const shuffled = random.shuffle(units);
    for (const [m, step] of steps.entries()) step.push(...shuffled.filter((_, i) => i % count === m));
  }
  return steps.filter((step) => step.length > 0);
}

/** Groups consecutive items of the same key whose tokens together fit `budget`; an item that exceeds it alone is a group of its own. */
export function groupByTokens<T>(
  items: readonly T[],
  budget: number,
  tokens: (item: T) => number,
  key: (item: T) => string = () => '',
): T[][] {
  const groups: T[][] = [];
  let room = 0;
  let current: string | undefined;
  for (const item of items) {
    if (key(item) !== current || tokens(item) > room) {
      groups.push([]);
      room = budget;
      current = key(item);
    }
    groups.at(-1)!.push(item);
    room -= tokens(item);
  }
  return groups;
}

export const temperatureOf = (part: UpdatePart): number =>
  part.kind === 'policy' ? (part.temperature ?? 1) : 1;

/** Groups units that one forward pass can serve: same readout, same temperature, within the budget of tokens. */
export const microBatches = (units: readonly Unit[], budget: number): Unit[][] =>
  groupByTokens(
    units,
    budget,
    unitTokens,
    ({ part }) => `${kindOfPart(part).readout}/${temperatureOf(part)}`,
  );

/** Runs of consecutive units of the same part. */
export function byPart(units: readonly Unit[]): Unit[][] {
  const runs: Unit[][] = [];
  for (const unit of units) {
    if (runs.at(-1)?.[0]?.part !== unit.part) runs.push([]);
    runs.at(-1)!.push(unit);
  }
  return runs;
}
