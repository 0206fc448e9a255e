/** Responses to string transformations with chosen points missed, for a judge's demonstrations: every score occurs, and every point is missed in some. */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { compare, exemplar, POINTS, type Point, type Points, pointsOf, type StyleTask } from './family.ts';

/** Changes a response so that a point is likely to be missed; others may be hit, which the caller checks. */
function spoil(random: Random, task: StyleTask, words: readonly string[], point: Point): string[] {
  const at = random.int(words.length);
  switch (point) {
    case 'form':
      return [...words, ''];
    case 'order':
      return random.shuffle(words);
    case 'source':
      return words.map((word, i) => (i === at ? [...word].reverse().join('') : word));
    case 'distinct':
      return words.flatMap((word, i) => (i === at ? [word, word] : [word]));
    case 'length':
      // Too few, or all there are, which may be too many.
      return random.bool()
        ? words.slice(0, Math.max(1, task.least - 1))
        : [...new Set(task.words)].sort(compare[task.order]);
  }
}

/**
 * A response that misses exactly the named points, or null where a few dozen attempts find none (a source of three words has no response that is too
 * long and still distinct and from the source). A response that misses `form` misses all points.
 */
export function flawedResponse(random: Random, task: StyleTask, missed: readonly Point[]): string | null {
  const wanted: Points = {
    form: !missed.includes('form'),
    order: !missed.some((point) => point === 'order' || point === 'form'),
    source: !missed.some((point) => point === 'source' || point === 'form'),
    distinct: !missed.some((point) => point === 'distinct' || point === 'form'),
    length: !missed.some((point) => point === 'length' || point === 'form'),
  };
  for (let i = 0; i < 40; i++) {
    let words = exemplar(random, task).split(' ');
    for (const point of random.shuffle(missed)) words = spoil(random, task, words, point);
    const response = words.join(' ');
    const points = pointsOf(task, response);
    if (POINTS.every((point) => points[point] === wanted[point])) return response;
  }
  return null;
}

/** A response of some quality: perfect, or with one to three points missed. */
export function mixedResponse(random: Random, task: StyleTask): string {
  if (random.bool(0.3)) return exemplar(random, task);
  return drawUntil(
    () => flawedResponse(random, task, random.shuffle(POINTS).slice(0, 1 + random.int(3))) ?? '',
    (response) => response !== '',
  );
}
