/**
 * The store of questions of Multi-Agent Evolve, and its gate: the quality of a new question is measured by ratings alone, and a question of
 * sufficient quality is stored, to be answered in later rounds.
 */
import * as v from 'valibot';
import { mean } from '../../core/rl/statistics.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';

/** What a version carries: the questions stored so far. */
export const questionStore = v.array(v.string());

export interface Appraised {
  readonly task: string;
  /** Mean rating of the question, from 0 to 1. */
  readonly quality: number;
  /** 1 minus the mean rating of its answers, where an answer that does not parse counts 0. */
  readonly difficulty: number;
}

/** What is there of one of their rewards; what is missing does not count. */
const valuesOf = (samples: readonly Sample[], stream: string): number[] =>
  samples.flatMap(({ rewards }) => rewards[stream] ?? []);

/** Measures a question of the round; null where no rating of it, or of its answers, is there. */
export function appraise({ task, proposal, samples, judgments }: ScoredGroup): Appraised | null {
  const ratings = valuesOf(
    judgments.filter(({ of }) => of === proposal),
    'rating',
  );
  const solved = valuesOf(samples, 'passed');
  if (!ratings.length || !solved.length) return null;
  return { task, quality: mean(ratings), difficulty: 1 - mean(solved) };
}

/** The round's new questions, by the id of their proposal. */
export const appraised = (groups: readonly ScoredGroup[]): ReadonlyMap<string, Appraised> =>
  new Map(
    groups.flatMap((group) => {
      const known = group.proposal ? appraise(group) : null;
      return known ? [[group.proposal!, known] as const] : [];
    }),
  );

/** The content of the store for the next version. */
export const admit = (
  store: readonly string[],
  fresh: Iterable<Appraised>,
  gate: number,
): readonly string[] => [
  ...store,
  ...[...fresh].filter(({ quality }) => quality >= gate).map(({ task }) => task),
];
