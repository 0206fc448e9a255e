/** Draws what a solver can do and what a proposer asks, by the difficulty of tasks. */
import { h, renew, svg, table, term } from './dom.js';
import { MISSING, meaningOf, percent } from './figures.js';

/** @typedef {import('./rungs.js').Rung} Rung */

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
    renew(
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
