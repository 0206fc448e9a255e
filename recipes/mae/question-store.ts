/**
 * The store of questions and its gate, as Multi-Agent Evolve keeps one: a new question is appraised by ratings alone, and those of
 * enough quality are stored to be answered in later rounds.
 */
import * as v from 'valibot';
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe-state.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { freshTask } from '../../tasks/arithmetic/demonstrations.ts';
import { soundness } from '../../tasks/arithmetic/questions.ts';

/** As many seeds as the published variant that starts from its own questions: what the gate lets in soon makes up most of the store. */
const SEED_QUESTIONS = 16;

export const questionStore = v.array(v.string());

/** The questions stored so far: unlabelled seeds, then what passed the gate. */
export const storeOf = (recipeState: unknown, seed: number): readonly string[] => {
  const stored = readState(questionStore, recipeState);
  if (stored) return stored;
  const random = new Random(`mae/seeds/${seed}`);
  return Array.from({ length: SEED_QUESTIONS }, () => freshTask(random));
};

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

/** What a store holds and what was proposed for it, by the oracle: for reports alone. `unsolvable` is all that is not sound, the few ambiguous ones too. */
export function storeFigures(store: readonly string[], fresh: readonly Appraised[]) {
  return {
    stored: store.length,
    unsolvable: unsolvableShare(store),
    unsolvableProposed: unsolvableShare(fresh.map(({ task }) => task)),
    quality: mean(fresh.map(({ quality }) => quality)),
  };
}

const unsolvableShare = (questions: readonly string[]): number =>
  mean(questions.map((question) => Number(soundness(question) !== 'sound')));
