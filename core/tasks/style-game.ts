/**
 * A preference over responses to string transformations that is not transitive: short beats medium, medium beats long, long beats
 * short; and points of the rubric count, but for the one for length. No style is best, and the exact win matrix is known.
 */
import { pointsOf, readStyleTask, scoreOf, wordsOf } from './style.ts';

/** What a winning style and a point of the rubric are worth, in log-odds. */
const STYLE_ODDS = 2;
const POINT_ODDS = 0.5;

/** short (up to two words), medium (three), long. */
export const styleOf = (response: string): 0 | 1 | 2 => {
  const words = wordsOf(response);
  return words <= 2 ? 0 : words === 3 ? 1 : 2;
};

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
/** 1 where style `a` beats `b` (the next one in the circle), -1 where it is beaten, 0 between equals. */
const beats = (a: number, b: number) => [0, 1, -1][(b - a + 3) % 3]!;

/** A win rate between two coins: the control, a preference that knows nothing. */
export const drawnWin = (a: boolean, b: boolean): number => sigmoid(STYLE_ODDS * (Number(a) - Number(b)));

/** The game's exact win matrix between styles of equal quality. */
export const STYLE_WINS = [0, 1, 2].map((a) => [0, 1, 2].map((b) => sigmoid(STYLE_ODDS * beats(a, b))));

/** Points of the rubric that do not depend on length, 0 … 4. */
function qualityOf(task: string, response: string): number {
  const reading = readStyleTask(task);
  return reading.ok ? scoreOf({ ...pointsOf(reading.value, response), length: false }) : 0;
}

/** Probability that response `a` to a task is preferred to `b`; a text that is no response (null) has no style and no points. */
export function preference(task: string, a: string | null, b: string | null): number {
  const style = a === null || b === null ? 0 : STYLE_ODDS * beats(styleOf(a), styleOf(b));
  const quality = (response: string | null) => (response === null ? 0 : qualityOf(task, response));
  return sigmoid(style + POINT_ODDS * (quality(a) - quality(b)));
}
