/** Shows the images of prompts, whose texts name them by the sha256 of their pixels. */
import { imageNamed } from './api.js';
import { h } from './dom.js';

const IMAGE_TEXT = /<image:([0-9a-f]{64}):\d{1,3}x\d{1,3}>/g;

/** A text in which images are no more than mentioned. @param {string} text */
export const withoutImages = (text) => text.replace(IMAGE_TEXT, '[image]');

/** @param {string} sha256 */
function picture(sha256) {
  const canvas = h('canvas', { class: 'picture', role: 'img', 'aria-label': 'an image, not loaded yet' });
  imageNamed(sha256).then(
    ({ width, height, pixels }) => {
      canvas.width = width;
      canvas.height = height;
      canvas.setAttribute('aria-label', `an image of ${width} × ${height} pixels`);
      canvas.getContext('2d')?.putImageData(new ImageData(pixels, width, height), 0, 0);
    },
    (error) => canvas.replaceWith(h('em', { class: 'part note' }, `an image: ${error.message}`)),
  );
  return canvas;
}

/** The pieces of a text, every second of which is an image of its own. @param {string} text @returns {(string | HTMLElement)[]} */
export const piecesOf = (text) => text.split(IMAGE_TEXT).map((piece, i) => (i % 2 ? picture(piece) : piece));
