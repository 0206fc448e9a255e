/** Polls, one poll at a time: often while something is under way, seldom after failures, not at all while the page is not visible. */

const BUSY_MS = 1500;
const IDLE_MS = 5000;
const SLOWEST_MS = 30_000;

export class Poll {
  #look;
  #tell;
  #failures = 0;
  #looking = false;
  #again = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

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
      return busy ? BUSY_MS : IDLE_MS;
    } catch (error) {
      this.#failures++;
      this.#tell('trying again', error instanceof Error ? error : new Error(String(error)));
      return Math.min(SLOWEST_MS, BUSY_MS * 2 ** this.#failures);
    }
  }
}
