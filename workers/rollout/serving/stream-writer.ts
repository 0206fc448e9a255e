/**
 * Writes a streamed answer without waiting for its reader: whoever samples holds the policy, and everybody else's turn waits for it. What
 * the reader has not taken is kept, up to a bound; a reader that falls further behind is given up.
 */

/** The most characters that may wait for a reader. */
const MOST_UNREAD = 4 << 20;

export class StreamWriter {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #most: number;
  #unread = 0;
  /** Nobody reads any more. */
  #gone = false;

  constructor(writable: WritableStream<Uint8Array>, mostUnread = MOST_UNREAD) {
    this.#writer = writable.getWriter();
    this.#most = mostUnread;
    // A reader that goes away is noticed at the next write, too.
    this.#writer.closed.catch(() => {
      this.#gone = true;
    });
  }

  /** Resolves at once, or when the reader takes the chunk if that is earlier: to false where nobody reads any more. */
  async tell(chunk: string): Promise<boolean> {
    if (this.#gone || chunk === '') return !this.#gone;
    if (this.#unread + chunk.length > this.#most) {
      this.#gone = true;
      void this.#writer.abort(new Error('The reader does not keep up.')).catch(() => undefined);
      return false;
    }
    this.#unread += chunk.length;
    const written = this.#writer.write(this.#encoder.encode(chunk)).then(
      () => {
        this.#unread -= chunk.length;
      },
      () => {
        this.#gone = true;
      },
    );
    // Sockets are served only between two tasks.
    await Promise.race([written, new Promise((resolve) => setTimeout(resolve))]);
    return !this.#gone;
  }

  /** Ends the stream once the reader has taken all of it; at once where nobody reads any more. */
  async close(): Promise<void> {
    if (!this.#gone) await this.#writer.close().catch(() => undefined);
  }
}
