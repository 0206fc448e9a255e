/**
 * Commits a version: checks its files, notes the hash of its manifest in the database, writes the manifest, then moves the policy's pointer
 * and the round in one transaction. A crash between the last two steps leaves a manifest without a pointer; the next call, or the clock,
 * completes it, because it was noted. A manifest that was never noted is written over.
 */
import { RollmeshError } from '../../core/errors.ts';
import type { Committed } from '../../core/schema/answers.ts';
import { type Manifest, manifestSha256 } from '../../core/schema/policy.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import { manifestOf } from '../shared/committed.ts';
import { log } from '../shared/log.ts';
import { pendingManifest, writeManifest } from '../store/pending-manifest.ts';
import { commitVersion, createPolicy, getPolicy, getVersion, nextVersion } from '../store/policies.ts';
import { getRound, roundBefore } from '../store/rounds.ts';
import { dueRounds, getRun } from '../store/runs.ts';
import { committedAlready } from '../store/version-objects.ts';
import { readManifest, verifyFiles, verifyModel, verifyTokenizer } from '../store/versions.ts';
import type { Services } from './services.ts';
import { sendProposal } from './webhook.ts';

/** Are they equal apart from the audit? A learner that was restarted trains the same bytes but draws another share for its audit. */
const sameManifest = ({ audit: _a, ...a }: Manifest, { audit: _b, ...b }: Manifest) =>
  JSON.stringify(a) === JSON.stringify(b);

export async function commit(services: Services, asked: Manifest): Promise<Committed> {
  const { db, bucket } = services;
  const ref = { name: asked.policy, version: asked.version };
  if (await getVersion(db, ref)) {
    const stored = await readManifest(bucket, ref);
    if (!stored || !sameManifest(stored, asked)) throw committedAlready(ref);
    return { version: ref.version, created: false, nextRound: null };
  }
  const pending = await pendingManifest(db, bucket, ref);
  if (!pending) {
    await refuseUnfit(services, asked);
    const parent =
      asked.parent === null ? null : await manifestOf(services, { ...ref, version: asked.parent });
    await verifyFiles(bucket, asked, parent);
    await verifyModel(bucket, asked);
    await verifyTokenizer(bucket, asked, parent);
    await writeManifest(db, bucket, asked);
  }
  // A manifest that was noted and written defines the version, even if another learner did it.
  const manifest = pending ?? asked;
  const done = await completeCommit(services, manifest);
  if (!sameManifest(manifest, asked)) throw committedAlready(ref);
  return done;
}

/** Before anything is written: throws if this version cannot follow from the present state of the policy and the round. */
async function refuseUnfit({ db }: Services, manifest: Manifest): Promise<void> {
  const policy = await getPolicy(db, manifest.policy);
  const next = policy ? await nextVersion(db, manifest.policy) : 0;
  if (manifest.version !== next)
    throw conflict(
      'version.number',
      `The next version of ${manifest.policy} is not ${manifest.version}.`,
      `${next}`,
    );
  if (manifest.parent !== (policy?.current ?? null))
    throw conflict(
      'version.parent',
      `Version ${manifest.version} was not trained from the current version of ${manifest.policy}.`,
      `parent ${policy?.current ?? null}`,
    );
  if (manifest.round === null) return;
  const round = await getRound(db, manifest.round);
  if (round?.state !== 'training' || round.spec.settings.policy !== manifest.policy)
    throw conflict(
      'version.round',
      `Round ${manifest.round} does not wait for a version of ${manifest.policy}.`,
      'a round in state training',
    );
  const before = await roundBefore(db, round);
  if (before !== null)
    throw conflict(
      'version.order',
      `Round ${round.index} of its run cannot be trained yet: round ${before} comes before it and has not ended.`,
      'the rounds of a run in their order',
    );
}

const conflict = (code: string, what: string, expected: string) =>
  new RollmeshError('give-up', code, what, { expected, next: 'Read the policy and the round again.' });

/** Moves the pointer to a manifest that was verified and noted, and is stored. */
export async function completeCommit(services: Services, manifest: Manifest): Promise<Committed> {
  const { db, now } = services;
  const ref = { name: manifest.policy, version: manifest.version };
  if (manifest.parent === null) {
    const created = await createPolicy(db, manifest, now());
    if (!created) await refuseOther(db, manifest);
    return { version: ref.version, created, nextRound: null };
  }
  const next = await roundsAfter(services, manifest);
  const created = await commitVersion(db, manifest, next, now());
  if (!created) await refuseOther(db, manifest);
  if (created)
    log('info', 'version.committed', { policy: ref.name, version: ref.version, round: manifest.round });
  if (created) for (const spec of next) await sendProposal(services, spec);
  return { version: ref.version, created, nextRound: next[0]?.id ?? null };
}

/** Throws unless this manifest is the version's. */
async function refuseOther(db: Services['db'], manifest: Manifest): Promise<void> {
  const { policy: name, version } = manifest;
  if ((await getVersion(db, { name, version }))?.manifestSha256 === manifestSha256(manifest)) return;
  throw conflict('version.parent', `Version ${version} of ${name} lost a race.`, 'a new version');
}

/** The rounds that begin with the commit of a version. */
async function roundsAfter({ db }: Services, manifest: Manifest): Promise<RoundSpec[]> {
  const { version, parent } = manifest;
  const round = manifest.round === null ? undefined : await getRound(db, manifest.round);
  const run = round && (await getRun(db, round.run));
  return run && parent !== null ? dueRounds(db, run, { round: round.id, version, parent }) : [];
}
