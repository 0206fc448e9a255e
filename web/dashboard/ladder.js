/** What a solver can do and what a proposer asks, by the difficulty of tasks: the figures `solved.1`, `solved.2`, … of an evaluation and `written.1`, … of a round. */
import { fill, h, svg, table, term } from './dom.js';
import { MISSING, meaningOf, percent } from './figures.js';

/** @typedef {import('./curves.js').Point} Point */
/** @typedef {Readonly<Record<string, number | null>>} Figures */

/** @param {string} name */
export const isRung = (name) => /^(?:solved|written)\.\d+$/.test(name);

/**
 * A difficulty with the share of its held-out tasks that are solved, at the start and now, and its share of the tasks that were written last.
 * @typedef {{ level: number, before: number | null, solved: number | null, written: number | null }} Rung
 */

/** The newest figures that have rungs of this name. @param {readonly (Figures | undefined)[]} all @param {string} name */
const newest = (all, name) =>
  all.findLast((figures) => figures && Object.keys(figures).some((key) => key.startsWith(`${name}.`))) ?? {};

/**
 * The rungs that are known of a run, the easiest first; none where its recipe does not tell tasks apart by difficulty.
 * @param {readonly Point[]} points ascending
 * @returns {Rung[]}
 */
export function rungsOf(points) {
  const evaluations = points.map(({ report }) => report.evaluation?.figures);
  const [solved, written] = [
    newest(evaluations, 'solved'),
    newest(
      points.map(({ report }) => report.figures),
      'written',
    ),
  ];
  const first = evaluations.find((figures) => figures !== undefined) ?? {};
  const levels = [...Object.keys(solved), ...Object.keys(written)]
    .filter(isRung)
    .map((name) => Number(name.split('.')[1]));
  return [...new Set(levels)]
    .sort((a, b) => a - b)
    .map((level) => ({
      level,
      before: first[`solved.${level}`] ?? null,
      solved: solved[`solved.${level}`] ?? null,
      written: written[`written.${level}`] ?? null,
    }));
}

/** @param {number} share */
const across = (share) => `${100 * share}%`;

/** A bar from nothing to all, with a mark where it was. @param {number | null} share @param {string} className @param {number | null} [mark] */
const bar = (share, className, mark = null) =>
  svg(
    'svg',
    { class: `rung ${className}`, 'aria-hidden': 'true' },
    svg('rect', { class: 'whole', width: '100%', height: '100%' }),
    svg('rect', { class: 'part', width: across(share ?? 0), height: '100%' }),
    mark === null ? null : svg('line', { x1: across(mark), x2: across(mark), y1: '0', y2: '100%' }),
  );

/** @param {Readonly<Record<string, string>>} meanings @param {string} name */
const meaning = (meanings, name) => meaningOf(meanings, name) ?? '';

export class Ladder {
  element = h('figure', { class: 'chart wide', id: 'ladder' });

  /** @param {readonly Rung[]} rungs @param {Readonly<Record<string, string>>} [meanings] */
  show(rungs, meanings = {}) {
    fill(
      this.element,
      h('figcaption', {}, h('h3', {}, term('Solved and written, by difficulty'))),
      table(
        'Shares by difficulty: solved now and at the start, and written in the newest round',
        ['difficulty', 'solved', 'at the start', 'tasks written'],
        rungs.map(({ level, before, solved, written }) => [
          level,
          h('span', { class: 'share' }, bar(solved, 'solved', before), h('b', {}, percent(solved))),
          percent(before),
          written === null
            ? MISSING
            : h('span', { class: 'share' }, bar(written, 'written'), h('b', {}, percent(written))),
        ]),
      ),
      h('p', { class: 'note' }, `${meaning(meanings, 'solved')} ${meaning(meanings, 'written')}`),
    );
  }
}
