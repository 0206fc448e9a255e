/** All charts of a run: its ladder, where it has one, and its curves in the order of curves.js, each of which stays while its data changes. */
import { Chart, Cursor } from './chart.js';
import { CurveControls } from './curve-controls.js';
import { curvesOf, meaningsOf, plotOf } from './curves.js';
import { arrange } from './dom.js';
import { download, stacked } from './download.js';
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
  /** Draws again what was shown last. */
  #again = () => {};
  #controls = new CurveControls(
    () => this.#again(),
    () => download('curves.svg', 'image/svg+xml', stacked([...this.#box.querySelectorAll('.frame > svg')])),
  );

  /** @param {Element} box */
  constructor(box) {
    this.#box = box;
    this.#controls.element.hidden = true;
    box.append(this.#controls.element);
  }

  /**
   * @param {readonly Point[]} points
   * @param {number} target
   * @param {readonly Compared[]} families
   * @param {Readonly<Record<string, string>>} [meanings]
   */
  show(points, target, families, meanings) {
    this.#again = () => this.show(points, target, families, meanings);
    const curves = curvesOf([points, ...families.flatMap(({ runs: of }) => of)].flat(), meanings);
    const shown = curves.map((curve) => {
      const chart = this.#charts.get(curve.title) ?? this.#chartOf(curve);
      this.#charts.set(curve.title, chart);
      return { curve, chart };
    });
    const rungs = rungsOf(points);
    if (rungs.length) this.#ladder.show(rungs, meanings);
    this.#controls.element.hidden = !shown.length;
    arrange(this.#box, [
      ...(rungs.length ? [this.#ladder.element] : []),
      this.#controls.element,
      ...shown.map(({ chart }) => chart.element),
    ]);
    for (const { curve, chart } of shown)
      chart.show(plotOf(curve, points, target, families, this.#controls.view), meaningsOf(curve, families));
  }
  /** @param {import('./curves.js').Curve} curve */
  #chartOf(curve) {
    return new Chart({ ...curve, cursor: this.#cursor, onRange: (range) => this.#controls.show(range) });
  }
}
