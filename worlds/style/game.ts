/**
 * A preference over responses to string transformations that is not transitive: short beats medium, medium beats long, and long beats short; points
 * of the rubric count as well. No style is best, and the exact win matrix is known. The tasks leave the length open, so that every style can earn all
 * points.
 */
import type { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import { sameExp } from '../../core/same-exp.ts';
import { parseStyleTask, randomStyleTask, styleScore, wordsOf, writeStyleTask } from './family.ts';

/** What a winning style and a point of the rubric are worth, in log-odds. */
const STYLE_ODDS = 2;
const POINT_ODDS = 0.25;

/** 0 short (up to two words), 1 medium (three), 2 long. */
export const styleOf = (response: string): 0 | 1 | 2 => {
  const words = wordsOf(response);
  return words <= 2 ? 0 : words === 3 ? 1 : 2;
};

/** Shares of short, medium and long responses; text that is no response has no style, and without any response there are no shares (null). */
export function mixtureOf(
  responses: readonly (string | null)[],
): [short: number, medium: number, long: number] | null {
  const styles = responses.flatMap((response) => (response === null ? [] : [styleOf(response)]));
  const share = (style: number) => mean(styles.map((own) => Number(own === style)));
  return styles.length ? [share(0), share(1), share(2)] : null;
}

const sigmoid = (x: number) => 1 / (1 + sameExp(-x));
/** 1 where style `a` beats `b` (the next one in the circle), -1 where it is beaten, 0 between equals. */
const beats = (a: number, b: number) => [0, 1, -1][(b - a + 3) % 3]!;

/** The control: win rates that are drawn at random, so that the preference does not depend on the responses. */
export const drawnWin = (a: boolean, b: boolean): number => sigmoid(STYLE_ODDS * (Number(a) - Number(b)));

/** The game's exact win matrix between styles of equal quality. */
export const STYLE_WINS = [0, 1, 2].map((a) => [0, 1, 2].map((b) => sigmoid(STYLE_ODDS * beats(a, b))));

/** Two to four words of at least four. */
export function styleGameTask(random: Random, heldOut = false): string {
  for (;;) {
    const parsed = parseStyleTask(randomStyleTask(random, 4 + random.int(3), heldOut));
    if (parsed.ok && new Set(parsed.value.words).size >= 4)
      return writeStyleTask({ ...parsed.value, least: 2, most: 4 });
  }
}

/** Probability that response `a` to a task is preferred to `b`; a text that is no response (null) has no style and no points. */
export function preference(task: string, a: string | null, b: string | null): number {
  const style = a === null || b === null ? 0 : STYLE_ODDS * beats(styleOf(a), styleOf(b));
  const points = (response: string | null) => (response === null ? 0 : styleScore(task, response));
  return sigmoid(style + POINT_ODDS * (points(a) - points(b)));
}
