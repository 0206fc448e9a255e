/**
 * Commits a version: checks its files, writes its manifest once, then moves the policy's pointer and the round in one transaction.
 * A crash between the last two steps leaves a manifest without a pointer; the next call, or the clock, completes it.
 */
import { RollmeshError } from '../../core/errors.ts';
import type { Committed } from '../../core/schema/answers.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import { putJsonOnce } from '../../store/objects.ts';
import { commitVersion, createPolicy, getPolicy, getVersion, nextVersion } from '../../store/policies.ts';
import { getRound, roundBefore } from '../../store/rounds.ts';
import { dueRounds, getRun } from '../../store/runs.ts';
import {
  committedAlready,
  MANIFEST,
  readManifest,
  verifyFiles,
  verifyModel,
  versionKey,
} from '../../store/versions.ts';
import { log } from '../shared/log.ts';
import type { Services } from './services.ts';
import { sendProposal } from './webhook.ts';

/** Are they equal apart from the audit? A learner that was restarted trains the same bytes but draws another share for its audit. */
const sameManifest = ({ audit: _a, ...a }: Manifest, { audit: _b, ...b }: Manifest) =>
  JSON.stringify(a) === JSON.stringify(b);

export async function commit(services: Services, asked: Manifest): Promise<Committed> {
  const { db, bucket } = services;
  const ref = { name: asked.policy, version: asked.version };
  const stored = await readManifest(bucket, ref);
  if (await getVersion(db, ref)) {
    if (!stored || !sameManifest(stored, asked)) throw committedAlready(ref);
    return { version: ref.version, created: false, nextRound: null };
  }
  if (!stored) {
    await refuseUnfit(services, asked);
    await verifyFiles(bucket, asked);
    await verifyModel(bucket, asked);
    await putJsonOnce(bucket, versionKey(ref, MANIFEST), asked);
  }
  // The manifest that is stored now defines the version, even if another learner wrote it first.
  const manifest = stored ?? (await readManifest(bucket, ref)) ?? asked;
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
  if (round?.stage !== 'training' || round.spec.settings.policy !== manifest.policy)
    throw conflict(
      'version.round',
      `Round ${manifest.round} does not wait for a version of ${manifest.policy}.`,
      'a round in stage training',
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

/** Moves the pointer to a manifest that is stored and was verified. */
export async function completeCommit(services: Services, manifest: Manifest): Promise<Committed> {
  const { db, now } = services;
  const ref = { name: manifest.policy, version: manifest.version };
  if (manifest.parent === null) {
    const created = await createPolicy(db, manifest, now());
    return { version: ref.version, created, nextRound: null };
  }
  const next = await roundsAfter(services, manifest);
  const created = await commitVersion(db, manifest, next, now());
  if (!created && (await getVersion(db, ref))?.round !== manifest.round)
    throw conflict('version.parent', `Version ${ref.version} of ${ref.name} lost a race.`, 'a new version');
  if (created)
    log('info', 'version.committed', { policy: ref.name, version: ref.version, round: manifest.round });
  if (created) for (const spec of next) await sendProposal(services, spec);
  return { version: ref.version, created, nextRound: next[0]?.id ?? null };
}

/** The rounds that begin with the commit of a version. */
async function roundsAfter({ db }: Services, manifest: Manifest): Promise<RoundSpec[]> {
  const { version, parent } = manifest;
  const round = manifest.round === null ? undefined : await getRound(db, manifest.round);
  const run = round && (await getRun(db, round.run));
  return run && parent !== null ? dueRounds(db, run, { round: round.id, version, parent }) : [];
}
