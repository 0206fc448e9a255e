/** All curves of a run, in the order of curves.js, each in a chart of its own that stays while its data changes. */
import { Chart, Cursor } from './chart.js';
import { curvesOf, meaningsOf, plotOf } from './curves.js';

/** @typedef {import('./curves.js').Point} Point */
/** @typedef {import('./curves.js').Compared} Compared */

export class CurveWall {
  #cursor = new Cursor();
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
    const elements = shown.map(({ chart }) => chart.element);
    const box = this.#box;
    if (elements.length !== box.children.length || elements.some((element, i) => element !== box.children[i]))
      box.replaceChildren(...elements);
    for (const { curve, chart } of shown)
      chart.show(plotOf(curve, points, target, families), meaningsOf(curve, families));
  }
}
