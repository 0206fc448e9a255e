/** Nodes that join a mesh and are killed at random, for as long as a run plays: each a process of one thread with a token of its own. */

import { existsSync, readFileSync } from 'node:fs';
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
  /** How many of them lie in a part of their results; one that is shut out is followed by another. */
  readonly liars: number;
  readonly random: Random;
  /** The file to which the nodes' standard error is appended. */
  readonly log: string;
}

/** How many nodes joined, and how many of them were killed while the run played. */
export interface Churned {
  readonly joined: number;
  readonly killed: number;
  /** Lies that were told, by what they changed. */
  readonly lies: Readonly<Record<string, number>>;
}

/** How the names of those begin that lie. */
export const LIAR = 'liar';

export class Churn {
  readonly #options: ChurnOptions;
  #nodes: Child[] = [];
  readonly #liars = new Set<Child>();
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
    return { joined: this.#joined, killed: this.#killed, lies: this.#lies() };
  }

  #lies(): Record<string, number> {
    const { log } = this.#options;
    const told: Record<string, number> = {};
    for (const [, lie] of existsSync(log) ? readFileSync(log, 'utf8').matchAll(/^\{"lie":"(.*)"\}$/gm) : [])
      told[lie!] = (told[lie!] ?? 0) + 1;
    return told;
  }

  async #go(): Promise<void> {
    const { most, random } = this.#options;
    while (!this.#over) {
      // A liar ends by itself when it is shut out.
      this.#nodes = this.#nodes.filter((node) => node.running);
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
    const { url, gateway, log, liars, random } = this.#options;
    const lies = this.#nodes.filter((node) => this.#liars.has(node)).length < liars;
    // The mesh may be down at this moment; an order that it heard without being able to say so leaves a node that never comes.
    const made = await gateway
      .makeNode(`${lies ? LIAR : 'churn'}-${this.#joined + 1}-${Date.now().toString(36)}`)
      .catch(() => null);
    if (!made) return;
    const node = new Child({
      script: lies ? 'test/faults/lying-node' : 'cli/rollmesh',
      args: lies ? [url, `${random.int(2 ** 31)}`] : ['node', '--mesh', url, '--threads', '1', '--json'],
      cwd: process.cwd(),
      env: { ROLLMESH_NODE_TOKEN: made.token },
      log,
    });
    this.#nodes.push(node);
    if (lies) this.#liars.add(node);
    const began = performance.now();
    await node.ready();
    this.#everyMs = Math.max(EVERY_MS, Math.ceil(2 * (performance.now() - began)));
    this.#joined++;
  }
}
