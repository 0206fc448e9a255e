/** All charts of a run: its ladder, where it has one, and its curves in the order of curves.js, each of which stays while its data changes. */
import { Chart, Cursor } from './chart.js';
import { curvesOf, meaningsOf, plotOf } from './curves.js';
import { Ladder } from './ladder.js';
import { rungsOf } from './rungs.js';

/** @typedef {import('./curves.js').Point} Point */
/** @typedef {import('./curves.js').Compared} Compared */

export class CurveWall {
  #cursor = new Cursor();
  #ladder = new Ladder();
  /** @type {Map<string, Chart>} */
  #charts = new Map();
  #box;

  /** @param {Element} box */
  constructor(box) {
    this.#box = box;
  }

  /**
   * @param {readonly Point[]} points
   * @param {number} target
   * @param {readonly Compared[]} families
   * @param {Readonly<Record<string, string>>} [meanings]
   */
  show(points, target, families, meanings) {
    const curves = curvesOf([points, ...families.flatMap(({ runs: of }) => of)].flat(), meanings);
    const shown = curves.map((curve) => {
      const chart = this.#charts.get(curve.title) ?? new Chart({ ...curve, cursor: this.#cursor });
      this.#charts.set(curve.title, chart);
      return { curve, chart };
    });
    const rungs = rungsOf(points);
    if (rungs.length) this.#ladder.show(rungs, meanings);
    const elements = [
      ...(rungs.length ? [this.#ladder.element] : []),
      ...shown.map(({ chart }) => chart.element),
    ];
    const box = this.#box;
    if (elements.length !== box.children.length || elements.some((element, i) => element !== box.children[i]))
      box.replaceChildren(...elements);
    for (const { curve, chart } of shown)
      chart.show(plotOf(curve, points, target, families), meaningsOf(curve, families));
  }
}
