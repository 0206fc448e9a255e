/**
 * Polls, one poll at a time: often while something is under way, seldom after failures or while the mesh sends events, not at all while the
 * page is not visible. An event makes it poll at once.
 */
import { listen } from './api.js';

const BUSY_MS = 1500;
const IDLE_MS = 5000;
const SLOWEST_MS = 30_000;
/** Between two polls while events arrive; they are for what no event tells. */
const LISTENING_MS = 15_000;
/** After a stream broke. */
const RECONNECT_MS = 10_000;

export class Poll {
  #look;
  #tell;
  #failures = 0;
  #looking = false;
  #again = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** The run that events are about; undefined = none were asked for yet. @type {string | null | undefined} */
  #followed;
  #stream = new AbortController();
  #listening = false;

  /**
   * @param {() => Promise<boolean>} look says whether anything is under way
   * @param {(status: 'live' | 'idle' | 'trying again', error: Error | null) => void} tell
   */
  constructor(look, tell) {
    this.#look = look;
    this.#tell = tell;
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.now();
    });
  }

  /** Polls at once, or again as soon as the present poll is over. */
  now() {
    clearTimeout(this.#timer);
    if (this.#looking) this.#again = true;
    else void this.#run();
  }

  /** Listens to the events of a run, or of all runs. @param {string | null} run */
  follow(run) {
    if (run === this.#followed) return;
    this.#followed = run;
    this.#stream.abort();
    this.#stream = new AbortController();
    void this.#listen(run, this.#stream.signal);
  }

  /** @param {string | null} run @param {AbortSignal} signal */
  async #listen(run, signal) {
    while (!signal.aborted) {
      const changed = () => {
        this.#listening = true;
        if (document.visibilityState === 'visible') this.now();
      };
      const ended = await listen(run, changed, signal).then(
        () => true,
        () => false,
      );
      this.#listening = false;
      if (!ended) await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  async #run() {
    this.#looking = true;
    const wait = await this.#once();
    this.#looking = false;
    if (this.#again) {
      this.#again = false;
      this.now();
    } else if (document.visibilityState === 'visible') this.#timer = setTimeout(() => this.now(), wait);
  }

  /** Polls once; returns the ms to wait after it. */
  async #once() {
    try {
      const busy = await this.#look();
      this.#failures = 0;
      this.#tell(busy ? 'live' : 'idle', null);
      if (this.#listening) return LISTENING_MS;
      return busy ? BUSY_MS : IDLE_MS;
    } catch (error) {
      this.#failures++;
      this.#tell('trying again', error instanceof Error ? error : new Error(String(error)));
      return Math.min(SLOWEST_MS, BUSY_MS * 2 ** this.#failures);
    }
  }
}
