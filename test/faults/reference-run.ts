/**
 * The reference run: the same rounds in this process with nothing going wrong, without queues, Workers, leases or evaluation.
 * Runs under injected faults are compared with it.
 */

import type { AskService } from '../../core/net/reward-service.ts';
import { sha256Hex } from '../../core/random.ts';
import { openRoundContext, type ReadStored } from '../../core/recipe/round-context.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { nextRounds } from '../../core/round/rounds-ahead.ts';
import { fileEntries, type VersionFile, type VersionFiles } from '../../core/schema/policy.ts';
import { newestOf } from '../../core/schema/round.ts';
import { recipeStateOf } from '../../core/text/recipe-state.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { bindingsOf, type OrderedRun } from '../../recipes/run-order.ts';

/** The sha256 of each file of a version. */
export type FileHashes = Partial<Record<VersionFile, string>>;

export const hashesOf = (files: VersionFiles): FileHashes =>
  Object.fromEntries(fileEntries(files).map(([file, bytes]) => [file, sha256Hex(bytes)]));

/**
 * Plays the run's rounds from `start` and returns the hashes of versions 0, 1, …. A device must be open. `askService`: for rewards of
 * services; `others`: version 0 of the policies that judge or teach, by name; `readStored`: the tasks of a large file.
 */
export async function referenceRun(
  { recipe, settings, rounds }: OrderedRun,
  start: VersionFiles,
  askService?: AskService,
  others: ReadonlyMap<string, VersionFiles> = new Map(),
  readStored?: ReadStored,
): Promise<FileHashes[]> {
  const versions: VersionFiles[] = [start];
  const otherFiles = async (name: string) => {
    const files = others.get(name);
    if (files) return files;
    throw new Error(`internal: policy ${name} was not given`);
  };
  const load = (version: number, name = settings.policy) =>
    name === settings.policy ? Promise.resolve(versions[version]!) : otherFiles(name);
  const policies = new OpenPolicies(nodeEngines, ({ name, version }) => load(version, name));
  const text = textOf(start, settings.policy);
  const trainer = new RoundTrainer();
  for (let index = 1; index <= rounds; index++) {
    const parent = index - 1;
    const progress = { settings, roles: bindingsOf(recipe, settings), target: rounds, last: parent, open: 0 };
    const [round] = nextRounds(progress, [...versions.keys()].toReversed());
    if (!round) throw new Error(`internal: round ${index} is not due`);
    const recipeState = () => Promise.resolve(recipeStateOf(versions[newestOf(round).version]!));
    const context = openRoundContext({
      recipe,
      round,
      ...text,
      textOf: async ({ name }) => textOf(await otherFiles(name), name),
      recipeState,
      askService,
      readStored,
      use: policies.use,
    });
    const records = await playStages(context);
    const { files } = await trainer.train({ recipe, round, ...records, parent, next: index, load });
    versions.push(files);
  }
  await policies.dispose();
  trainer.dispose();
  return versions.map(hashesOf);
}
