/** Handles the judge messages of one round: judges and rewards its rollout groups, seals the results and sends them to the learner. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { provenanceMac } from '../../core/audit/provenance.ts';
import { RollmeshError } from '../../core/errors.ts';
import { judgeStage } from '../../core/round/play-stages.ts';
import { type JudgeMessage, keys } from '../../core/schema/round.ts';
import { type AdmittedTask, type RolloutGroup, rolloutGroup } from '../../core/schema/sample.ts';
import { type StageQueue, sendAll } from '../shared/messages.ts';
import { isBegunAgain, type Opening, ofAttempt, openStage } from '../shared/open-stage.ts';
import { roundManifests, type StageMesh } from '../shared/stage-mesh.ts';
import { begunOf, dropPartial, goingOn, withinBudget } from '../shared/within-budget.ts';
import type { Statement } from '../store/database.ts';
import { markScored } from '../store/groups.ts';
import { putJson, readJson } from '../store/objects.ts';
import { type RoundRow, touchRound } from '../store/rounds.ts';

export interface JudgeMesh extends StageMesh {
  readonly scored: StageQueue<'scored'>;
  /** This Worker's own queue, for groups that are continued later. */
  readonly judgments: StageQueue<'judge'>;
  readonly meshKey: string;
}

/** @returns what is left to be written, beside the usage */
export async function judgeGroups(
  mesh: JudgeMesh,
  round: string,
  messages: readonly JudgeMessage[],
): Promise<readonly Statement[]> {
  const opening = await openStage(
    mesh,
    'judge',
    round,
    messages.map((message) => message.group),
  );
  return ofAttempt(mesh, opening.row, () => judgeOpened(mesh, opening, messages));
}

async function judgeOpened(
  mesh: JudgeMesh,
  opening: Opening,
  messages: readonly JudgeMessage[],
): Promise<readonly Statement[]> {
  const { row, tasks } = opening;
  const round = row.id;
  if (row.state !== 'rollout' || tasks.length === 0) return [];
  const read = await Promise.all(tasks.map((task) => readRolled(mesh.bucket, row, task)));
  const rolled = read.filter((group) => group !== null);
  if (rolled.length === 0) return [];
  const {
    done: scored,
    paused,
    stored,
  } = await withinBudget(mesh, opening, {
    name: 'judge',
    items: rolled,
    begun: begunOf(messages),
    work: (context, some) => judgeStage(context.recipe, context, some),
  });
  const waiting = () => (paused.length ? [touchRound(mesh.db, round, mesh.now())] : []);
  const goOn = () => sendAll(mesh.judgments, 'judge', goingOn(messages, paused));
  if (scored.length === 0) {
    await goOn();
    return waiting();
  }
  // A group is stored under one key in every attempt: what an earlier one scored must not lie over what this one does.
  if (await isBegunAgain(mesh, row)) return [];
  const sealed = { ...row, manifests: await roundManifests(mesh, row.spec, opening.versions) };
  const sent = await Promise.all(
    scored.map(async (group) => {
      const key = keys.scored(round, group.group);
      const sha256 = await putJson(mesh.bucket, key, group);
      const mac = provenanceMac(mesh.meshKey, sealed, { group: group.group, sha256 });
      return { v: 1 as const, round, group: group.group, index: group.index, key, sha256, mac };
    }),
  );
  // Sent first, then recorded: a crash between the two sends it twice, which the learner notices; the other order would lose it.
  await sendAll(mesh.scored, 'scored', sent);
  await markScored(mesh.db, round, sent, mesh.now(), row.attempt);
  await goOn();
  await dropPartial(mesh, row, 'judge', stored, scored);
  return waiting();
}

/**
 * Reads the group that the rollout Worker stored; it must be about the task that was admitted. Null where the round was begun again: the message
 * is of what was rolled out before, and another follows.
 */
async function readRolled(
  bucket: R2Bucket,
  { id: round, attempt }: Pick<RoundRow, 'id' | 'attempt'>,
  task: AdmittedTask,
): Promise<RolloutGroup | null> {
  const key = keys.rollouts(round, task.group, attempt);
  const group = await readJson(bucket, key, rolloutGroup);
  if (!group && attempt > 0) return null;
  if (!group)
    throw new RollmeshError('retry', 'rollouts.missing', `The rollouts ${key} are not there yet.`, {
      next: 'They are made again when the clock re-drives the round.',
    });
  if (group.round !== round || group.group !== task.group || group.task !== task.task)
    throw new RollmeshError('give-up', 'rollouts.foreign', `The rollouts ${key} are of another group.`, {
      expected: `round ${round}, group ${task.group}`,
    });
  return group;
}
