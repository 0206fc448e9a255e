/**
 * Trains a version again from the sealed records of its round and compares the bytes. It reads what the mesh has stored, and writes
 * nothing; whoever runs it needs to trust neither the learner that trained the version nor the machine that stores it.
 */

import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { isByServer } from '../../core/plan/by-server.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { sha256Hex } from '../../core/random.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import type { PolicyState, RoundState } from '../../core/schema/answers.ts';
import {
  type Manifest,
  manifestSha256,
  type VersionFile,
  type VersionFiles,
} from '../../core/schema/policy.ts';
import { keys, manifestKey } from '../../core/schema/round.ts';
import { type Gathered, gatherRound } from '../../learner/loop/gather.ts';
import type { LoadObjective } from '../../learner/train/objective-modules.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { wrongRound } from '../../recipes/run-order.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

/** A file of a version: the hash by which it was committed, and that of the bytes that training again gave. */
export interface ComparedFile {
  readonly file: string;
  readonly committed: string | null;
  readonly trainedAgain: string | null;
}

export interface VerifiedVersion {
  readonly version: number;
  readonly parent: number;
  /** Index of the round in its run, and the number of groups that the version was trained on. */
  readonly round: number;
  readonly groups: number;
  readonly files: readonly ComparedFile[];
  /** Every file has the committed bytes. */
  readonly same: boolean;
  /** What trained the version, as its manifest says. */
  readonly trainedOn: string;
  readonly wallMs: number;
}

/** What is read of a mesh. */
export type VerifiedMesh = Pick<
  GatewayClient,
  'getPolicy' | 'listPolicies' | 'getManifest' | 'getVersion' | 'getRound' | 'getGroups' | 'getObject'
>;

export interface VerifySettings {
  readonly recipes: Registry;
  /** The key by which seals are checked; without it they are not checked. */
  readonly meshKey: string | undefined;
  readonly objectives: LoadObjective;
  /** Called with the files of each version that was trained again to the committed bytes. */
  readonly keep?: (version: number, files: VersionFiles) => void;
}

/** A policy with its manifests, each checked against the hash in the database. */
export class VersionChain {
  readonly #gateway: VerifiedMesh;
  readonly #policy: PolicyState;

  private constructor(gateway: VerifiedMesh, policy: PolicyState) {
    this.#gateway = gateway;
    this.#policy = policy;
  }

  /** Throws `policy.unknown`. */
  static async open(gateway: VerifiedMesh, name: string): Promise<VersionChain> {
    const policy = await gateway.getPolicy(name);
    if (policy) return new VersionChain(gateway, policy);
    throw wrongInput('policy.unknown', `There is no policy ${name}.`, {
      expected: `one of ${(await gateway.listPolicies()).join(', ') || 'none: nothing is stored here'}`,
      next: 'Run `npx rollmesh policy list`.',
    });
  }

  get policy(): PolicyState {
    return this.#policy;
  }

  get name(): string {
    return this.#policy.name;
  }

  /** What the database keeps of a version. Throws `version.unknown`. */
  row(version: number) {
    const row = this.#policy.versions.find((candidate) => candidate.version === version);
    if (row) return row;
    const known = this.#policy.versions.map((candidate) => candidate.version);
    throw wrongInput('version.unknown', `Policy ${this.name} has no version ${version}.`, {
      expected: `a version from ${Math.min(...known)} to ${Math.max(...known)}`,
    });
  }

  /** Throws `version.manifest` where the stored manifest is not the one that was committed. */
  async manifest(version: number): Promise<Manifest> {
    const { manifestSha256: committed } = this.row(version);
    const stored = await this.#gateway.getManifest({ name: this.name, version });
    if (manifestSha256(stored) === committed) return stored;
    throw new RollmeshError(
      'give-up',
      'version.manifest',
      `The manifest of version ${version} of ${this.name} is not the one that was committed.`,
      { expected: `a manifest of sha256 ${committed}`, next: 'Somebody wrote to the object store.' },
    );
  }

  /** The manifest of a version that a round made, and the round's id. Throws `verify.imported` for another one, and `verify.server` for one that a server trained. */
  async trained(version: number): Promise<{ manifest: Manifest; parent: number; round: string }> {
    const manifest = await this.manifest(version);
    const { parent, round } = manifest;
    if (parent === null || round === null) throw withoutRecords(this.name, manifest);
    if (isByServer(manifest.settings.device))
      throw wrongInput(
        'verify.server',
        `Version ${version} of ${this.name} was trained by a server of Tinker's API (${manifest.settings.device}), and cannot be trained again here.`,
        {
          expected: 'a version that a learner trained on a device of its own',
          next: 'Its samples can be drawn again: `npx rollmesh audit`.',
        },
      );
    return { manifest, parent, round };
  }

  /** The versions after `from` up to `to` along the chain of parents, oldest first. Throws `verify.from` where `from` is not an ancestor. */
  since(from: number, to: number): number[] {
    const versions: number[] = [];
    let at: number | null = to;
    for (; at !== null && at > from; at = this.row(at).parent) versions.unshift(at);
    if (at === from) return versions;
    throw wrongInput('verify.from', `Version ${to} of ${this.name} does not descend from version ${from}.`, {
      expected: `0, or one of ${versions.slice(0, -1).join(', ') || 'its ancestors'}`,
    });
  }

  /** The names of the recipes whose rounds made the versions. */
  async recipesOf(versions: readonly number[]): Promise<string[]> {
    const names = new Set<string>();
    for (const version of versions) {
      const { round } = await this.manifest(version);
      if (round !== null) names.add((await this.#gateway.getRound(round)).spec.settings.recipe);
    }
    return [...names];
  }

  /** Loads a version's files. Throws `version.pruned` where retention removed them. */
  async load(version: number) {
    const { prunedAt, manifestSha256: committed } = this.row(version);
    if (prunedAt !== null)
      throw new RollmeshError(
        'give-up',
        'version.pruned',
        `The files of version ${version} of ${this.name} were removed by retention, so nothing can be trained from it again.`,
        { next: 'Verify a version whose parent is kept; KEEP_VERSIONS in wrangler.toml says how many are.' },
      );
    const ref: PolicyRef = { name: this.name, version };
    return this.#gateway.getVersion(ref, undefined, committed);
  }
}

/** Trains one version again. A device must be open. */
export async function verifyVersion(
  gateway: VerifiedMesh,
  chain: VersionChain,
  version: number,
  settings: VerifySettings,
): Promise<VerifiedVersion> {
  const began = performance.now();
  const { manifest, parent, round: id } = await chain.trained(version);
  const round = await gateway.getRound(id);
  const wrong = wrongRound(settings.recipes, round.spec);
  if (wrong !== null) throw damaged(chain.name, version, wrong);
  const { proposals, groups } = await recordsOf(gateway, manifest, round, settings.meshKey);
  // A trainer of its own for each version, so that it begins from the stored parent and not from what was trained before.
  const trainer = new RoundTrainer({ objectives: settings.objectives });
  try {
    const recipe = settings.recipes.find(round.spec.settings.recipe);
    const load = (wanted: number, policy = chain.name) => {
      if (policy === chain.name) return chain.load(wanted);
      // A teacher: the round says which bytes it had.
      const ref = { name: policy, version: wanted };
      return gateway.getVersion(ref, undefined, round.manifests[manifestKey(round.spec, ref)]);
    };
    const readImage = (sha256: string) => gateway.getObject(keys.tasks(sha256));
    const work = { recipe, round: round.spec, proposals, groups, parent, next: version, load, readImage };
    const { files } = await trainer.train(work);
    const compared = compare(manifest, files);
    const same = compared.every(({ committed, trainedAgain }) => committed === trainedAgain);
    if (same) settings.keep?.(version, files);
    return {
      version,
      parent,
      round: round.index,
      groups: groups.length,
      files: compared,
      same,
      trainedOn: String(manifest.settings.device ?? 'an unknown device'),
      wallMs: Math.round(performance.now() - began),
    };
  } finally {
    trainer.dispose();
  }
}

/** The records that the version was trained on, each checked against hash and seal. Throws `verify.records` where one is not as it was. */
async function recordsOf(
  gateway: VerifiedMesh,
  { policy, version, groups: trained }: Manifest,
  round: RoundState,
  meshKey: string | undefined,
): Promise<Gathered> {
  const listed = await gateway.getGroups(round.id);
  const messages = trained.map((group) => {
    const row = listed.find((candidate) => candidate.group === group);
    if (!row || row.sha256 === null || row.mac === null)
      throw damaged(policy, version, `round ${round.index} has no scored group ${group}`);
    const { index, sha256, mac } = row;
    return { v: 1 as const, round: round.id, group, index, key: keys.scored(round.id, group), sha256, mac };
  });
  const gathered = await gatherRound(gateway, round, listed, messages, meshKey);
  const [refused] = gathered.refused;
  if (refused)
    throw damaged(
      policy,
      version,
      `of its ${trained.length} groups ${gathered.refused.length} cannot be used; group ${refused.group}: ${refused.failure.message}`,
    );
  return gathered;
}

export const nothingBetween = (from: number, version: number) =>
  wrongInput('verify.from', `Nothing lies between version ${from} and version ${version}.`, {
    expected: `--from with a number below ${version}`,
  });

const damaged = (policy: string, version: number, why: string) =>
  new RollmeshError(
    'give-up',
    'verify.records',
    `The records that version ${version} of ${policy} was trained on are not as they were sealed: ${why}`,
    {
      next: 'Restore the objects under rounds/, or run `npx rollmesh audit` on the round to see all that differs.',
    },
  );

function withoutRecords(policy: string, { version, parent, settings }: Manifest) {
  const from = settings.forkedFrom ?? settings.importedFrom ?? settings.madeBy;
  const origin = typeof from === 'string' ? ` (${from})` : '';
  return wrongInput(
    'verify.imported',
    parent === null
      ? `Version ${version} of ${policy} was imported and not trained${origin}: there is nothing to train again.`
      : `Version ${version} of ${policy} was not trained by a round of the mesh${origin}, so it has no sealed records.`,
    { expected: 'a version that a round of the mesh has made' },
  );
}

function compare(
  manifest: Manifest,
  files: Readonly<Partial<Record<VersionFile, Uint8Array>>>,
): ComparedFile[] {
  const names = new Set([...Object.keys(manifest.files), ...Object.keys(files)]);
  return [...names].sort().map((file) => {
    const bytes = files[file as VersionFile];
    return {
      file,
      committed: manifest.files[file]?.sha256 ?? null,
      trainedAgain: bytes ? sha256Hex(bytes) : null,
    };
  });
}
