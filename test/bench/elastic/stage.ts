/** A stage of the mesh in the model: queues of messages, and isolates that take them in batches and keep one session each. */
import type { Server, Timeline } from './timeline.ts';

export interface Message {
  /** The round of the message; equal versions share a session. */
  readonly round: number;
  readonly version: string;
}

interface Isolate {
  version: string | null;
  busy: boolean;
}

export interface StageSettings {
  readonly isolates: number;
  readonly ramp: boolean;
  readonly batch: number;
  /** How long the oldest message waits for a batch to fill, ms. */
  readonly wait: number;
  /** The time to open a session, ms. */
  readonly open: number;
  /** Works on messages of one round and calls `done` at the end. */
  readonly work: (round: number, messages: number, done: () => void) => void;
}

export class Stage {
  readonly #timeline: Timeline;
  readonly #settings: StageSettings;
  readonly #cpu: Server;
  readonly #waiting: { readonly message: Message; readonly since: number }[] = [];
  readonly #isolates: Isolate[] = [];
  #allowed: number;
  #busy = 0;
  batches = 0;
  opened = 0;
  mostAtOnce = 0;
  /** The busy time of the isolates, waits included, summed over isolates, ms. */
  busyMs = 0;

  constructor(timeline: Timeline, cpu: Server, settings: StageSettings) {
    this.#timeline = timeline;
    this.#cpu = cpu;
    this.#settings = settings;
    this.#allowed = settings.ramp ? 1 : settings.isolates;
  }

  receive(messages: readonly Message[]): void {
    for (const message of messages) this.#waiting.push({ message, since: this.#timeline.now });
    this.#deliver();
    // A batch that is not full is delivered when its first message has waited long enough.
    this.#timeline.after(this.#settings.wait, () => this.#deliver());
  }

  #deliver(): void {
    const { batch, wait } = this.#settings;
    while (this.#waiting.length && this.#busy < Math.min(this.#allowed, this.#settings.isolates)) {
      const oldest = this.#waiting[0]!.since;
      if (this.#waiting.length < batch && this.#timeline.now - oldest < wait) return;
      const taken = this.#waiting.splice(0, batch).map(({ message }) => message);
      this.#consume(this.#isolateFor(taken[0]!.version), taken);
    }
  }

  /** Chooses an isolate that has the session, else one that has been used, else a new one. */
  #isolateFor(version: string): Isolate {
    const idle = this.#isolates.filter((isolate) => !isolate.busy);
    const found = idle.find((isolate) => isolate.version === version) ?? idle[0];
    if (found) return found;
    const fresh: Isolate = { version: null, busy: false };
    this.#isolates.push(fresh);
    return fresh;
  }

  #consume(isolate: Isolate, messages: readonly Message[]): void {
    isolate.busy = true;
    this.#busy++;
    this.batches++;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#busy);
    const began = this.#timeline.now;
    const rounds = [...new Set(messages.map(({ round }) => round))];
    const next = (i: number): void => {
      const round = rounds[i];
      if (round === undefined) {
        isolate.busy = false;
        this.#busy--;
        this.#allowed++;
        this.busyMs += this.#timeline.now - began;
        this.#deliver();
      } else {
        const own = messages.filter((message) => message.round === round);
        this.#open(isolate, own[0]!.version, () => this.#settings.work(round, own.length, () => next(i + 1)));
      }
    };
    next(0);
  }

  #open(isolate: Isolate, version: string, then: () => void): void {
    if (isolate.version === version) then();
    else {
      isolate.version = version;
      this.opened++;
      this.#cpu.use(this.#settings.open, then);
    }
  }
}
