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

/** An element's places among its siblings, from its ancestor down. @param {Element} ancestor @param {Element} element */
function wayTo(ancestor, element) {
  /** @type {number[]} */
  const way = [];
  for (let at = element; at !== ancestor && at.parentElement; at = at.parentElement)
    way.unshift([...at.parentElement.children].indexOf(at));
  return way;
}

/**
 * Replaces an element's content only where it would look different, so that selections and open details stay. The focus stays at its place, where there
 * is such an element again.
 * @param {Element} element
 * @param {Child[]} children
 */
export function fill(element, ...children) {
  const next = h('div');
  append(next, children);
  const same =
    element.childNodes.length === next.childNodes.length &&
    [...next.childNodes].every((node, i) => node.isEqualNode(element.childNodes[i] ?? null));
  if (same) return;
  const focused = document.activeElement;
  const way = focused && focused !== element && element.contains(focused) ? wayTo(element, focused) : null;
  element.replaceChildren(...next.childNodes);
  if (!way) return;
  const again = way.reduce((at, place) => at?.children[place], /** @type {Element | undefined} */ (element));
  if (again instanceof HTMLElement && again.tagName === focused?.tagName)
    again.focus({ preventScroll: true });
}

/** @param {ChildNode} old @param {ChildNode} next */
function become(old, next) {
  if (old.isEqualNode(next)) return;
  if (old instanceof Text && next instanceof Text) old.data = next.data;
  // What a canvas shows is in no node.
  else if (
    old instanceof Element &&
    next instanceof Element &&
    old.tagName === next.tagName &&
    !(old instanceof HTMLCanvasElement)
  ) {
    for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of next.attributes) old.setAttribute(name, value);
    takeOver(old, next);
  } else old.replaceWith(next);
}

/** Makes the content of an element that of another. @param {Element} old @param {Element} next */
function takeOver(old, next) {
  const [before, wanted] = [[...old.childNodes], [...next.childNodes]];
  for (const [i, node] of wanted.entries()) {
    const at = before[i];
    if (at) become(at, node);
    else old.append(node);
  }
  for (const left of before.slice(wanted.length)) left.remove();
}

/**
 * Changes an element's content where it differs, down to single words: a screen reader that reads it goes on from where it is, and the focus stays. Only for
 * content without listeners, since the elements that are there stay.
 * @param {Element} element
 * @param {Child[]} children
 */
export function renew(element, ...children) {
  const next = h('div');
  append(next, children);
  takeOver(element, next);
}

/**
 * Puts elements into a box in their order, and takes all others out. What is there is moved only where the order has changed: an element that is moved
 * loses the focus.
 * @param {Element} box
 * @param {readonly Element[]} elements
 */
export function arrange(box, elements) {
  for (const child of [...box.children]) if (!elements.includes(child)) child.remove();
  for (const [i, element] of elements.entries())
    if (box.children[i] !== element) box.insertBefore(element, box.children[i] ?? null);
}

/** @param {Event} event */
function refuse(event) {
  const { currentTarget: button } = event;
  if (!(button instanceof Element) || button.ariaDisabled !== 'true') return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/**
 * Says of a button whether it can be used. It keeps the focus where it cannot, which `disabled` would take away: whoever pressed it by keyboard would
 * be at the top of the page again.
 * @param {HTMLButtonElement} button
 * @param {boolean} usable
 */
export function setUsable(button, usable) {
  button.setAttribute('aria-disabled', String(!usable));
  button.addEventListener('click', refuse, { capture: true });
}

/**
 * The link at the top of a page that skips to its content. It moves the focus, and leaves the address alone, which says what the page shows.
 */
export function listenToSkip() {
  const main = byId('main');
  main.tabIndex = -1;
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
}

/**
 * A box that is scrolled where what it holds is too wide, by keyboard, too.
 * @param {string} name what a screen reader calls it
 * @param {Child[]} children
 */
export const scroller = (name, ...children) =>
  h('div', { class: 'scroller', tabindex: 0, role: 'group', 'aria-label': name }, ...children);

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
