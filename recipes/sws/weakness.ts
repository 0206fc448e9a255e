/** Where a first phase of training left a solver weak: the tasks that it went on failing, and how many of them each depth has. */
import * as v from 'valibot';
import { readState } from '../../core/recipe/recipe-state.ts';
import { mean } from '../../core/rl/statistics.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';

/** For each task of the first phase the share of its attempts that were paid, at each visit, oldest first. */
export const visits = v.record(v.string(), v.array(finite));
export type Visits = Readonly<Record<string, readonly number[]>>;

export const visitsIn = (recipeState: unknown): Visits => readState(visits, recipeState) ?? {};

/** The mean reward of a group’s attempts, without those whose reward is missing; null where none has one. */
export function shareOf({ samples }: Pick<ScoredGroup, 'samples'>): number | null {
  const known = samples.flatMap(({ rewards: { reward } }) => reward ?? []);
  return known.length ? mean(known) : null;
}

/** The visits after a round whose groups are all of the first phase. */
export function visited(before: Visits, groups: readonly ScoredGroup[]): Visits {
  const after = new Map(Object.entries(before));
  for (const group of groups) {
    const share = shareOf(group);
    if (share !== null) after.set(group.task, [...(after.get(group.task) ?? []), share]);
  }
  return Object.fromEntries(after);
}

/** The slope of a least-squares line through values at equal distances; 0 of fewer than two. */
export function slope(values: readonly number[]): number {
  const centre = (values.length - 1) / 2;
  const spread = values.reduce((sum, _, i) => sum + (i - centre) ** 2, 0);
  return spread === 0 ? 0 : values.reduce((sum, value, i) => sum + (i - centre) * value, 0) / spread;
}

/** Whether a task was never solved by half of the attempts, and by no more as the phase went on. */
export const isFailed = (shares: readonly number[]): boolean =>
  shares.length > 0 && Math.max(...shares) < 0.5 && slope(shares) <= 0;

/** How many tasks were failed at each depth, which is the number of sums [depths]; the first is depth 1. */
export function failures(all: Visits, depths: number): number[] {
  const counts = new Array<number>(depths).fill(0);
  for (const [task, shares] of Object.entries(all))
    if (isFailed(shares)) counts[arithmetic.difficulty(task) - 1]!++;
  return counts;
}
