/** Writes played runs into D1 and R2 by the mesh's own statements, as its Workers and its learner leave them. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { proposalOutcomes } from '../../../core/episodes/play-episodes.ts';
import { bringImages } from '../../../core/images/shown.ts';
import { sha256Hex } from '../../../core/random.ts';
import { fileEntries, type Manifest, type VersionFiles } from '../../../core/schema/policy.ts';
import { keys, roundOf } from '../../../core/schema/round.ts';
import { bindingsOf } from '../../../recipes/run-order.ts';
import type { Database } from '../../../workers/store/database.ts';
import { markScored } from '../../../workers/store/groups.ts';
import { putJson } from '../../../workers/store/objects.ts';
import { commitVersion, createPolicy, noteCommit } from '../../../workers/store/policies.ts';
import { admitTasks, setReport } from '../../../workers/store/rounds.ts';
import { advanceRun, orderRounds } from '../../../workers/store/runs.ts';
import { storeImage } from '../../../workers/store/stored-tasks.ts';
import type { PlayedRound, PlayedRun } from './play.ts';

export interface Stored {
  readonly db: Database;
  readonly bucket: R2Bucket;
}

async function putVersion(
  { db, bucket }: Stored,
  policy: string,
  version: number,
  files: VersionFiles,
  round: PlayedRound | null,
) {
  const entries: Manifest['files'] = {};
  for (const [file, bytes] of fileEntries(files)) {
    entries[file] = { sha256: sha256Hex(bytes), bytes: bytes.length };
    // Nobody samples here: a reader needs the tokenizer and no weights.
    if (file === 'tokenizer.json') await bucket.put(keys.version(policy, version, file), bytes);
  }
  const manifest: Manifest = {
    policy,
    version,
    parent: version === 0 ? null : version - 1,
    files: entries,
    groups: round?.groups.map(({ group }) => group) ?? [],
    round: round?.spec.id ?? null,
    settings: {},
  };
  await noteCommit(db, manifest, null);
  await putJson(bucket, keys.version(policy, version, 'manifest.json'), manifest);
  return manifest;
}

/** `now`: when the run was ordered, ms since 1970; each of its rounds takes a second. */
export async function storeRun(
  stored: Stored,
  { run, start, rounds, versions }: PlayedRun,
  now: number,
): Promise<void> {
  const { db, bucket } = stored;
  const { settings, recipe } = run;
  const roles = bindingsOf(recipe, settings);
  await createPolicy(db, await putVersion(stored, settings.policy, 0, versions[0]!, null), now);
  await orderRounds(db, { delivery: `d-${settings.policy}`, settings, roles, rounds: run.rounds, now });
  await advanceRun(db, rounds[0]!.spec.run, now);
  for (const [i, round] of rounds.entries()) {
    const { spec, proposals, groups, line } = round;
    const at = now + 1000 * i;
    // What a recipe draws is kept by the process that played it.
    await bringImages(
      groups.flatMap(({ samples, judgments }) => [...samples, ...judgments].map(({ prompt }) => prompt)),
      {
        read: (image) => Promise.reject(new Error(`the image ${image} is not kept`)),
        put: (image, bytes) => storeImage(bucket, image, bytes),
      },
    );
    const sha256 = await putJson(bucket, keys.proposals(spec.id), proposals);
    const proposed = proposalOutcomes(proposals).length;
    await admitTasks(db, spec.id, proposals.tasks, proposed, at + 100, sha256);
    const scored = await Promise.all(
      groups.map(async (group) => ({
        group: group.group,
        sha256: await putJson(bucket, keys.scored(spec.id, group.group), group),
      })),
    );
    await markScored(db, spec.id, scored, at + 500);
    const manifest = await putVersion(stored, settings.policy, line.to, versions[line.to]!, round);
    const next = i + 1 < run.rounds ? [roundOf(settings, roles, spec.index + 1, line.to)] : [];
    if (!(await commitVersion(db, manifest, next, at + 900)))
      throw new Error(`Round ${spec.index} of ${recipe.name} was not committed.`);
    await setReport(db, spec.id, { ...line.report, ...(i === 0 ? { start } : {}) });
  }
}
