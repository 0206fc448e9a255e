/**
 * The clock's work. When an open round shows no progress, it is driven again: messages are sent again for exactly
 * what is missing. Every message may safely be sent twice, so the clock keeps no state of its own.
 */

import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { sendAll } from '../shared/messages.ts';
import { writeAll } from '../store/database.ts';
import { forgetEpisodes, giveUpEpisodes, groupsHeld } from '../store/episodes.ts';
import { groupsOf } from '../store/groups.ts';
import { listNodes, nodesNow } from '../store/nodes.ts';
import { pausedAmong } from '../store/pause.ts';
import { pendingManifest } from '../store/pending-manifest.ts';
import { nextVersion } from '../store/policies.ts';
import {
  claimRedrive,
  failRound,
  type RoundRow,
  roundBefore,
  settleRound,
  stalledRounds,
} from '../store/rounds.ts';
import { advanceRun, forgetDeliveries, stuckRuns } from '../store/runs.ts';
import { forgetWork, releaseRound, takeBack } from '../store/work.ts';
import { completeCommit } from './commit.ts';
import { continueGroups } from './continue-groups.ts';
import { prune } from './prune.ts';
import { sendScored } from './send-scored.ts';
import type { Services } from './services.ts';
import { accounted } from './usage.ts';
import { sendProposal } from './webhook.ts';

/** The most rounds, and the most runs, that one call handles. */
const AT_ONCE = 20;
/** Re-drives without progress after which a round in `proposing` or `rollout` is given up. A round in training waits without limit. */
const PATIENCE = 30;
/**
 * How many re-drives the first one after a start of the local mesh counts as. A round that hangs its Worker takes the mesh down, so it is
 * driven once per start: without this a person would have to start the mesh thirty times before the round is given up.
 */
const AFTER_START = 5;
/** Deliveries are remembered for a month: far longer than a signature is valid and than GitHub redelivers. */
const REMEMBER_MS = 30 * 24 * 3600 * 1000;

/** Who sampled what is kept for a day after the round has ended. */
const WORK_KEPT_MS = 24 * 3600 * 1000;

export async function reconcile(services: Services): Promise<void> {
  const { db, settings, now } = services;
  const before = Math.max(now() - settings.stallMs, Math.min(settings.queuesSince, now()));
  for (const row of await stalledRounds(db, { before, now: now(), limit: AT_ONCE }))
    await guarded('round.redrive', row.id, () =>
      accounted(
        services,
        () => redrive(services, row),
        () => row.id,
      ),
    );
  for (const { id } of await stuckRuns(db, AT_ONCE))
    await guarded('run.advance', id, async () => {
      for (const round of await advanceRun(db, id, now())) await sendProposal(services, round);
    });
  await guarded('episodes.give-up', 'all', async () => {
    const given = await giveUpEpisodes(db, now() - settings.episodeMs, 'abandoned');
    const paused = await pausedAmong(
      db,
      given.map(({ round }) => round),
    );
    for (const round of new Set(given.map((episode) => episode.round))) {
      if (paused.has(round)) continue;
      const held = await groupsHeld(db, round);
      await continueGroups(
        services,
        held.map((one) => ({ round, stage: 'rollout', ...one })),
      );
    }
    await forgetEpisodes(db, now() - WORK_KEPT_MS);
  });
  await guarded('work.take-back', 'all', async () => {
    const there = await nodesNow(db, now());
    if (!there.any) return;
    const back = await takeBack(db, now(), there);
    const paused = await pausedAmong(
      db,
      back.map(({ round }) => round),
    );
    await continueGroups(
      services,
      back.filter(({ round }) => !paused.has(round)),
    );
    if (there.live)
      for (const { name, leaves } of await listNodes(db, now()))
        if (leaves.length) log('warn', 'node.leaves', { name, leaves: leaves.join(', ') });
    await forgetWork(db, now() - WORK_KEPT_MS);
  });
  const { retention } = settings;
  if (retention)
    await guarded('versions.prune', 'all', async () => void (await prune(services, null, retention)));
  await forgetDeliveries(db, now() - REMEMBER_MS);
}

/** Runs `work` and logs its failure, so that the clock goes on with the other rounds. */
async function guarded(event: string, id: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log('error', `${event}-failed`, { id, ...failureOf(error) });
  }
}

/** Does the round wait for agents? They take as long as they take, so it is not given up. */
async function waitsForAgents({ db, recipes }: Services, { id, spec, state }: RoundRow): Promise<boolean> {
  const isHeld = recipes.recipes.some(({ name, agent }) => name === spec.settings.recipe && agent);
  if (state !== 'rollout' || !isHeld) return false;
  const [waiting, ended] = [await groupsOf(db, id, ['rollout']), await groupsHeld(db, id)];
  return ended.length < waiting.length;
}

async function redrive(services: Services, row: RoundRow): Promise<void> {
  const { db, now, settings } = services;
  if (row.state === 'training' && (await roundBefore(db, row)) !== null) {
    // Its turn has not come: the learner has its messages, or gets them again once the earlier rounds have ended.
    await claimRedrive(db, row, now(), 0);
    return;
  }
  if (await waitsForAgents(services, row)) {
    if (await claimRedrive(db, row, now(), 0)) await sendRollouts(services, row);
    return;
  }
  const afterStart = row.touchedAt < settings.queuesSince;
  if (!(await claimRedrive(db, row, now(), afterStart ? AFTER_START : 1))) return;
  log('warn', 'round.redriven', { round: row.id, state: row.state, redrives: row.redrives + 1 });
  if (row.state !== 'training' && row.redrives >= PATIENCE) {
    const reason = `No progress in state ${row.state} after it was driven on again and again.`;
    return failRound(db, row.id, [row.state], reason, now());
  }
  // Whoever holds something of it may hold it for ever; the stages sample by themselves until there is progress.
  if (row.state !== 'training') await writeAll(db, releaseRound(row.id));
  if (row.state === 'proposing') return sendProposal(services, row.spec, true);
  if (row.state === 'rollout') {
    await sendRollouts(services, row);
    await writeAll(db, settleRound(row.id, now()));
  }
  if (row.state === 'training' && (await finishCommit(services, row))) return;
  await sendScored(services, row.id);
}

/** What was begun of them before may be stored: the stages go on from it, and remove it when they are done. */
async function sendRollouts({ db, queues }: Services, row: RoundRow): Promise<void> {
  const missing = await groupsOf(db, row.id, ['rollout']);
  await sendAll(
    queues.rollout,
    'rollout',
    missing.map(({ id, index }) => ({ v: 1, round: row.id, group: id, index, begun: true, again: true })),
  );
}

/** Completes the commit of this round if its manifest was noted and written before a crash that kept the pointer from moving. */
async function finishCommit(services: Services, row: RoundRow): Promise<boolean> {
  const name = row.spec.settings.policy;
  const version = await nextVersion(services.db, name);
  const manifest = await pendingManifest(services.db, services.bucket, { name, version });
  if (manifest?.round !== row.id) return false;
  await completeCommit(services, manifest);
  return true;
}
