/** Draws recorded samples again, one or all of a round, and says whether their bits are the same. */
import { ApiError, drawAgain } from './api.js';
import { fill, h, setUsable } from './dom.js';
import { counted } from './figures.js';
import { Sentence } from './sentence.js';

/** @typedef {import('./api.js').GroupContent} GroupContent */
/** @typedef {import('./api.js').ReadableSample} ReadableSample */

/** So many samples are drawn again at once. */
const AT_ONCE = 4;
/** After a refusal for too many requests, ms. */
const PAUSE_MS = 5000;

/** What an error says. @param {unknown} error */
const said = (error) => (error instanceof Error ? error.message : String(error));

/** @param {import('./api.js').RedrawnSample} drawn */
const placeOf = ({ token, logprob }) =>
  token >= 0 ? `token ${token + 1}` : `the log-probability of token ${logprob + 1}`;

/** @param {ReadableSample} sample @param {string} round */
export function replayButton({ id, ids }, round) {
  const answer = h('span', { 'aria-live': 'polite', class: 'note' });
  const button = h('button', { type: 'button', class: 'quiet' }, 'Replay');
  button.addEventListener('click', async () => {
    setUsable(button, false);
    answer.textContent = ' drawing …';
    try {
      const drawn = await drawAgain(round, id);
      fill(
        answer,
        drawn.same
          ? h(
              'span',
              { class: 'good' },
              ` ✓ identical: ${counted(ids.length, 'token')} and their log-probabilities`,
            )
          : h('span', { class: 'bad' }, ` ✗ not the same: ${placeOf(drawn)} differs`),
      );
    } catch (error) {
      answer.textContent = ` ${said(error)}`;
    }
    setUsable(button, true);
  });
  return h('span', { class: 'replay' }, button, answer);
}

/**
 * A sample again; where the mesh takes no more requests for now, after a pause, as long as it is wanted.
 * @param {string} round
 * @param {string} id
 * @param {() => boolean} wanted
 */
async function drawPatiently(round, id, wanted) {
  for (;;)
    try {
      return await drawAgain(round, id);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429 || !wanted()) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
}

/** Replays all solutions and verdicts of a round, a few at once, until one cannot be drawn or the reader stops it. */
export class RoundReplay {
  #button = h('button', { type: 'button' }, 'Replay round');
  #status = h('span', { 'aria-live': 'polite', class: 'note' });
  element = h('span', { class: 'replay' }, this.#button, ' ', this.#status);
  #said = new Sentence(this.#status);
  /** The replay that goes on; a new one ends it. */
  #current = {};
  #running = false;
  /** @type {(() => { round: string, groups: AsyncIterable<readonly GroupContent[]> } | null)} */
  #order;

  /** @param {() => { round: string, groups: AsyncIterable<readonly GroupContent[]> } | null} order the round that is shown, and its groups page by page */
  constructor(order) {
    this.#order = order;
    this.#button.addEventListener('click', () => {
      if (!this.#running) return void this.#run();
      this.stop();
      this.#said.say(...this.#status.childNodes, ' Stopped.');
    });
  }

  /** Ends what goes on; what was found stays. */
  stop() {
    this.#current = {};
    this.#running = false;
    this.#button.textContent = 'Replay round';
  }

  /** Another round is shown. */
  clear() {
    this.stop();
    fill(this.#status);
  }

  async #run() {
    const order = this.#order();
    if (!order) return;
    const own = {};
    this.#current = own;
    this.#running = true;
    this.#button.textContent = 'Stop replay';
    let equal = 0;
    /** @type {string[]} */
    const others = [];
    const tell = (/** @type {string} */ end) => {
      if (this.#current !== own) return;
      const first = others[0] === undefined ? '' : `, ${others.length} not the same: first ${others[0]}`;
      const found = h(
        'span',
        { class: others.length ? 'bad' : 'good' },
        `${counted(equal, 'sample')} identical${first}${end}`,
      );
      if (end) this.#said.say(found);
      else this.#said.progress(found);
    };
    try {
      for await (const groups of order.groups) {
        const waiting = groups.flatMap(({ index, samples, judgments }) =>
          [...(samples ?? []), ...(judgments ?? [])].map(({ id }) => ({ index, id })),
        );
        const draw = async () => {
          for (let next = waiting.shift(); next && this.#current === own; next = waiting.shift()) {
            const drawn = await drawPatiently(order.round, next.id, () => this.#current === own);
            if (drawn.same) equal++;
            else others.push(`${placeOf(drawn)} of a sample of task ${next.index + 1}`);
            tell('');
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, draw));
        if (this.#current !== own) return;
      }
      tell('; all were drawn again.');
    } catch (error) {
      tell(`. ${said(error)}`);
    }
    if (this.#current === own) this.stop();
  }
}
