/** Handles the rollout messages of one round: rolls out the groups that are not done yet in one call, then sends them to the judge. */
import { keys, type RolloutMessage } from '../../core/schema/round.ts';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import { groupsHeld } from '../../store/episodes.ts';
import { rolloutTasks } from '../../store/groups.ts';
import { putJson } from '../../store/objects.ts';
import { type RoundRow, touchRound } from '../../store/rounds.ts';
import { answeredCalls } from '../shared/agent-episodes.ts';
import type { PartialCompletions } from '../shared/cpu-budget.ts';
import { type StageQueue, sendAll } from '../shared/messages.ts';
import { roundOfMessage, type StageMesh, stageParts } from '../shared/stage-mesh.ts';
import { begunOf, dropPartial, goingOn, withinBudget } from '../shared/within-budget.ts';

export interface RolloutMesh extends StageMesh {
  readonly judgments: StageQueue<'judge'>;
  /** This Worker's own queue, for groups that are continued later. */
  readonly rollouts: StageQueue<'rollout'>;
}

/**
 * The tasks that can be rolled out now, with completions that were made before. A group whose episodes agents hold waits until all of them
 * have ended: whatever ends the last one sends its message again.
 */
async function readyTasks(
  mesh: RolloutMesh,
  row: RoundRow,
  tasks: readonly AdmittedTask[],
): Promise<{ readonly tasks: readonly AdmittedTask[]; readonly known?: PartialCompletions }> {
  if (tasks.length === 0 || !mesh.recipes.find(row.spec.settings.recipe).agent) return { tasks };
  const groups = tasks.map(({ group }) => group);
  const held = new Set((await groupsHeld(mesh.db, row.id, groups)).map(({ group }) => group));
  const ready = tasks.filter(({ group }) => held.has(group));
  if (ready.length === 0) return { tasks: ready };
  return { tasks: ready, known: await answeredCalls(mesh, await stageParts(mesh, row), [...held]) };
}

export async function rollOutGroups(
  mesh: RolloutMesh,
  round: string,
  messages: readonly RolloutMessage[],
): Promise<void> {
  const row = await roundOfMessage(mesh.db, round);
  if (row.state !== 'rollout') return;
  const admitted = await rolloutTasks(
    mesh.db,
    round,
    messages.map((message) => message.group),
  );
  const { tasks, known } = await readyTasks(mesh, row, admitted);
  if (tasks.length === 0) return;
  const begun = begunOf(messages);
  const { done: rolled, paused } = await withinBudget(mesh, row, {
    name: 'rollout',
    items: tasks,
    begun,
    known,
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
