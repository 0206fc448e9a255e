/** Rollout messages of one round: the groups that are still to be done are solved in one call, then handed to the judge. */
import { keys, type RolloutMessage } from '../../core/schema/round.ts';
import { rollingTasks } from '../../store/groups.ts';
import { putJson } from '../../store/objects.ts';
import { touchRound } from '../../store/rounds.ts';
import { type ActingMesh, roundOfMessage } from '../shared/acting.ts';
import { begunOf, dropKept, goingOn, inRation } from '../shared/in-ration.ts';
import { type StageQueue, sendAll } from '../shared/messages.ts';

export interface SolvingMesh extends ActingMesh {
  readonly judgments: StageQueue<'judge'>;
  /** This Worker's own queue, for what is to go on later. */
  readonly rollouts: StageQueue<'rollout'>;
}

export async function solveGroups(
  mesh: SolvingMesh,
  round: string,
  messages: readonly RolloutMessage[],
): Promise<void> {
  const row = await roundOfMessage(mesh.db, round);
  if (row.stage !== 'solving') return;
  const tasks = await rollingTasks(
    mesh.db,
    round,
    messages.map((message) => message.group),
  );
  if (tasks.length === 0) return;
  const begun = begunOf(messages);
  const { done: rolled, paused } = await inRation(mesh, row, {
    name: 'rollout',
    items: tasks,
    begun,
    work: (stage, some) => stage.recipe.rollOut(stage, some),
  });
  await Promise.all(rolled.map((group) => putJson(mesh.bucket, keys.rollouts(round, group.group), group)));
  await sendAll(
    mesh.judgments,
    'judge',
    rolled.map(({ group, index }) => ({ v: 1, round, group, index })),
  );
  await sendAll(mesh.rollouts, 'rollout', goingOn(messages, paused));
  await dropKept(mesh, round, 'rollout', begun, rolled);
  await touchRound(mesh.db, round, mesh.now());
}
