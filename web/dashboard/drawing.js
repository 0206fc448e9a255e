/** Drawings as plain data: elements of SVG with their attributes and children. The page makes elements of them, the documentation text. Pure. */

/**
 * @typedef {object} Shape
 * @property {string} tag
 * @property {Readonly<Record<string, string | number>>} attributes
 * @property {readonly (Shape | string)[]} children
 */

/**
 * @param {string} tag
 * @param {Readonly<Record<string, string | number>>} [attributes]
 * @param {(Shape | string | null)[]} children `null` is left out
 * @returns {Shape}
 */
export const shape = (tag, attributes = {}, ...children) => ({
  tag,
  attributes,
  children: children.filter((child) => child !== null),
});

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A number with at most a tenth of a pixel. @param {string | number} value */
const short = (value) => (typeof value === 'number' ? String(Math.round(10 * value) / 10) : value);

/**
 * The drawing as text, in which nothing that a shape holds can become markup.
 * @param {Shape | string} drawing
 * @returns {string}
 */
export function markup(drawing) {
  if (typeof drawing === 'string') return escaped(drawing);
  const { tag, attributes, children } = drawing;
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(short(value))}"`);
  const inner = children.map(markup).join('');
  return `<${tag}${named.join('')}${inner ? `>${inner}</${tag}>` : '/>'}`;
}
