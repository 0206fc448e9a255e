/**
 * A cache of the policies that are open in a process, each by its exact version and parameter set; the least recently used one is closed
 * first. It is for Node, where several fit; an isolate has room for one (workers/shared/policy-session.ts).
 */
import type { Policy, PolicyRef } from '../core/policy/policy.ts';
import type { VersionFiles } from '../core/schema/policy.ts';
import { adapterFile, headFile, MAIN_SET, setFiles, weightsFile } from '../core/schema/policy.ts';
import type { Engines } from './engines.ts';
import { openVersion } from './open-version.ts';

/** A policy's own name among all that a process may open. */
export const keyOf = ({ name, version, set, weights, engine }: PolicyRef) =>
  `${name}@${version}/${set ?? MAIN_SET}/${weights ?? 'float32'}/${engine ?? 'onnx'}`;

export class OpenPolicies {
  readonly #engines: Engines;
  readonly #load: (ref: PolicyRef) => Promise<VersionFiles>;
  readonly #capacity: number;
  /** The open policies in the order of their last use. */
  readonly #open = new Map<string, Policy>();

  /** `load` must return at least the files that `filesOf` names. */
  constructor(engines: Engines, load: (ref: PolicyRef) => Promise<VersionFiles>, capacity = 4) {
    this.#engines = engines;
    this.#load = load;
    this.#capacity = capacity;
  }

  /**
   * Runs `work` with exactly this policy. The uses in a process must come one after the other. `content` tells its files from others that a
   * version of this name may have.
   */
  readonly use = async <T>(
    ref: PolicyRef,
    work: (policy: Policy) => Promise<T>,
    content = '',
  ): Promise<T> => {
    // Weights that threads share may lie elsewhere than when the policy was opened.
    const key = `${keyOf(ref)}/${content}/${this.#engines.shared?.(ref)?.id ?? ''}`;
    let policy = this.#open.get(key);
    this.#open.delete(key);
    if (!policy) {
      await this.#shrink(this.#capacity - 1);
      policy = await openVersion(this.#engines, ref, await this.files(ref));
    }
    this.#open.set(key, policy);
    return work(policy);
  };

  /** Loads the files of a version's set; those that are version 0's from there. */
  async files(ref: PolicyRef): Promise<VersionFiles> {
    const own = await this.#load(ref);
    if (own[weightsFile(ref.set)]) return own;
    const start = await this.#load({ name: ref.name, version: 0 });
    const { weights, adapter } = setFiles(own, ref.set, start);
    const head = own[headFile(ref.set)];
    return {
      ...start,
      ...(head ? { [headFile(ref.set)]: head } : {}),
      ...(weights ? { [weightsFile(ref.set)]: weights } : {}),
      ...(adapter ? { [adapterFile(ref.set)]: adapter } : {}),
    };
  }

  async #shrink(size: number): Promise<void> {
    for (const [key, policy] of this.#open) {
      if (this.#open.size <= size) return;
      this.#open.delete(key);
      await policy.dispose();
    }
  }

  dispose(): Promise<void> {
    return this.#shrink(0);
  }
}

/** The files that are needed to open a policy. */
export const filesOf = ({ set }: PolicyRef) =>
  ['config.json', 'tokenizer.json', weightsFile(set), adapterFile(set), headFile(set)] as const;
