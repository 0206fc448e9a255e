/**
 * What a run must come to when nothing goes wrong: the same rounds in this process, without queues, Workers, leases or
 * evaluation. The yardstick for runs in which everything goes wrong.
 */
import { sha256Hex } from '../../core/random.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { playStages } from '../../core/roles/play-stages.ts';
import { openStage } from '../../core/roles/stage.ts';
import { fileEntries, type VersionFile, type VersionFiles } from '../../core/schema/policy.ts';
import { newestOf, roundOf } from '../../core/schema/round.ts';
import { memoryOf } from '../../core/text/policy-memory.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { bindingsOf, type OrderedRun } from '../../recipes/run-order.ts';

/** sha256 of each file of a version. */
export type FileHashes = Partial<Record<VersionFile, string>>;

export const hashesOf = (files: VersionFiles): FileHashes =>
  Object.fromEntries(fileEntries(files).map(([file, bytes]) => [file, sha256Hex(bytes)]));

/** Plays the run's rounds from `start` and returns the hashes of versions 0, 1, …. A device must be open. */
export async function undisturbed(
  { recipe, settings, rounds }: OrderedRun,
  start: VersionFiles,
): Promise<FileHashes[]> {
  const versions: VersionFiles[] = [start];
  const load = (version: number) => Promise.resolve(versions[version]!);
  const policies = new OpenPolicies(nodeEngines, ({ version }) => load(version));
  const text = textOf(start, settings.policy);
  const trainer = new RoundTrainer();
  for (let index = 1; index <= rounds; index++) {
    const parent = index - 1;
    const round = roundOf(settings, bindingsOf(recipe, settings), index, parent);
    const memory = () => Promise.resolve(memoryOf(versions[newestOf(round).version]!));
    const stage = openStage({ recipe, round, ...text, memory, use: policies.use });
    const records = await playStages(stage);
    const { files } = await trainer.train({ recipe, round, ...records, parent, next: index, load });
    versions.push(files);
  }
  await policies.dispose();
  trainer.dispose();
  return versions.map(hashesOf);
}
