/**
 * What a reader may ask of the rollout Worker through the gateway: draw one recorded sample again, or answer a few held-out tasks. Nothing
 * is written, and what is sampled is bounded: one completion, or the answers to ANSWERED_TASKS tasks.
 */
import { redrawSample } from '../../core/audit/redraw-sample.ts';
import { RollmeshError } from '../../core/errors.ts';
import { heldOutAnswers } from '../../core/recipe/held-out-answers.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import type { HeldOutListing, RedrawnSample } from '../../core/schema/answers.ts';
import { keys } from '../../core/schema/round.ts';
import { proposals, scoredGroup } from '../../core/schema/sample.ts';
import { conversations } from '../shared/conversations.ts';
import { Reader } from '../shared/reader.ts';
import { roundOfMessage, type StageMesh, stageParts } from '../shared/stage-mesh.ts';
import { readJson } from '../store/objects.ts';
import type { RoundRow } from '../store/rounds.ts';

async function recordOf({ bucket }: StageMesh, { id }: RoundRow, group: string | null) {
  if (group === null) {
    const written = await readJson(bucket, keys.proposals(id), proposals);
    return written && { proposals: written };
  }
  const scored = await readJson(bucket, keys.scored(id, group), scoredGroup);
  return scored && { group: scored };
}

/** `group`: null for a proposal. Throws `missing-version` where the version that wrote it is pruned or withdrawn. */
export async function sampleAgain(
  mesh: StageMesh,
  order: { readonly round: string; readonly group: string | null; readonly sample: string },
): Promise<RedrawnSample> {
  const row = await roundOfMessage(mesh.db, order.round);
  const recipe = mesh.recipes.find(row.spec.settings.recipe);
  const record = await recordOf(mesh, row, order.group);
  if (!record)
    throw new RollmeshError('wrong-input', 'sample.record', 'The record of this sample is not there yet.', {
      next: 'Wait until its group is judged.',
    });
  const parts = await stageParts(mesh, row);
  const { ids, logprobs, token, logprob, same } = await redrawSample(recipe, record, order.sample, (wrap) =>
    openRoundContext({
      ...parts,
      use: (ref, work) => mesh.session.use(ref, (policy) => work(wrap(policy))),
    }),
  );
  return { sample: order.sample, same, token, logprob, ids: [...ids], logprobs: [...logprobs] };
}

/** What a version of the round's policy answers to held-out tasks. */
export async function answerHeldOut(
  mesh: StageMesh,
  order: { readonly round: string; readonly version: number },
): Promise<HeldOutListing> {
  const row = await roundOfMessage(mesh.db, order.round);
  const { recipe, ...parts } = await stageParts(mesh, row);
  const { tokenizer } = parts;
  const answers = await heldOutAnswers(
    recipe,
    { ...parts, use: (ref, work) => mesh.session.use(ref, work) },
    order.version,
  );
  const reader = new Reader(mesh, recipe.describe);
  const decode = (ids: readonly number[]) => tokenizer.decode(ids);
  return {
    policy: row.spec.settings.policy,
    version: order.version,
    answers: conversations(answers).map(({ role, turns }) => ({
      role,
      prompt: reader.parts(role, decode(turns[0]!.seen)),
      parts: turns.flatMap(({ seen, ids }, i) => [
        ...(i ? reader.parts(role, decode(seen)) : []),
        ...reader.parts(role, decode(ids)),
      ]),
      tokens: turns.flatMap(({ ids }) => ids.map((id) => decode([id]))),
      logprobs: turns.flatMap(({ logprobs }) => [...logprobs]),
    })),
  };
}
