/**
 * Entropy and KL to version 0 of roles that no policy objective trains. Preference, SFT and head losses need neither figure, but a
 * policy that collapses under them must show it in the report. Where no role of the round samples with the trained weights, as in genrm,
 * whose verifier samples in evaluations only, the figures are taken on the completions of its SFT parts.
 */

import type { Sequence } from '../../core/plan/training-plan.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { TrainingReport } from '../../core/schema/report.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import type { HeldSets } from './held-sets.ts';
import { startOf } from './parts/policy.ts';
import type { PlannedUpdate } from './plan.ts';
import { type FindModel, readEach } from './scores.ts';
import { trainingOf } from './summary.ts';

/** Most samples of a role that are scored: the first ones of the round. */
const MOST = 64;

export interface Watched {
  readonly round: RoundSpec;
  readonly groups: readonly ScoredGroup[];
  readonly parent: number;
  readonly plan: readonly PlannedUpdate[];
  readonly sets: HeldSets;
  readonly find: FindModel;
  readonly tokenBudget: number;
}

/** The set of a role whose weights are trained in this round, but not by a policy objective; undefined for other roles. */
function watchedSet({ round, parent, plan: planned }: Watched, role: string): string | undefined {
  const binding = round.roles[role];
  // Samples from older weights say nothing about the weights that are trained.
  if (binding?.version !== parent || binding.name !== round.settings.policy) return undefined;
  const set = binding.set ?? MAIN_SET;
  const parts = planned.filter((update) => update.set === set).flatMap((update) => partsOf(update));
  return parts.length && parts.every(({ kind }) => kind !== 'policy') ? set : undefined;
}

const partsOf = ({ epochs }: PlannedUpdate) => [...new Set(epochs[0]!.flat().map(({ part }) => part))];

/** The items of all SFT parts with role and set; empty where a policy objective trains, which has these figures of its own. */
function imitated(
  planned: readonly PlannedUpdate[],
): { role: string; set: string; items: readonly Sequence[] }[] {
  const taught = planned.flatMap((update) => partsOf(update).map((part) => ({ set: update.set, part })));
  if (taught.some(({ part }) => part.kind === 'policy')) return [];
  return taught.flatMap(({ set, part }) =>
    part.kind === 'sft' ? [{ role: part.role, set, items: part.items }] : [],
  );
}

/** Computes the figures before the round's first step, at temperature 1, on each such role's samples; where there are none, on SFT completions. */
export async function watchedRoles(watched: Watched): Promise<TrainingReport['roles']> {
  const { groups, sets, find, plan: planned, tokenBudget } = watched;
  const samples = groups.flatMap((group) => [...group.samples, ...group.judgments]);
  const spoken = [...new Set(samples.map((sample) => sample.role))].flatMap((role) => {
    const set = watchedSet(watched, role);
    return set === undefined ? [] : [{ role, set, items: samples.filter((sample) => sample.role === role) }];
  });
  const figures: [string, TrainingReport['roles'][string]][] = [];
  for (const { role, set, items } of spoken.length ? spoken : imitated(planned)) {
    const some = items.filter(({ ids }) => ids.length).slice(0, MOST);
    if (some.length === 0) continue;
    const own = await readEach(await sets.get(set), some, 'logprobs', tokenBudget);
    const starts = await readEach(await find(startOf(set)), some, 'logprobs', tokenBudget);
    const scored = own.map(([logprobs, entropy], i) => ({
      logprobs: logprobs!,
      entropy: entropy!,
      start: starts[i]![0]!,
    }));
    figures.push([role, trainingOf(scored)]);
  }
  return Object.fromEntries(figures);
}
