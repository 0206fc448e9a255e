/** The event queue of a discrete-event model. Events of the same time happen in the order in which they were scheduled. */
interface Event {
  readonly at: number;
  readonly order: number;
  readonly happen: () => void;
}

const before = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

export class Timeline {
  /** A binary heap: the next event is the first. */
  readonly #heap: Event[] = [];
  #announced = 0;
  /** ms */
  now = 0;

  after(ms: number, happen: () => void): void {
    const event = { at: this.now + ms, order: this.#announced++, happen };
    let i = this.#heap.push(event) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(event, this.#heap[parent]!)) break;
      this.#heap[i] = this.#heap[parent]!;
      i = parent;
    }
    this.#heap[i] = event;
  }

  /** Runs until no event is scheduled any more or `over` returns true. */
  run(over: () => boolean = () => false): void {
    while (this.#heap.length && !over()) {
      const event = this.#take();
      this.now = event.at;
      event.happen();
    }
  }

  #take(): Event {
    const first = this.#heap[0]!;
    const last = this.#heap.pop()!;
    const size = this.#heap.length;
    if (size === 0) return first;
    let i = 0;
    for (;;) {
      const left = 2 * i + 1;
      if (left >= size) break;
      const right = left + 1;
      const child = right < size && before(this.#heap[right]!, this.#heap[left]!) ? right : left;
      if (!before(this.#heap[child]!, last)) break;
      this.#heap[i] = this.#heap[child]!;
      i = child;
    }
    this.#heap[i] = last;
    return first;
  }
}

/** A server with a limited number of concurrent requests, which it serves in the order of arrival. */
export class Server {
  readonly #timeline: Timeline;
  readonly #width: number;
  readonly #waiting: { readonly ms: number; readonly then: () => void }[] = [];
  #serving = 0;
  /** The total time of service, ms. */
  busyMs = 0;

  constructor(timeline: Timeline, width: number) {
    this.#timeline = timeline;
    this.#width = width;
  }

  use(ms: number, then: () => void): void {
    if (ms <= 0) this.#timeline.after(0, then);
    else {
      this.#waiting.push({ ms, then });
      this.#serve();
    }
  }

  #serve(): void {
    while (this.#serving < this.#width && this.#waiting.length) {
      const { ms, then } = this.#waiting.shift()!;
      this.#serving++;
      this.busyMs += ms;
      this.#timeline.after(ms, () => {
        this.#serving--;
        then();
        this.#serve();
      });
    }
  }
}
