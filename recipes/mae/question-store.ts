/**
 * The store of questions and its gate, as Multi-Agent Evolve keeps one: a new question is appraised by ratings alone, and those of
 * enough quality are stored to be answered in later rounds.
 */
import * as v from 'valibot';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';

/** What a version carries: the questions that are stored so far. */
export const questionStore = v.array(v.string());

export interface Appraised {
  readonly task: string;
  /** Mean rating of the question. */
  readonly quality: number;
  /** 1 less the mean rating of its answers, where those out of form count 0. */
  readonly difficulty: number;
}

/** `neutral` is what a rating that is missing counts as. */
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

/** The store's next content. */
export const admit = (
  store: readonly string[],
  fresh: Iterable<Appraised>,
  gate: number,
): readonly string[] => [
  ...store,
  ...[...fresh].filter(({ quality }) => quality >= gate).map(({ task }) => task),
];
