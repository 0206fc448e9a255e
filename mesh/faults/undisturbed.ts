/**
 * What a run must come to when nothing goes wrong: the same rounds in this process, without queues, Workers, leases or
 * evaluation. The yardstick for runs in which everything goes wrong.
 */
import type { Policy } from '../../core/policy.ts';
import { sha256Hex } from '../../core/random.ts';
import { assemble } from '../../core/roles/assemble.ts';
import { judge } from '../../core/roles/judge.ts';
import { propose } from '../../core/roles/propose.ts';
import { solve } from '../../core/roles/solve.ts';
import type { RoleName, Stage } from '../../core/roles/stage.ts';
import type { VersionFile, VersionFiles } from '../../core/schema/policy.ts';
import { type RoundSpec, roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { openVersion } from '../../infer/open-version.ts';
import { loadOrt } from '../../infer/ort.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import type { OrderedRun } from '../../recipes/run-order.ts';

/** sha256 of each file of a version. */
export type FileHashes = Partial<Record<VersionFile, string>>;

export const hashesOf = (files: VersionFiles): FileHashes =>
  Object.fromEntries(Object.entries(files).map(([file, bytes]) => [file, sha256Hex(bytes)]));

/** Plays the run's rounds from `start` and returns the hashes of versions 0, 1, …. A device must be open. */
export async function undisturbed(
  { recipe, settings, rounds }: OrderedRun,
  start: VersionFiles,
): Promise<FileHashes[]> {
  const versions: VersionFiles[] = [start];
  const trainer = new RoundTrainer();
  for (let index = 1; index <= rounds; index++) {
    const round = roundOf(settings, recipe.roles, index, index - 1);
    const { proposals, groups } = await withPolicies(
      round,
      versions,
      async (stageOf) => {
        const proposals = await propose(stageOf('proposer'));
        const rolled = await solve(stageOf('solver'), proposals.tasks);
        return { proposals, groups: await judge(stageOf('judge'), rolled) };
      },
      recipe,
    );
    const { files } = await trainer.train({
      recipe,
      round,
      batches: assemble(recipe, round, proposals, groups),
      parent: index - 1,
      next: index,
      load: (version) => Promise.resolve(versions[version]!),
    });
    versions.push(files);
  }
  trainer.dispose();
  return versions.map(hashesOf);
}

/** Opens each version that the round names once, and closes them all. */
async function withPolicies<T>(
  round: RoundSpec,
  versions: readonly VersionFiles[],
  work: (stageOf: (role: RoleName) => Stage) => Promise<T>,
  recipe: OrderedRun['recipe'],
): Promise<T> {
  const runtime = await loadOrt();
  const open = new Map<number, Policy>();
  for (const { name, version } of Object.values(round.roles))
    if (!open.has(version))
      open.set(version, await openVersion(runtime, { name, version }, versions[version]!));
  try {
    return await work((role) => {
      const { name, version } = round.roles[role]!;
      return {
        recipe,
        round,
        policy: open.get(version)!,
        tokenizer: tokenizerOf(versions[version]!, name),
      };
    });
  } finally {
    for (const policy of open.values()) await policy.dispose();
  }
}
