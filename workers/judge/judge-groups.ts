/** Judge messages of one round: judgments and rewards of rolled groups, sealed and handed to the learner. */
import type { R2Bucket } from '@cloudflare/workers-types';
import { RollmeshError } from '../../core/errors.ts';
import { provenanceMac } from '../../core/provenance.ts';
import { type JudgeMessage, keys } from '../../core/schema/round.ts';
import { type AdmittedTask, type RolledGroup, rolledGroup } from '../../core/schema/sample.ts';
import { markScored, rollingTasks } from '../../store/groups.ts';
import { putJson, readJson } from '../../store/objects.ts';
import { touchRound } from '../../store/rounds.ts';
import { type ActingMesh, roundManifests, roundOfMessage } from '../shared/acting.ts';
import { begunOf, dropKept, goingOn, inRation } from '../shared/in-ration.ts';
import { type StageQueue, sendAll } from '../shared/messages.ts';

export interface JudgingMesh extends ActingMesh {
  readonly scored: StageQueue<'scored'>;
  /** This Worker's own queue, for what is to go on later. */
  readonly judgments: StageQueue<'judge'>;
  readonly meshKey: string;
}

export async function judgeGroups(
  mesh: JudgingMesh,
  round: string,
  messages: readonly JudgeMessage[],
): Promise<void> {
  const row = await roundOfMessage(mesh.db, round);
  if (row.stage !== 'solving') return;
  const tasks = await rollingTasks(
    mesh.db,
    round,
    messages.map((message) => message.group),
  );
  if (tasks.length === 0) return;
  const rolled = await Promise.all(tasks.map((task) => readRolled(mesh.bucket, round, task)));
  const begun = begunOf(messages);
  const { done: scored, paused } = await inRation(mesh, row, {
    name: 'judge',
    items: rolled,
    begun,
    work: (stage, some) => stage.recipe.judge(stage, some),
  });
  const sealed = { ...row, manifests: await roundManifests(mesh, row.spec) };
  const stored = await Promise.all(
    scored.map(async (group) => {
      const key = keys.scored(round, group.group);
      const sha256 = await putJson(mesh.bucket, key, group);
      const mac = provenanceMac(mesh.meshKey, sealed, { group: group.group, sha256 });
      return { v: 1 as const, round, group: group.group, index: group.index, key, sha256, mac };
    }),
  );
  // Sent first, then noted: a crash between the two sends it twice, which the learner sees; the other order would lose it.
  await sendAll(mesh.scored, 'scored', stored);
  await markScored(mesh.db, round, stored, mesh.now());
  await sendAll(mesh.judgments, 'judge', goingOn(messages, paused));
  await dropKept(mesh, round, 'judge', begun, scored);
  if (paused.length) await touchRound(mesh.db, round, mesh.now());
}

/** The group as the rollout Worker left it; it must be about the task that was admitted. */
async function readRolled(bucket: R2Bucket, round: string, task: AdmittedTask): Promise<RolledGroup> {
  const key = keys.rollouts(round, task.group);
  const group = await readJson(bucket, key, rolledGroup);
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
