/** Samples one completion of a record again, while all others of its group are played back, and says whether it came to the same bits. */
import { RollmeshError } from '../errors.ts';
import type { Policy } from '../policy/policy.ts';
import type { Recipe } from '../recipe/recipe.ts';
import type { RoundContext } from '../recipe/round-context.ts';
import type { Proposals, Sample, ScoredGroup } from '../schema/sample.ts';
import { firstDifference } from './findings.ts';
import { recordedEpisodes } from './recorded-episodes.ts';
import { type Played, playedGroups, recordedPolicy } from './recorded-policy.ts';

/** The records in which the sample is: its group with the group's task, or the round's proposals. */
export type RedrawnRecord = { readonly group: ScoredGroup } | { readonly proposals: Proposals };

type RedrawnRecipe = Pick<Recipe, 'propose' | 'rollOut' | 'judge' | 'agent' | 'roles'>;

export interface Redrawn {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  /** Index of the first token that differs from the record; -1 = none does. Likewise of the first log-probability. */
  readonly token: number;
  readonly logprob: number;
  /** Are tokens, log-probabilities and the end the same, bit by bit? */
  readonly same: boolean;
}

const playedOf = (record: RedrawnRecord): Played =>
  'group' in record ? playedGroups([record.group]) : record.proposals;

/**
 * `open` makes the round's context over `wrap`ped policies. The recipe's own stages run, so that prompt, settings and grammar of the
 * sample are those of the round. Throws `wrong-input` where the record has no such sample.
 */
export async function redrawSample(
  recipe: RedrawnRecipe,
  record: RedrawnRecord,
  sample: string,
  open: (wrap: (policy: Policy) => Policy) => RoundContext,
): Promise<Redrawn> {
  const played = playedOf(record);
  const recorded = played.samples.find(({ id }) => id === sample);
  const ids = new Set([sample]);
  const context = open((live) => recordedPolicy(live.ref, played, { ids, live }));
  const again = recorded && (await playAgain(recipe, record, context)).find(({ id }) => id === sample);
  if (!recorded || !again)
    throw new RollmeshError('wrong-input', 'sample.unknown', `The record has no sample ${sample}.`, {
      next: 'Take an id from /api/rounds/ROUND/groups/GROUP.',
    });
  const token = firstDifference(recorded.ids, again.ids);
  const logprob = firstDifference(recorded.logprobs, again.logprobs);
  const same = token < 0 && logprob < 0 && recorded.stopped === again.stopped;
  return { ids: again.ids, logprobs: again.logprobs, token, logprob, same };
}

async function playAgain(
  recipe: RedrawnRecipe,
  record: RedrawnRecord,
  opened: RoundContext,
): Promise<readonly Sample[]> {
  if ('proposals' in record) return (await recipe.propose(opened)).samples;
  const { group, index, task, proposal } = record.group;
  const recorded = recordedEpisodes(record.group, recipe, opened.round);
  const context = { ...opened, episodes: async () => recorded };
  const rolled = await recipe.rollOut(context, [{ group, index, task, proposal }]);
  return (await recipe.judge(context, rolled)).flatMap(({ samples, judgments }) => [
    ...samples,
    ...judgments,
  ]);
}
