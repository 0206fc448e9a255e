/** Handles one propose message: writes the round's tasks once and sends a rollout message for each. */
import { proposalOutcomes } from '../../core/play-episodes.ts';
import { keys, type ProposeMessage } from '../../core/schema/round.ts';
import { type Proposals, proposals } from '../../core/schema/sample.ts';
import type { Statement } from '../../store/database.ts';
import { putJsonOnce, readJson, storedSha256 } from '../../store/objects.ts';
import { admitTasks, failRound, touchRound } from '../../store/rounds.ts';
import { PROPOSALS } from '../../store/work.ts';
import { type StageQueue, sendAll } from '../shared/messages.ts';
import { openStage } from '../shared/open-stage.ts';
import type { StageMesh } from '../shared/stage-mesh.ts';
import { dropPartial, withinBudget } from '../shared/within-budget.ts';

export interface ProposerMesh extends StageMesh {
  readonly rollouts: StageQueue<'rollout'>;
  /** This Worker's own queue, for proposals that are continued later. */
  readonly proposals: StageQueue<'propose'>;
}

/**
 * Moves a round from `proposing` to `rollout`; in any other state it does nothing. Messages that a crash left unsent are sent by the clock.
 * @returns what is left to be written, beside the usage
 */
export async function proposeRound(
  mesh: ProposerMesh,
  { round, begun }: ProposeMessage,
): Promise<readonly Statement[]> {
  const opening = await openStage(mesh, 'propose', round, [PROPOSALS]);
  if (opening.row.state !== 'proposing') return [];
  const key = keys.proposals(round);
  let written = await readJson(mesh.bucket, key, proposals);
  if (!written) {
    const { done, paused, stored } = await withinBudget(mesh, opening, {
      name: 'propose',
      items: [{ group: PROPOSALS, index: 0 }],
      begun: new Set(begun ? [PROPOSALS] : []),
      work: async (context) => [await context.recipe.propose(context)],
    });
    if (!done.length) {
      if (paused.length) await sendAll(mesh.proposals, 'propose', [{ v: 1, round, begun: true }]);
      return [touchRound(mesh.db, round, mesh.now())];
    }
    written = done[0]!;
    if (!(await putJsonOnce(mesh.bucket, key, written)))
      written = (await readJson(mesh.bucket, key, proposals)) ?? written;
    await dropPartial(mesh, round, 'propose', stored, [{ group: PROPOSALS }]);
  }
  const { tasks } = written;
  if (tasks.length === 0) {
    await failRound(mesh.db, round, ['proposing'], nothingAdmitted(written), mesh.now());
    return [];
  }
  const sha256 = await storedSha256(mesh.bucket, key);
  await admitTasks(mesh.db, round, tasks, proposalOutcomes(written).length, mesh.now(), sha256);
  await sendAll(
    mesh.rollouts,
    'rollout',
    tasks.map(({ group, index }) => ({ v: 1, round, group, index })),
  );
  return [];
}

/** Says why, such as "No task was admitted: 70 off-grammar, 10 duplicate." */
function nothingAdmitted(written: Proposals): string {
  const outcomes = proposalOutcomes(written);
  const counts = new Map<string, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const reasons = [...counts].map(([outcome, n]) => `${n} ${outcome}`).join(', ');
  return `No task was admitted of ${outcomes.length} proposals: ${reasons || 'none was written'}.`;
}
