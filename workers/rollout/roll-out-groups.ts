/** Handles the rollout messages of one round: rolls out the groups that are not done yet in one call, then sends them to the judge. */
import { keys, type RolloutMessage } from '../../core/schema/round.ts';
import { rolloutTasks } from '../../store/groups.ts';
import { putJson } from '../../store/objects.ts';
import { touchRound } from '../../store/rounds.ts';
import { type StageQueue, sendAll } from '../shared/messages.ts';
import { roundOfMessage, type StageMesh } from '../shared/stage-mesh.ts';
import { begunOf, dropPartial, goingOn, withinBudget } from '../shared/within-budget.ts';

export interface RolloutMesh extends StageMesh {
  readonly judgments: StageQueue<'judge'>;
  /** This Worker's own queue, for groups that are continued later. */
  readonly rollouts: StageQueue<'rollout'>;
}

export async function rollOutGroups(
  mesh: RolloutMesh,
  round: string,
  messages: readonly RolloutMessage[],
): Promise<void> {
  const row = await roundOfMessage(mesh.db, round);
  if (row.state !== 'rollout') return;
  const tasks = await rolloutTasks(
    mesh.db,
    round,
    messages.map((message) => message.group),
  );
  if (tasks.length === 0) return;
  const begun = begunOf(messages);
  const { done: rolled, paused } = await withinBudget(mesh, row, {
    name: 'rollout',
    items: tasks,
    begun,
    work: (context, some) => context.recipe.rollOut(context, some),
  });
  await Promise.all(rolled.map((group) => putJson(mesh.bucket, keys.rollouts(round, group.group), group)));
  await sendAll(
    mesh.judgments,
    'judge',
    rolled.map(({ group, index }) => ({ v: 1, round, group, index })),
  );
  await sendAll(mesh.rollouts, 'rollout', goingOn(messages, paused));
  await dropPartial(mesh, round, 'rollout', begun, rolled);
  await touchRound(mesh.db, round, mesh.now());
}
