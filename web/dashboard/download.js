/** Files that the page makes of what it shows: CSV, JSON lines, and charts as SVG with their colours written into them. */
import { svg } from './dom.js';

/**
 * @param {string} name
 * @param {string} type
 * @param {BlobPart} content
 */
export function download(name, type, content) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A field of CSV (RFC 4180). A text that a spreadsheet would run as a formula is quoted with an apostrophe. @param {unknown} value */
function field(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * @param {readonly string[]} titles
 * @param {readonly (readonly unknown[])[]} rows
 */
export const csv = (titles, rows) =>
  [titles, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');

/** One JSON value per line. @param {readonly unknown[]} values */
export const jsonLines = (values) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

const STYLED = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-family', 'font-size'];

/** The drawing as it is shown, with its styles as attributes, so that it stands alone. @param {SVGElement} drawing */
export const standalone = (drawing) => `${new XMLSerializer().serializeToString(styled(drawing))}\n`;

/** @param {SVGElement} drawing */
function styled(drawing) {
  const copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  const shown = [drawing, ...drawing.querySelectorAll('*')];
  for (const [i, element] of [copy, ...copy.querySelectorAll('*')].entries()) {
    const style = getComputedStyle(/** @type {Element} */ (shown[i]));
    for (const name of STYLED) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute('class');
  }
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return copy;
}

/** Above each of several drawings, for its title; px. */
const TITLE = 22;

/** Several drawings below each other as one, each under its title, on the page's ground. @param {readonly Element[]} drawings */
export function stacked(drawings) {
  const { backgroundColor: ground, color: ink, fontFamily } = getComputedStyle(document.body);
  let height = 0;
  const parts = drawings.flatMap((drawing) => {
    const own = styled(/** @type {SVGElement} */ (drawing));
    const title = svg('text', {
      x: 0,
      y: height + 15,
      'font-family': fontFamily,
      fill: ink,
      'font-size': 14,
    });
    title.textContent = own.querySelector('title')?.textContent ?? '';
    own.setAttribute('y', String(height + TITLE));
    height += TITLE + Number(own.getAttribute('height'));
    return [title, own];
  });
  const width = Math.max(0, ...drawings.map((drawing) => Number(drawing.getAttribute('width'))));
  const paper = svg('rect', { width, height, fill: ground });
  const whole = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}` }, paper, ...parts);
  whole.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return `${new XMLSerializer().serializeToString(whole)}\n`;
}
