/**
 * A line chart over rounds or sampled tokens. Its caption is its legend and shows the values at the cursor, which all charts of the page
 * share; with the keyboard the chart is a slider along its axis, and a mouse drags the stretch that is wanted. Title, description and a table of the
 * data go with it.
 */
import { Geometry, MARGIN, picture } from './chart-image.js';
import { drawn, h, renew, scroller, svg, table, term } from './dom.js';
import { csv, download, standalone } from './download.js';

/** @typedef {import('./chart-image.js').Plot} Plot */
/** @typedef {import('./chart-image.js').Series} Series */

/** Narrow charts become lower, but not lower than this, px. */
const LEAST_HEIGHT = 150;
/** Rows of the table of data; the newest are shown. */
const TABLE_ROWS = 500;

/** A stretch that is dragged is at least so wide, px; less is a click. */
const LEAST_DRAG = 8;

/** The place on the axis that all charts point at; null = the last one. */
export class Cursor extends EventTarget {
  /** @type {number | null} */
  place = null;

  /** @param {number | null} place */
  move(place) {
    if (place === this.place) return;
    this.place = place;
    this.dispatchEvent(new Event('move'));
  }
}

let charts = 0;

export class Chart {
  /** @type {Plot | null} */
  #plot = null;
  /** @type {Geometry | null} */
  #geometry = null;
  #signature = '';
  #id = `chart-${++charts}`;
  #title;
  #height;
  #cursor;
  #wanted;
  /** Where a drag began, px from the left; null = there is none. @type {number | null} */
  #dragged = null;
  #readout = h('ul', { class: 'readout' });
  #frame;
  #overlay = svg('g', { class: 'cursor' });
  #selection = svg('g', { class: 'selection' });
  #meanings = h('span');
  #data = h('div');
  #details;

  /**
   * @param {{ title: string, note: string, cursor: Cursor, height?: number, className?: string,
   *   onRange: (range: readonly [from: number, to: number] | null) => void }} settings `onRange` hears which stretch of the axis is wanted; null = all of it.
   */
  constructor({ title, note, cursor, height = LEAST_HEIGHT, className = '', onRange }) {
    this.#title = title;
    this.#height = height;
    this.#cursor = cursor;
    this.#wanted = onRange;
    this.#details = h(
      'details',
      {},
      h('summary', { 'aria-label': `Data: ${title}` }, 'Data'),
      scroller(`Data: ${title}`, this.#saveButtons(), this.#data),
    );
    this.#frame = h('div', {
      class: 'frame',
      tabindex: 0,
      role: 'slider',
      'aria-labelledby': `${this.#id}-caption`,
      'aria-describedby': `${this.#id}-note`,
      'aria-valuemin': 0,
      'aria-valuenow': 0,
    });
    this.element = h(
      'figure',
      { class: `chart ${className}` },
      h('figcaption', {}, h('h3', { id: `${this.#id}-caption` }, term(title)), this.#readout),
      this.#frame,
      h('p', { class: 'note', id: `${this.#id}-note` }, note, this.#meanings),
      this.#details,
    );
    this.#details.addEventListener('toggle', () => this.#fillTable());
    cursor.addEventListener('move', () => this.#point());
    this.#listen();
    new ResizeObserver(() => this.#draw()).observe(this.#frame);
  }

  #listen() {
    const frame = this.#frame;
    const follow = (/** @type {PointerEvent} */ event) => {
      const x = event.clientX - frame.getBoundingClientRect().left;
      const { xs = [] } = this.#plot ?? {};
      if (this.#geometry) this.#cursor.move(xs[nearest(xs, this.#geometry.placeAt(x))] ?? null);
      if (this.#dragged !== null) this.#band(this.#dragged, x);
    };
    frame.addEventListener('pointermove', follow);
    frame.addEventListener('pointerdown', (event) => {
      follow(event);
      if (event.pointerType !== 'mouse' || event.button !== 0) return;
      this.#dragged = event.clientX - frame.getBoundingClientRect().left;
      frame.setPointerCapture(event.pointerId);
    });
    frame.addEventListener('pointerup', (event) => {
      const from = this.#dragged;
      const to = event.clientX - frame.getBoundingClientRect().left;
      this.#dragged = null;
      this.#selection.replaceChildren();
      if (from === null || !this.#geometry || Math.abs(to - from) < LEAST_DRAG) return;
      const { from: first, end } = this.#geometry;
      const places = [from, to].map((x) => Math.min(end, Math.max(first, this.#geometry?.placeAt(x) ?? 0)));
      this.#wanted([Math.floor(Math.min(...places)), Math.ceil(Math.max(...places))]);
    });
    frame.addEventListener('pointercancel', () => {
      this.#dragged = null;
      this.#selection.replaceChildren();
    });
    frame.addEventListener('dblclick', () => this.#wanted(null));
    frame.addEventListener('pointerleave', () => this.#cursor.move(null));
    frame.addEventListener('blur', () => this.#cursor.move(null));
    frame.addEventListener('keydown', (event) => this.#onKey(event));
  }

  /** Marks the stretch that is dragged. @param {number} from px @param {number} to px */
  #band(from, to) {
    const at = this.#geometry;
    if (!at) return;
    const [x, end] = [Math.max(at.left, Math.min(from, to)), Math.min(at.right, Math.max(from, to))];
    this.#selection.replaceChildren(
      svg('rect', { x, y: MARGIN.top, width: Math.max(0, end - x), height: at.bottom - MARGIN.top }),
    );
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const { xs = [] } = this.#plot ?? {};
    const last = xs.length - 1;
    const at = this.#cursor.place === null ? last : nearest(xs, this.#cursor.place);
    const page = Math.max(1, Math.round(xs.length / 10));
    /** @type {Record<string, number>} */
    const targets = {
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      PageDown: at - page,
      PageUp: at + page,
      Home: 0,
      End: last,
    };
    const to = targets[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.#cursor.move(xs[Math.max(0, Math.min(last, to))] ?? null);
  }

  /** @param {Plot} plot @param {readonly (readonly [name: string, meaning: string])[]} [meanings] of its lines, to be read below it */
  show(plot, meanings = []) {
    renew(
      this.#meanings,
      ...meanings.map(([name, meaning]) => h('span', {}, ' ', h('b', {}, name), `: ${meaning}`)),
    );
    const { xs, from, end, axis, series, marks, reference } = plot;
    const signature = JSON.stringify([xs, from, end, axis?.name, series, marks, reference]);
    if (signature === this.#signature) return;
    this.#signature = signature;
    this.#plot = plot;
    this.#geometry = null;
    this.#draw();
    this.#fillTable();
  }

  #draw() {
    const width = Math.floor(this.#frame.clientWidth);
    if (!this.#plot || width === 0 || width === this.#geometry?.width) return;
    const height = Math.min(this.#height, Math.max(LEAST_HEIGHT, Math.round(0.62 * width)));
    this.#geometry = new Geometry(this.#plot, width, height);
    const drawing = drawn(picture(this.#plot, this.#geometry, { id: this.#id, title: this.#title }));
    drawing.append(this.#selection, this.#overlay);
    this.#frame.replaceChildren(drawing);
    this.#point();
  }

  /** Shows the values at the cursor, or else the last ones. */
  #point() {
    const plot = this.#plot;
    const at = this.#geometry;
    if (!plot || !at) return;
    const { place } = this.#cursor;
    const index = place === null ? plot.xs.length - 1 : nearest(plot.xs, place);
    const here = plot.xs[index] ?? 0;
    const name = plot.axis?.read(here) ?? `round ${here}`;
    // What was measured, also where the line is smoothed.
    const shown = plot.series.map((series) => ({
      series,
      value: valueAt(series.measured ?? series.values, index),
    }));
    renew(
      this.#readout,
      ...shown.map(({ series, value }) =>
        h('li', { class: `ink-${series.ink}` }, swatch(), `${series.name} `, h('b', {}, plot.read(value))),
      ),
    );
    const words = shown.map(({ series, value }) => `${series.name} ${plot.read(value)}`).join(', ');
    this.#frame.setAttribute('aria-valuemin', String(plot.from ?? 0));
    this.#frame.setAttribute('aria-valuemax', String(plot.xs.at(-1) ?? 0));
    this.#frame.setAttribute('aria-valuenow', String(here));
    this.#frame.setAttribute('aria-valuetext', `${name}: ${words}`);
    this.#overlay.replaceChildren();
    if (place === null || plot.xs.length === 0) return;
    const x = at.x(here);
    const nearEnd = x > at.width - 7 * name.length;
    this.#overlay.append(
      svg('line', { x1: x, x2: x, y1: MARGIN.top, y2: at.bottom }),
      ...shown.flatMap(({ series, value }) =>
        typeof value === 'number' && typeof series.values[index] === 'number'
          ? [svg('circle', { cx: x, cy: at.y(value), r: 3.2, class: `ink-${series.ink}` })]
          : [],
      ),
      svg(
        'text',
        { x: x + (nearEnd ? -5 : 5), y: MARGIN.top + 8, 'text-anchor': nearEnd ? 'end' : 'start' },
        name,
      ),
    );
  }

  /** What is drawn, as a table. @param {Plot} plot @param {(value: number | null | undefined) => string | number | null | undefined} write */
  #table({ xs, axis, series }, write) {
    const titles = [axis?.name ?? 'round', ...series.map(({ name }) => name)];
    const measured = series.map(({ values, measured = values }) => measured);
    return { titles, rows: xs.map((x, i) => [x, ...measured.map((values) => write(values[i]))]) };
  }

  #saveButtons() {
    const name = this.#title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    const button = (/** @type {string} */ kind) =>
      h('button', { type: 'button', class: 'quiet', 'aria-label': `${kind}: ${this.#title}` }, kind);
    const [saveTable, saveImage] = [button('CSV'), button('SVG')];
    saveTable.addEventListener('click', () => {
      if (!this.#plot) return;
      const { titles, rows } = this.#table(this.#plot, (value) => value);
      download(`${name}.csv`, 'text/csv', csv(titles, rows));
    });
    saveImage.addEventListener('click', () => {
      const drawing = this.#frame.querySelector('svg');
      if (drawing) download(`${name}.svg`, 'image/svg+xml', standalone(drawing));
    });
    return h('p', { class: 'downloads' }, 'Download ', saveTable, ' ', saveImage);
  }

  /** The data as a table, made when it is asked for. */
  #fillTable() {
    const plot = this.#plot;
    if (!this.#details.open || !plot) return;
    const { titles, rows } = this.#table(plot, (value) => (value === undefined ? '' : plot.read(value)));
    const known = rows.filter(([, ...values]) => values.some((value) => value !== '')).slice(-TABLE_ROWS);
    renew(
      this.#data,
      table(
        this.#title,
        titles,
        known.map((row) => row.map(String)),
      ),
    );
  }
}

const swatch = () =>
  svg(
    'svg',
    { class: 'swatch', width: 18, height: 8, 'aria-hidden': 'true' },
    svg('line', { x1: 0, x2: 18, y1: 4, y2: 4 }),
  );

/**
 * The value at an index, or the one before it that was measured.
 * @param {Series['values']} values
 * @param {number} at
 */
function valueAt(values, at) {
  for (let i = at; i >= 0; i--) if (values[i] !== undefined) return values[i];
  return undefined;
}

/**
 * The index of the number nearest to the wanted one, by halving.
 * @param {readonly number[]} ascending
 * @param {number} wanted
 */
function nearest(ascending, wanted) {
  let low = 0;
  let high = Math.max(0, ascending.length - 1);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  const before = ascending[low - 1];
  const after = ascending[low];
  return before !== undefined && after !== undefined && wanted - before < after - wanted ? low - 1 : low;
}
