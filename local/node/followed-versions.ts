/**
 * The versions that a server computes with, one adapter each over the model that it holds: loaded for the first request, dropped when a newer one
 * of its set has come and no request is under way, or when the node ends. An adapter's name says its hash, so that no two versions share one.
 */
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { DialectName, RemoteOptions } from '../../infer/remote/policy.ts';
import type { ModelConfig } from '../../model/config.ts';

export type ServerOfNode = Pick<RemoteOptions, 'baseUrl' | 'model' | 'apiKey'> & {
  readonly dialect: DialectName;
};

/** A version's adapter as the mesh stores it, and the shape of what it is loaded onto. */
export interface StoredAdapter {
  readonly config: ModelConfig;
  readonly bytes: Uint8Array;
}

export interface AdapterServer {
  /**
   * Drops what an earlier process of this node left.
   * @throws RollmeshError `node.adapters` where the server loads no adapters while it runs
   */
  begin(): Promise<void>;
  /** Whether requests of this name are answered with the adapter that was loaded under it. */
  has(name: string): Promise<boolean>;
  /** @throws RollmeshError `node.adapters` where the server refuses the adapter, or one of kind `retry` */
  load(name: string, adapter: StoredAdapter): Promise<void>;
  drop(name: string): Promise<void>;
}

export const adapterLost = ({ dialect, baseUrl }: ServerOfNode, name: string) =>
  new RollmeshError('retry', 'remote.adapter', `${dialect} at ${baseUrl} has no ${name} any more.`, {
    next: 'Nothing to do: the requests were given back, and it is loaded again for the next ones.',
  });

interface Held {
  readonly name: string;
  /** Which of its policy's sets it belongs to. */
  readonly set: string;
  readonly version: number;
  /** Requests under way. */
  users: number;
  readonly loaded: Promise<void>;
}

export class FollowedVersions {
  readonly #adapters: AdapterServer;
  readonly #server: ServerOfNode;
  readonly #prefix: string;
  readonly #trouble: (error: RollmeshError) => void;
  /** By the adapter's hash. */
  readonly #held = new Map<string, Held>();
  /** Servers are asked to load and to drop one at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    adapters: AdapterServer,
    server: ServerOfNode,
    prefix: string,
    /** Told of an adapter that could not be dropped. */
    trouble: (error: RollmeshError) => void,
  ) {
    this.#adapters = adapters;
    this.#server = server;
    this.#prefix = prefix;
    this.#trouble = trouble;
  }

  /**
   * Has `sample` ask the server for completions by the adapter of exactly this version, whose name it is told.
   * @throws RollmeshError as `AdapterServer.load`; `remote.adapter` of kind `retry` where the server has lost the adapter
   */
  async with<T>(
    ref: PolicyRef,
    sha256: string,
    adapter: StoredAdapter,
    sample: (name: string) => Promise<T>,
  ): Promise<T> {
    const held = this.#hold(ref, sha256, adapter);
    try {
      await held.loaded;
      return await sample(held.name);
    } catch (error) {
      const refused = error instanceof RollmeshError && error.code === 'remote.status';
      if (!refused || error.kind === 'retry' || (await this.#adapters.has(held.name))) throw error;
      this.#forget(sha256, held);
      throw adapterLost(this.#server, held.name);
    } finally {
      held.users--;
      this.#dropOlder();
    }
  }

  /** Drops all that is loaded. */
  async stop(): Promise<void> {
    for (const [sha256, held] of this.#held) this.#drop(sha256, held);
    await this.#turn;
  }

  #hold(ref: PolicyRef, sha256: string, adapter: StoredAdapter): Held {
    const there = this.#held.get(sha256);
    if (there) {
      there.users++;
      return there;
    }
    const name = `${this.#prefix}${ref.name}-${ref.version}-${sha256.slice(0, 12)}`;
    const set = `${ref.name} ${ref.set ?? MAIN_SET}`;
    const loaded = this.#inTurn(() => this.#adapters.load(name, adapter));
    const held = { name, set, version: ref.version, users: 1, loaded };
    // What a failed attempt left is not there for the next one.
    loaded.catch(() => this.#drop(sha256, held));
    this.#held.set(sha256, held);
    return held;
  }

  #forget(sha256: string, held: Held): void {
    if (this.#held.get(sha256) === held) this.#held.delete(sha256);
  }

  #dropOlder(): void {
    for (const [sha256, held] of this.#held) {
      const isNewest = [...this.#held.values()].every(
        ({ set, version }) => set !== held.set || version <= held.version,
      );
      if (!held.users && !isNewest) this.#drop(sha256, held);
    }
  }

  #drop(sha256: string, held: Held): void {
    this.#forget(sha256, held);
    this.#inTurn(() => this.#adapters.drop(held.name)).catch((cause: unknown) =>
      this.#trouble(
        cause instanceof RollmeshError
          ? cause
          : new RollmeshError('give-up', 'node.adapters', `${held.name} was not dropped: ${cause}`, {
              cause,
            }),
      ),
    );
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}
