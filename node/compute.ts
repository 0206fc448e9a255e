/**
 * Computes sampling requests: the part of a node that runs in a thread of its own. Requests of one version under the same settings are
 * computed together, since a completion does not depend on what else is in its batch.
 */
import type { Completion, PolicyRef } from '../core/policy.ts';
import { adapterFile, weightsFile } from '../core/schema/policy.ts';
import { type SamplingRequest, settingsOf } from '../core/schema/work.ts';
import type { Engines } from '../infer/engines.ts';
import type { SharedWeights } from '../infer/kernels/shared-weights.ts';
import { keyOf, OpenPolicies } from '../infer/open-policies.ts';

/** The bytes of files by their sha256, as far as the computer has to open them. */
export type FileBytes = Readonly<Record<string, Uint8Array>>;

/** What a thread says first: it can compute. */
export const READY = 'ready';

/** What a thread is told, and what it answers: completions [requests][prompts][samples]. */
export interface ComputeCall {
  readonly call: number;
  readonly requests: readonly SamplingRequest[];
  readonly files: FileBytes;
}
export type ComputeAnswer =
  | {
      readonly call: number;
      readonly completions: readonly (readonly Completion[][])[];
      /** What generating took of the time that `Computer` was told to count, ms; opening versions is not in it. */
      readonly generateMs: number;
    }
  | { readonly call: number; readonly error: string };

/** Where the threads of a node share weights, by the keys of policies. */
export type SharedByKey = Readonly<Record<string, SharedWeights>>;

/** How many policies stay open: those of a round's roles, and of the round before. */
export const OPEN = 4;

export class Computer {
  readonly #policies: OpenPolicies;
  #files: FileBytes = {};
  #shared: SharedByKey = {};
  #requests: readonly SamplingRequest[] = [];
  readonly #clock: () => number;
  #generateMs = 0;

  /** `clock`: the time that generating is counted in, ms. */
  constructor(engines: Engines, clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#policies = new OpenPolicies(
      { ...engines, shared: (ref) => this.#shared[keyOf(ref)] },
      async (ref) => this.#filesOf(ref),
      OPEN,
    );
  }

  /** What the last call took to generate, prompts read and versions not opened, ms. */
  get generateMs(): number {
    return this.#generateMs;
  }

  /** [requests][prompts][samples]. The calls must come one after the other. What is in `shared` must stay as it is until the call has ended. */
  async compute(
    requests: readonly SamplingRequest[],
    files: FileBytes,
    shared: SharedByKey = {},
  ): Promise<Completion[][][]> {
    this.#files = files;
    this.#shared = shared;
    this.#requests = requests;
    this.#generateMs = 0;
    const out: Completion[][][] = [];
    for (const alike of alikeOf(requests)) {
      const { policy: ref } = requests[alike[0]!]!;
      const settings = settingsOf(requests[alike[0]!]!);
      const prompts = alike.flatMap((i) => requests[i]!.prompts);
      const made = await this.#policies.use(ref, async (policy) => {
        const began = this.#clock();
        const completions = await policy.generate(prompts, settings);
        this.#generateMs += this.#clock() - began;
        return completions;
      });
      let at = 0;
      for (const i of alike) {
        const { length } = requests[i]!.prompts;
        out[i] = made.slice(at, at + length);
        at += length;
      }
    }
    return out;
  }

  #filesOf(ref: PolicyRef) {
    const { config, weights, adapter } = this.#requests.find(
      ({ policy }) => policy.name === ref.name && policy.version === ref.version && policy.set === ref.set,
    )!;
    const bytes = (sha256: string) => {
      const found = this.#files[sha256];
      if (!found) throw new Error(`internal: the file ${sha256} was not handed over`);
      return found;
    };
    return {
      'config.json': bytes(config.sha256),
      [weightsFile(ref.set)]: bytes(weights.sha256),
      ...(adapter ? { [adapterFile(ref.set)]: bytes(adapter.sha256) } : {}),
    };
  }
}

/** Indices of requests that may be computed together. */
function alikeOf(requests: readonly SamplingRequest[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [i, { policy, settings }] of requests.entries()) {
    const key = JSON.stringify([policy, settings]);
    groups.set(key, [...(groups.get(key) ?? []), i]);
  }
  return [...groups.values()];
}
