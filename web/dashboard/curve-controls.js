/** The controls above a run's charts: what their axis counts, how smooth their lines are, which stretch is drawn, and all of them as one picture. */
import { WHOLE } from './curves.js';
import { h } from './dom.js';

/** @typedef {import('./curves.js').View} View */

/** What the axis counts. @type {readonly (readonly [View['along'], string])[]} */
const ALONGS = [
  ['rounds', 'rounds'],
  ['tokens', 'sampled tokens'],
];

export class CurveControls {
  /** @type {View} */
  view = WHOLE;
  #changed;
  #along = h('select', {}, ...ALONGS.map(([value, name]) => h('option', { value }, name)));
  #smoothing = h('input', { type: 'range', min: 0, max: 0.95, step: 0.05, value: 0 });
  #from = h('input', { type: 'number', min: 0, step: 'any', placeholder: 'start' });
  #to = h('input', { type: 'number', min: 0, step: 'any', placeholder: 'end' });
  #all = h('button', { type: 'button', class: 'quiet', hidden: true }, 'Whole run');
  #image = h('button', { type: 'button', class: 'quiet' }, 'SVG of all');
  element = h(
    'div',
    { class: 'controls', role: 'group', 'aria-label': 'How all charts are drawn' },
    h('label', {}, 'Axis ', this.#along),
    h('label', {}, 'From ', this.#from),
    h('label', {}, 'to ', this.#to),
    this.#all,
    h('label', {}, 'Smoothing ', this.#smoothing),
    h('span', { class: 'downloads' }, 'Download ', this.#image),
  );

  /** @param {() => void} changed @param {() => void} save */
  constructor(changed, save) {
    this.#changed = changed;
    this.#along.addEventListener('input', () =>
      // A stretch of one axis says nothing on the other.
      this.#look({ along: /** @type {View['along']} */ (this.#along.value), range: null }),
    );
    this.#smoothing.addEventListener('input', () => this.#look({ smoothing: this.#smoothing.valueAsNumber }));
    for (const input of [this.#from, this.#to]) input.addEventListener('change', () => this.#readRange());
    this.#all.addEventListener('click', () => this.show(null));
    this.#image.addEventListener('click', save);
  }

  /** Draws a stretch of the axis; null = all of it. @param {View['range']} range */
  show(range) {
    this.#look({ range: range && range[0] < range[1] ? range : null });
  }

  #readRange() {
    const [from, to] = [this.#from.valueAsNumber, this.#to.valueAsNumber];
    if (Number.isNaN(from) && Number.isNaN(to)) return this.show(null);
    this.show([Number.isNaN(from) ? 0 : from, Number.isNaN(to) ? Number.POSITIVE_INFINITY : to]);
  }

  /** @param {Partial<View>} change */
  #look(change) {
    this.view = { ...this.view, ...change };
    const [from, to] = this.view.range ?? [Number.NaN, Number.NaN];
    this.#from.value = Number.isFinite(from) ? String(from) : '';
    this.#to.value = Number.isFinite(to) ? String(to) : '';
    this.#all.hidden = this.view.range === null;
    this.#changed();
  }
}
