/** Nodes that join a mesh and are killed at random, for as long as a run plays: each a process of one thread with a token of its own. */

import type { Random } from '../../core/random.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { Child } from './child.ts';

/**
 * How long it lasts on average, once a node has started or is dead, until the next one joins or is killed, ms. On a busy machine it is twice as long as
 * a node takes to start: one that never comes to work tests nothing.
 */
const EVERY_MS = 2_500;

export interface ChurnOptions {
  readonly url: string;
  readonly gateway: Pick<GatewayClient, 'makeNode'>;
  /** The most nodes at once. */
  readonly most: number;
  readonly random: Random;
  /** The file to which the nodes' standard error is appended. */
  readonly log: string;
}

/** How many nodes joined, and how many of them were killed while the run played. */
export interface Churned {
  readonly joined: number;
  readonly killed: number;
}

export class Churn {
  readonly #options: ChurnOptions;
  readonly #nodes: Child[] = [];
  readonly #ended: Promise<void>;
  #over = false;
  #wake = () => {};
  #everyMs = EVERY_MS;
  #joined = 0;
  #killed = 0;

  constructor(options: ChurnOptions) {
    this.#options = options;
    this.#ended = this.#go();
    // A node that cannot start at all ends it; who stops it is told.
    this.#ended.catch(() => undefined);
  }

  /** Kills those that are left. Throws where a node ended by itself before it had started. */
  async stop(): Promise<Churned> {
    this.#over = true;
    this.#wake();
    try {
      await this.#ended;
    } finally {
      await Promise.all(this.#nodes.map((node) => node.kill()));
    }
    return { joined: this.#joined, killed: this.#killed };
  }

  async #go(): Promise<void> {
    const { most, random } = this.#options;
    while (!this.#over) {
      if (this.#nodes.length && (this.#nodes.length === most || random.int(2))) {
        const [node] = this.#nodes.splice(random.int(this.#nodes.length), 1);
        await node!.kill();
        this.#killed++;
      } else await this.#join();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, random.int(2 * this.#everyMs));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (this.#over) this.#wake();
      });
    }
  }

  async #join(): Promise<void> {
    const { url, gateway, log } = this.#options;
    // The mesh may be down at this moment; an order that it heard without being able to say so leaves a node that never comes.
    const made = await gateway
      .makeNode(`churn-${this.#joined + 1}-${Date.now().toString(36)}`)
      .catch(() => null);
    if (!made) return;
    const node = new Child({
      script: 'cli/rollmesh',
      args: ['node', '--mesh', url, '--threads', '1', '--json'],
      cwd: process.cwd(),
      env: { ROLLMESH_NODE_TOKEN: made.token },
      log,
    });
    this.#nodes.push(node);
    const began = performance.now();
    await node.ready();
    this.#everyMs = Math.max(EVERY_MS, Math.ceil(2 * (performance.now() - began)));
    this.#joined++;
  }
}
