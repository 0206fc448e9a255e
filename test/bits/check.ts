/**
 * Nothing changed but the house: plays four recipes for a few rounds each in this process and compares the sha256 of every version's
 * files with the committed ones in `hashes.json`. A change of names, folders or types must pass it; a change of prompts, seeds,
 * advantages, losses or of the runtime does not. `npm run bits` compares, `npm run bits -- --write` records the hashes anew.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VersionFile } from '../../core/schema/policy.ts';
import { openDevice } from '../../learner/device/device.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { type RunOrder, runOf } from '../../recipes/run-order.ts';
import { type FileHashes, referenceRun } from '../../run/reference-run.ts';

interface Recorded {
  /** Where the hashes come from. Another Node or platform may come to other bits without any change of ours. */
  readonly madeOn: { readonly node: string; readonly platform: string; readonly commit: string };
  /** By recipe, the files of versions 0, 1, … */
  readonly versions: Readonly<Record<string, readonly FileHashes[]>>;
}

const RECORD = new URL('./hashes.json', import.meta.url);

/** Rounds until every set of weights has been trained: the verifier of tango has twelve rounds before its generator does. */
const ROUNDS = { trio: 4, tango: 13, ssp: 4, ragen: 4 };

/** The policies have names of their own, so that the hashes do not depend on how a run's policy is named by default. */
const ORDERS: readonly RunOrder[] = Object.entries(ROUNDS).map(([recipe, rounds]) => ({
  recipe,
  policy: `bits-${recipe}`,
  seed: 0,
  rounds,
  freeze: [],
  tasks: 8,
  groupSize: 4,
}));

/** The files that hold numbers. A version's configuration and tokenizer are copied from the version before it. */
const weightsOf = (files: FileHashes): FileHashes =>
  Object.fromEntries(Object.entries(files).filter(([file]) => file.endsWith('.safetensors')));

async function play(order: RunOrder): Promise<FileHashes[]> {
  const run = runOf(shipped, order);
  const files = await referenceRun(run, await readPolicyFolder(join('models', run.recipe.startPolicy)));
  const versions = files.map(weightsOf);
  const untrained = Object.entries(versions[0]!).filter(
    ([file, hash]) => versions.at(-1)![file as VersionFile] === hash,
  );
  if (untrained.length)
    throw new Error(
      `internal: ${order.rounds} rounds of ${order.recipe} left ${untrained[0]![0]} as it was: they show too little.`,
    );
  return versions;
}

await openDevice({ device: 'cpu', threads: 1 });
const versions: Record<string, readonly FileHashes[]> = {};
for (const order of ORDERS) {
  const began = performance.now();
  versions[order.recipe] = await play(order);
  console.log(`${order.recipe} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  for (const [version, files] of versions[order.recipe]!.entries())
    for (const [file, hash] of Object.entries(files)) console.log(`  version ${version}  ${hash}  ${file}`);
}

const here = { node: process.version, platform: `${process.platform} ${process.arch}` };
if (process.argv.includes('--write')) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const record: Recorded = { madeOn: { ...here, commit }, versions };
  await writeFile(RECORD, `${JSON.stringify(record, null, 2)}\n`);
  console.log(`Recorded on Node ${here.node}, ${here.platform}, at ${commit}.`);
  process.exit(0);
}

const recorded = JSON.parse(await readFile(RECORD, 'utf8')) as Recorded;
const { madeOn } = recorded;
const changed = Object.entries(recorded.versions).filter(
  ([recipe, played]) => JSON.stringify(played) !== JSON.stringify(versions[recipe]),
);
if (!changed.length)
  console.log(`The same bits as at ${madeOn.commit} on Node ${madeOn.node}, ${madeOn.platform}.`);
else {
  for (const [recipe, played] of changed) {
    const first = played.findIndex(
      (files, version) => JSON.stringify(files) !== JSON.stringify(versions[recipe]?.[version]),
    );
    console.error(`${recipe}: version ${first} has other weights than at ${madeOn.commit}.`);
  }
  if (madeOn.node !== here.node || madeOn.platform !== here.platform)
    console.error(
      `The hashes were recorded on Node ${madeOn.node}, ${madeOn.platform}; this is Node ${here.node}, ${here.platform}. To tell the change from the runtime, run the check at ${madeOn.commit} here.`,
    );
}
process.exit(changed.length ? 1 : 0);
