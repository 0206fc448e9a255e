/**
 * Computes sampling requests: the part of a node that runs in a thread of its own. Requests of one version under the same settings are
 * computed together, since a completion does not depend on what else is in its batch.
 */
import { RollmeshError } from '../../core/errors.ts';
import { isKept } from '../../core/images/image.ts';
import { imagesShown, keepRead } from '../../core/images/shown.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { adapterFile, weightsFile } from '../../core/schema/policy.ts';
import { filesToOpen, type SamplingRequest, settingsOf } from '../../core/schema/work.ts';
import type { Engines } from '../../infer/engines.ts';
import type { SharedWeights } from '../../infer/kernels/shared-weights.ts';
import { keyOf, OpenPolicies } from '../../infer/open-policies.ts';

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
  | ({ readonly call: number } & ComputeFailure);

/** Why nothing was computed, in the words of a RollmeshError where it is one. */
export type ComputeFailure = { readonly error: string } & Partial<
  Pick<RollmeshError, 'code' | 'expected' | 'next'>
>;

export function failureOf(error: unknown): ComputeFailure {
  if (!(error instanceof RollmeshError))
    return { error: error instanceof Error ? error.message : String(error) };
  const { code, what, expected, next } = error;
  return { error: what, code, expected, next };
}

/** What the node says of a thread that could not compute. `next`: what to do where the failure does not say it. */
export const cannotCompute = (
  { error, code = 'node.compute', expected, next }: ComputeFailure,
  otherwise: string,
): RollmeshError =>
  // Whatever another host could do: here it would fail again, so that the node ends.
  new RollmeshError('wrong-input', code, `This node cannot compute what it leased: ${error}`, {
    ...(expected ? { expected } : {}),
    next: `The requests were given back. ${next ?? otherwise}`,
  });

/** The version of a request by its name and by its files: meshes that a node serves one after the other may give one name to two. */
export const versionKey = (request: SamplingRequest): string =>
  `${keyOf(request.policy)}/${contentOf(request)}`;

const contentOf = (request: SamplingRequest): string =>
  filesToOpen(request)
    .map(({ sha256 }) => sha256)
    .join('/');

/** Where the threads of a node share weights, by the keys of versions. */
export type SharedByKey = Readonly<Record<string, SharedWeights>>;

/** How many policies stay open: those of a round's roles, and of the round before. */
export const OPEN = 4;

export class Computer {
  readonly #policies: OpenPolicies;
  #files: FileBytes = {};
  #shared: SharedByKey = {};
  /** What is being computed. */
  #request: SamplingRequest | undefined;
  readonly #clock: () => number;
  #generateMs = 0;

  /** `clock`: the time that generating is counted in, ms. */
  constructor(engines: Engines, clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#policies = new OpenPolicies(
      { ...engines, shared: () => this.#shared[versionKey(this.#request!)] },
      async () => this.#versionFiles(),
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
    this.#generateMs = 0;
    const out: Completion[][][] = [];
    for (const alike of alikeOf(requests)) {
      const request = requests[alike[0]!]!;
      this.#request = request;
      const settings = settingsOf(request);
      const prompts = alike.flatMap((i) => requests[i]!.prompts);
      for (const sha256 of imagesShown(prompts.map(({ ids }) => ids)))
        if (!isKept(sha256)) keepRead(sha256, this.#file(sha256));
      const made = await this.#policies.use(
        request.policy,
        async (policy) => {
          const began = this.#clock();
          const completions = await policy.generate(prompts, settings);
          this.#generateMs += this.#clock() - began;
          return completions;
        },
        contentOf(request),
      );
      let at = 0;
      for (const i of alike) {
        const { length } = requests[i]!.prompts;
        out[i] = made.slice(at, at + length);
        at += length;
      }
    }
    return out;
  }

  #versionFiles() {
    const { policy, config, weights, adapter } = this.#request!;
    return {
      'config.json': this.#file(config.sha256),
      [weightsFile(policy.set)]: this.#file(weights.sha256),
      ...(adapter ? { [adapterFile(policy.set)]: this.#file(adapter.sha256) } : {}),
    };
  }

  #file(sha256: string): Uint8Array {
    const found = this.#files[sha256];
    if (!found) throw new Error(`internal: the file ${sha256} was not handed over`);
    return found;
  }
}

/** Indices of requests that may be computed together. */
function alikeOf(requests: readonly SamplingRequest[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [i, request] of requests.entries()) {
    const key = JSON.stringify([request.policy, contentOf(request), request.settings]);
    groups.set(key, [...(groups.get(key) ?? []), i]);
  }
  return [...groups.values()];
}
