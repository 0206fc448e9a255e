/** Handles one propose message: writes the round's tasks once and sends a rollout message for each. */
import { proposalOutcomes } from '../../core/episodes/play-episodes.ts';
import { proposeStage } from '../../core/round/play-stages.ts';
import { keys, type ProposeMessage } from '../../core/schema/round.ts';
import { type Proposals, proposals } from '../../core/schema/sample.ts';
import { type StageQueue, sendAll } from '../shared/messages.ts';
import { type Opening, ofAttempt, openStage } from '../shared/open-stage.ts';
import type { StageMesh } from '../shared/stage-mesh.ts';
import { dropPartial, withinBudget } from '../shared/within-budget.ts';
import type { Statement } from '../store/database.ts';
import { putJsonOver, readJsonObject, storedSha256 } from '../store/objects.ts';
import { admitTasks, failRound, touchRound } from '../store/rounds.ts';
import { PROPOSALS } from '../store/work.ts';

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
  return ofAttempt(mesh, opening.row, () => proposeOpened(mesh, opening, begun === true));
}

async function proposeOpened(
  mesh: ProposerMesh,
  opening: Opening,
  begun: boolean,
): Promise<readonly Statement[]> {
  const round = opening.row.id;
  if (opening.row.state !== 'proposing') return [];
  const written = await writeProposals(mesh, opening, begun);
  if (written === 'waits') return [];
  if (written === 'paused') return [touchRound(mesh.db, round, mesh.now())];
  const { attempt } = opening.row;
  const { tasks } = written;
  if (tasks.length === 0) {
    await failRound(mesh.db, round, ['proposing'], nothingAdmitted(written), mesh.now(), attempt);
    return [];
  }
  const sha256 = await storedSha256(mesh.bucket, keys.proposals(round));
  const proposed = proposalOutcomes(written).length;
  await admitTasks(mesh.db, round, tasks, proposed, mesh.now(), sha256, attempt);
  await sendAll(
    mesh.rollouts,
    'rollout',
    tasks.map(({ group, index }) => ({ v: 1, round, group, index })),
  );
  return [];
}

/**
 * The round's proposals: those that are stored, or else those that are written now. `paused` where they are continued later, `waits` where nodes
 * hold what is left. What an earlier attempt
 * stored may hold what a node forged: it is written over.
 */
async function writeProposals(
  mesh: ProposerMesh,
  opening: Opening,
  begun: boolean,
): Promise<Proposals | 'paused' | 'waits'> {
  const { id: round, attempt } = opening.row;
  const key = keys.proposals(round);
  let written: Proposals | undefined;
  let partial: ReadonlySet<string> = new Set();
  for (;;) {
    const found = await readJsonObject(mesh.bucket, key, proposals);
    if (found && Number(found.metadata.attempt ?? 0) >= attempt) return found.value;
    if (!written) {
      const { done, paused, stored } = await withinBudget(mesh, opening, {
        name: 'propose',
        items: [{ group: PROPOSALS, index: 0 }],
        begun: new Set(begun ? [PROPOSALS] : []),
        work: async (context) => [await proposeStage(context.recipe, context)],
      });
      if (paused.length) await sendAll(mesh.proposals, 'propose', [{ v: 1, round, begun: true }]);
      if (!done.length) return paused.length ? 'paused' : 'waits';
      written = done[0]!;
      partial = stored;
    }
    const of = { attempt: String(attempt) };
    if (!(await putJsonOver(mesh.bucket, key, written, found?.uploaded ?? null, of))) continue;
    await dropPartial(mesh, opening.row, 'propose', partial, [{ group: PROPOSALS }]);
    return written;
  }
}

/** Says why, such as "No task was admitted: 70 off-grammar, 10 duplicate." */
function nothingAdmitted(written: Proposals): string {
  const outcomes = proposalOutcomes(written);
  const counts = new Map<string, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const reasons = [...counts].map(([outcome, n]) => `${n} ${outcome}`).join(', ');
  return `No task was admitted of ${outcomes.length} proposals: ${reasons || 'none was written'}.`;
}
