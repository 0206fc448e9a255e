/** Shows texts as the recipe's reader cut them: steps, marks, verdicts, boards. What models write only ever becomes text. */
import { h } from './dom.js';
import { piecesOf, withoutImages } from './images.js';

/** @typedef {import('../../core/recipe/reading.ts').Part} Part */
/** @typedef {import('./dom.js').Child} Child */

/** @param {readonly Part[]} parts */
export const plainText = (parts) => parts.map(({ text }) => withoutImages(text)).join(' ');

/**
 * A board, one row per line; `cells` says what its characters are.
 * @param {string} text
 * @param {Readonly<Record<string, string>>} cells
 */
function board(text, cells) {
  const rows = text.split('\n');
  const words = rows.map((row) => [...row].map((cell) => cells[cell] ?? cell).join(', ')).join('; ');
  return h(
    'span',
    { class: 'board', role: 'img', 'aria-label': `board: ${words}` },
    ...rows.map((row) =>
      h(
        'span',
        { class: 'board-row' },
        ...[...row].map((cell) =>
          h(
            'span',
            { class: `cell${/[a-z]/.test(cell) ? ` cell-${cell}` : ''}`, title: cells[cell] },
            cell === '.' ? '' : cell,
          ),
        ),
      ),
    ),
  );
}

/** A mark is not a failure: it is ink, and its sign says what it is. @param {Part} part */
const sign = ({ good }) =>
  good === undefined ? null : h('span', { 'aria-hidden': 'true' }, good ? '✓ ' : '✗ ');

/** @param {Part} part @param {number} times */
const marked = (part, times) =>
  h('span', { class: `part ${part.kind}` }, sign(part), part.text, times > 1 ? ` × ${times}` : '');

/**
 * @param {readonly Part[]} parts
 * @param {Readonly<Record<string, string>>} [cells]
 */
export function partsView(parts, cells = {}) {
  /** @type {Child[]} */
  const shown = [];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    if (!part) continue;
    const { kind, text } = part;
    if (kind === 'grid') shown.push(board(text, cells));
    else if (kind === 'note') shown.push(h('em', { class: 'part note' }, text));
    else if (kind === 'mark' || kind === 'verdict') {
      let times = 1;
      while (parts[i + 1]?.kind === kind && parts[i + 1]?.text === text) {
        times++;
        i++;
      }
      shown.push(marked(part, times));
    } else
      for (const piece of piecesOf(text))
        if (typeof piece !== 'string') shown.push(piece);
        else if (piece || !text) shown.push(h('code', { class: `part ${kind}` }, piece || '(nothing)'));
  }
  return h(
    'span',
    { class: 'parts' },
    // The spaces are for those who hear the parts: to the eye they lie apart.
    ...(shown.length
      ? shown.flatMap((part, i) => (i ? [' ', part] : [part]))
      : [h('code', { class: 'faint' }, '(nothing)')]),
  );
}

/** What the characters of the boards are, in words; null where there are none. @param {Readonly<Record<string, string>>} cells */
export const legend = (cells) =>
  Object.keys(cells).length === 0
    ? null
    : h(
        'p',
        { class: 'note legend' },
        ...Object.entries(cells).flatMap(([cell, meaning]) => [
          h('span', { class: `cell${/[a-z]/.test(cell) ? ` cell-${cell}` : ''}` }, cell === '.' ? '' : cell),
          ` ${meaning} `,
        ]),
      );
