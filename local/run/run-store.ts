/** The store in which a run in one process keeps its versions and records. The mesh keeps the same things in R2 and D1. */
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';

export interface RunStore {
  /** Loads a version's files. Throws `missing-version` if the version does not exist. */
  loadVersion(ref: PolicyRef): Promise<VersionFiles>;
  /** Creates a version. One that exists is never overwritten. */
  commitVersion(ref: PolicyRef, files: VersionFiles): Promise<void>;
  /** The newest version's number; null if the policy does not exist. */
  currentVersion(policy: string): Promise<number | null>;
  putRecord(key: string, value: unknown): Promise<void>;
  getRecord(key: string): Promise<unknown>;
}

/** A store in memory, for short runs, tests and the page /try. Nothing outlives the process. */
export class MemoryRunStore implements RunStore {
  readonly #versions = new Map<string, (VersionFiles | undefined)[]>();
  readonly #records = new Map<string, string>();
  readonly #newest: number;

  /** `newest`: how many of a policy's newest versions are kept beside version 0; by default all. */
  constructor(newest = Number.POSITIVE_INFINITY) {
    this.#newest = newest;
  }

  loadVersion({ name, version }: PolicyRef): Promise<VersionFiles> {
    const files = this.#versions.get(name)?.[version];
    if (files) return Promise.resolve(files);
    const have = this.#versions.get(name)?.length ?? 0;
    return Promise.reject(
      new RollmeshError('missing-version', 'policy.missing', `Policy ${name} has no version ${version}.`, {
        expected: have ? `0 to ${have - 1}` : 'an imported policy',
      }),
    );
  }

  commitVersion({ name, version }: PolicyRef, files: VersionFiles): Promise<void> {
    const versions = this.#versions.get(name) ?? [];
    if (version !== versions.length)
      return Promise.reject(
        new RollmeshError('give-up', 'policy.order', `Version ${version} of ${name} cannot be committed.`, {
          expected: `version ${versions.length}, the next one`,
        }),
      );
    const dropped = version - this.#newest;
    this.#versions.set(name, [...versions.map((one, i) => (i > 0 && i <= dropped ? undefined : one)), files]);
    return Promise.resolve();
  }

  currentVersion(policy: string): Promise<number | null> {
    return Promise.resolve((this.#versions.get(policy)?.length ?? 0) - 1).then((n) => (n < 0 ? null : n));
  }

  putRecord(key: string, value: unknown): Promise<void> {
    this.#records.set(key, JSON.stringify(value));
    return Promise.resolve();
  }

  /** All records as lines of JSON, each with its key, in the order in which they were first put. */
  recordLines(): string[] {
    return [...this.#records].map(([key, value]) => `{"key":${JSON.stringify(key)},"value":${value}}\n`);
  }

  getRecord(key: string): Promise<unknown> {
    const text = this.#records.get(key);
    return Promise.resolve(text === undefined ? undefined : JSON.parse(text));
  }
}
