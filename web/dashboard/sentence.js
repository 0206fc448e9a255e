/** A sentence that changes while a page is used, which screen readers read out as it changes. */
import { fill } from './dom.js';

/** @typedef {import('./dom.js').Child} Child */

/** Reading a sentence out takes some seconds: one that only tells how far something is, sooner after another than this, is shown and not read out. */
const HEARD_EVERY_MS = 15_000;

export class Sentence {
  #heardAt = Number.NEGATIVE_INFINITY;
  #element;

  /** @param {Element} element */
  constructor(element) {
    this.#element = element;
  }

  /** Shows what is always to be heard. @param {Child[]} children */
  say(...children) {
    this.#heardAt = performance.now();
    this.#show('polite', children);
  }

  /** Shows how far something is. @param {Child[]} children */
  progress(...children) {
    if (performance.now() - this.#heardAt >= HEARD_EVERY_MS) this.say(...children);
    else this.#show('off', children);
  }

  /** @param {'polite' | 'off'} live @param {Child[]} children */
  #show(live, children) {
    this.#element.setAttribute('aria-live', live);
    fill(this.#element, ...children);
  }
}
