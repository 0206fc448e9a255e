/**
 * Makes elements by function calls. Text only becomes text nodes, since what models write is untrusted: there is no
 * way through here to markup, inline styles or inline handlers, which the page's content security policy forbids as well.
 */
import { placeOf } from './terms.js';

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

const SVG = 'http://www.w3.org/2000/svg';
const FORBIDDEN = /^(?:on|style$|srcdoc$)/i;

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (FORBIDDEN.test(name)) throw new Error(`internal: attribute ${name} is not set on this page`);
    if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
function append(element, children) {
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/**
 * The elements of a drawing.
 * @param {import('./drawing.js').Shape} drawing
 * @returns {SVGElement}
 */
export function drawn({ tag, attributes, children }) {
  const inner = children.map((child) => (typeof child === 'string' ? child : drawn(child)));
  return svg(/** @type {keyof SVGElementTagNameMap} */ (tag), attributes, ...inner);
}

/**
 * The element with this id; throws where the page has none.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`internal: the page has no element ${id}`);
  return element;
}

/**
 * Replaces an element's content only where it would look different, so that selections, focus and open details stay.
 * @param {Element} element
 * @param {Child[]} children
 */
export function fill(element, ...children) {
  const next = h('div');
  append(next, children);
  const same =
    element.childNodes.length === next.childNodes.length &&
    [...next.childNodes].every((node, i) => node.isEqualNode(element.childNodes[i] ?? null));
  if (!same) element.replaceChildren(...next.childNodes);
}

/** Where the page's host has the glossary. */
const glossary = () => document.documentElement.dataset.glossary ?? '/glossary/';

/**
 * A term with a link to the glossary; the text alone where the glossary has no such term.
 * @param {string} text
 * @param {string | undefined} [place] its place in the glossary, where that is not the usual one of this text
 */
export const term = (text, place = placeOf(text)) =>
  place ? h('a', { class: 'term', href: `${glossary()}#${place}` }, text) : text;

/**
 * Its caption is for screen readers: a heading or a sentence beside it says the same to the eye.
 * @param {string} caption
 * @param {string[]} titles
 * @param {Child[][]} rows
 */
export function table(caption, titles, rows) {
  return h(
    'table',
    {},
    h('caption', { class: 'hidden' }, caption),
    h('thead', {}, h('tr', {}, ...titles.map((title) => h('th', { scope: 'col' }, term(title))))),
    h(
      'tbody',
      {},
      ...rows.map((cells) =>
        h('tr', {}, ...cells.map((cell, i) => h(i ? 'td' : 'th', i ? {} : { scope: 'row' }, cell))),
      ),
    ),
  );
}
