/**
 * The store of questions of Multi-Agent Evolve, and its gate: the quality of a new question is measured by ratings alone, and a question of
 * sufficient quality is stored, to be answered in later rounds.
 */
import * as v from 'valibot';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';

/** What a version carries: the questions stored so far. */
export const questionStore = v.array(v.string());

export interface Appraised {
  readonly task: string;
  /** Mean rating of the question, from 0 to 1. */
  readonly quality: number;
  /** 1 minus the mean rating of its answers, where an answer that does not parse counts 0. */
  readonly difficulty: number;
}

/** Measures a round's questions. `neutral` is the value of a missing rating. */
export function appraise({ task, proposal, samples, judgments }: ScoredGroup, neutral: number): Appraised {
  const ratings = judgments
    .filter(({ of }) => of === proposal)
    .map(({ rewards }) => rewards.rating ?? neutral);
  return {
    task,
    quality: mean(ratings),
    difficulty: 1 - mean(samples.map(({ rewards }) => rewards.passed ?? 0)),
  };
}

/** The round's new questions, by the id of their proposal. */
export const appraised = (groups: readonly ScoredGroup[], neutral: number): ReadonlyMap<string, Appraised> =>
  new Map(
    groups.flatMap((group) => (group.proposal ? [[group.proposal, appraise(group, neutral)] as const] : [])),
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
