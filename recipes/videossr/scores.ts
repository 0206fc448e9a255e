/** What an answer about frames earns: the smooth scores of VideoSSR (arXiv:2511.06281), each from 0 to 1. */
import type { Sought } from '../../core/game/verbs.ts';
import { mean } from '../../core/rl/statistics.ts';
import { kindOf } from '../../worlds/frames/puzzles.ts';

type Numbers = readonly number[];

/** Frames that two stretches have in common, of those of either. [first, last], both within. */
export function overlap([from, to]: Numbers, [right, until]: Numbers): number {
  const common = Math.max(0, Math.min(to!, until!) - Math.max(from!, right!) + 1);
  return common / (to! - from! + 1 + (until! - right! + 1) - common);
}

/** The mean over counts y of max(0, 1 − |ŷ − y|/y), y ≥ 1. */
export const closeness = (said: Numbers, right: Numbers): number =>
  mean(right.map((count, i) => Math.max(0, 1 - Math.abs(said[i]! - count) / count)));

/** 1 less the sum of how far each frame stands from its place, by the most that it can be: ⌊n²/2⌋. */
export function inOrder(said: Numbers, right: Numbers): number {
  const away = right.map((frame, place) => Math.abs(said.indexOf(frame) - place));
  return 1 - away.reduce((sum, each) => sum + each, 0) / Math.floor(right.length ** 2 / 2);
}

/** What the checker says of an answer, for monitors: no reward reads it. */
export const saysExactly = (said: Numbers, right: Numbers): boolean => said.join() === right.join();

const SCORES = { stretch: overlap, counts: closeness, order: inOrder } as const;

/** The score of an answer that can be one. */
export const smoothScore = (sought: Sought, said: Numbers, right: Numbers): number =>
  SCORES[kindOf(sought)](said, right);
