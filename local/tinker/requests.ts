/**
 * Requests of clients whose results they ask for later. A request that comes again under its number gets the result of the first. Those of a model are done
 * in the order of their numbers, whichever arrives first, and one at a time over all models: there is one device.
 */
import { RollmeshError, wrongInput } from '../../core/errors.ts';

/** What a request came to: an object of JSON, or the bytes of a message for those who take protobuf. */
export type Result =
  | { readonly json: object }
  | { readonly message: Uint8Array }
  | { readonly error: string; readonly category: 'user' | 'server' };

interface Request {
  readonly content: string;
  readonly done: Promise<Result>;
}

/** A request that waits for earlier ones of its model. */
interface Waiting {
  readonly go: () => void;
  readonly fail: (error: RollmeshError) => void;
}

/** Results that are kept. A client asks within seconds. */
const KEPT = 2048;

export class Requests {
  readonly #requests = new Map<string, Request>();
  /** Of each model: the number of its next request, and those that wait for earlier ones. */
  readonly #turns = new Map<string, { next: number; readonly waiting: Map<number, Waiting> }>();
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Takes a request; its result can be asked for under the id. `content` tells requests of the same id apart.
   * @throws RollmeshError `tinker.repeated` where another request has come under this id
   */
  take(
    id: string,
    content: string,
    work: () => Promise<Result>,
    turn?: { readonly model: string; readonly seq: number },
  ): void {
    const known = this.#requests.get(id);
    if (known) {
      if (known.content === content) return;
      throw wrongInput('tinker.repeated', `Another request has come as ${id} already.`, {
        expected: 'the same request, or the next number',
      });
    }
    const first = turn ? this.#turn(turn) : Promise.resolve();
    const run = async (): Promise<Result> => {
      const mine = this.#last.then(work);
      this.#last = mine.catch(() => undefined);
      return await mine.catch(failureOf);
    };
    const done = first.then(run, failureOf);
    if (turn) void done.then(() => this.#advance(turn));
    this.#requests.set(id, { content, done });
    for (const oldest of this.#requests.keys()) {
      if (this.#requests.size <= KEPT) break;
      this.#requests.delete(oldest);
    }
  }

  /** The result of a request; null where it is not there after `waitMs`, undefined where no such request is known. */
  async result(id: string, waitMs: number): Promise<Result | null | undefined> {
    const request = this.#requests.get(id);
    if (!request) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), waitMs);
    });
    try {
      return await Promise.race([request.done, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The model takes no more requests. Those that wait for earlier ones fail with `tinker.unknown`. */
  forget(model: string): void {
    const waiting = this.#turns.get(model)?.waiting.values() ?? [];
    this.#turns.delete(model);
    for (const { fail } of waiting)
      fail(
        new RollmeshError(
          'missing-version',
          'tinker.unknown',
          `The model ${model} was given up before an earlier request of it came.`,
          { next: 'Create a model and load the last checkpoint.' },
        ),
      );
  }

  #turnsOf(model: string) {
    const turns = this.#turns.get(model) ?? { next: 1, waiting: new Map<number, Waiting>() };
    this.#turns.set(model, turns);
    return turns;
  }

  #turn({ model, seq }: { readonly model: string; readonly seq: number }): Promise<void> {
    const turns = this.#turnsOf(model);
    if (seq < turns.next)
      throw wrongInput('tinker.repeated', `Request ${seq} of ${model} was done long ago.`, {
        expected: `request ${turns.next} or a later one`,
      });
    if (seq === turns.next) return Promise.resolve();
    return new Promise((go, fail) => turns.waiting.set(seq, { go, fail }));
  }

  #advance({ model }: { readonly model: string }): void {
    const turns = this.#turns.get(model);
    if (!turns) return;
    turns.next++;
    const waiting = turns.waiting.get(turns.next);
    turns.waiting.delete(turns.next);
    waiting?.go();
  }
}

function failureOf(error: unknown): Result {
  const own = error instanceof RollmeshError && error.kind !== 'retry';
  return { error: error instanceof Error ? error.message : String(error), category: own ? 'user' : 'server' };
}
