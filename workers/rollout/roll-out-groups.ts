/** Handles the rollout messages of one round: rolls out the groups that are not done yet in one call, then sends them to the judge. */
import { rollOutStage } from '../../core/round/play-stages.ts';
import { keys, type RolloutMessage } from '../../core/schema/round.ts';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import { answeredCalls } from '../shared/agent-episodes.ts';
import type { PartialRecord } from '../shared/cpu-budget.ts';
import { type StageQueue, sendAll } from '../shared/messages.ts';
import { type Opening, ofAttempt, openStage } from '../shared/open-stage.ts';
import { type StageMesh, stageParts } from '../shared/stage-mesh.ts';
import { begunOf, dropPartial, goingOn, withinBudget } from '../shared/within-budget.ts';
import type { Statement } from '../store/database.ts';
import { groupsHeld } from '../store/episodes.ts';
import { putJson } from '../store/objects.ts';
import { touchRound } from '../store/rounds.ts';
import { askForEpisodes, type EpisodeRequests } from './ask-for-episodes.ts';

export interface RolloutMesh extends StageMesh {
  readonly judgments: StageQueue<'judge'>;
  /** This Worker's own queue, for groups that are continued later. */
  readonly rollouts: StageQueue<'rollout'>;
  /** Undefined where the mesh names no environment. */
  readonly episodes?: EpisodeRequests | undefined;
}

/**
 * The tasks that can be rolled out now, with completions that were made before. A group whose episodes agents hold waits until all of them
 * have ended: whatever ends the last one sends its message again.
 */
async function readyTasks(
  mesh: RolloutMesh,
  { row, versions, tasks }: Opening,
): Promise<{ readonly tasks: readonly AdmittedTask[]; readonly known?: PartialRecord }> {
  if (tasks.length === 0) return { tasks };
  const { agent } = mesh.recipes.find(row.spec.settings.recipe);
  if (!agent) return { tasks };
  const groups = tasks.map(({ group }) => group);
  const held = new Set((await groupsHeld(mesh.db, row.id, groups)).map(({ group }) => group));
  const ready = tasks.filter(({ group }) => held.has(group));
  if (mesh.episodes)
    await askForEpisodes(
      mesh.episodes,
      row,
      agent,
      tasks.filter(({ group }) => !held.has(group)),
    );
  if (ready.length === 0) return { tasks: ready };
  return { tasks: ready, known: await answeredCalls(mesh, await stageParts(mesh, row, versions), [...held]) };
}

/** @returns what is left to be written, beside the usage */
export async function rollOutGroups(
  mesh: RolloutMesh,
  round: string,
  messages: readonly RolloutMessage[],
): Promise<readonly Statement[]> {
  const opening = await openStage(
    mesh,
    'rollout',
    round,
    messages.map((message) => message.group),
  );
  return ofAttempt(mesh, opening.row, () => rollOutOpened(mesh, opening, messages));
}

async function rollOutOpened(
  mesh: RolloutMesh,
  opening: Opening,
  messages: readonly RolloutMessage[],
): Promise<readonly Statement[]> {
  const { row } = opening;
  const round = row.id;
  if (row.state !== 'rollout') return [];
  const { tasks, known } = await readyTasks(mesh, opening);
  if (tasks.length === 0) return [];
  const {
    done: rolled,
    paused,
    stored,
  } = await withinBudget(mesh, opening, {
    name: 'rollout',
    items: tasks,
    begun: begunOf(messages),
    known,
    work: (context, some) => rollOutStage(context.recipe, context, some),
  });
  await Promise.all(
    rolled.map((group) => putJson(mesh.bucket, keys.rollouts(round, group.group, row.attempt), group)),
  );
  const again = new Set(messages.flatMap((message) => (message.again ? [message.group] : [])));
  await sendAll(
    mesh.judgments,
    'judge',
    rolled.map(({ group, index }) => ({
      v: 1,
      round,
      group,
      index,
      ...(again.has(group) ? { begun: true as const } : {}),
    })),
  );
  await sendAll(mesh.rollouts, 'rollout', goingOn(messages, paused));
  await dropPartial(mesh, row, 'rollout', stored, rolled);
  // A message that found nothing to do is no progress: a round that waits for a node that answers nothing has to stall.
  return rolled.length || paused.length ? [touchRound(mesh.db, round, mesh.now())] : [];
}
