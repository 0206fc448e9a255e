/** Does a stage's work on groups within one invocation's CPU budget; a later message continues the groups that are left where they stopped. */
import type { Recipe } from '../../core/recipe.ts';
import type { RoundContext } from '../../core/round-context.ts';
import { keys } from '../../core/schema/round.ts';
import type { WorkerStage } from '../../core/stages.ts';
import { putJson, readJson } from '../../store/objects.ts';
import type { RoundRow } from '../../store/rounds.ts';
import { BudgetExceeded, budgeted, CpuBudget, PartialResults, partialCompletions } from './cpu-budget.ts';
import { log } from './log.ts';
import { type StageMesh, stageOf } from './stage-mesh.ts';

export interface Work<In, Out> {
  /** The name of the stage's messages. */
  readonly name: WorkerStage;
  readonly items: readonly In[];
  /** The groups of those items that an earlier invocation began. */
  readonly begun: ReadonlySet<string>;
  /** Processes some items; processing each alone gives the same results. */
  readonly work: (context: RoundContext<Recipe>, items: readonly In[]) => Promise<readonly Out[]>;
}

export interface Done<Out> {
  readonly done: readonly Out[];
  /** Groups that are to be continued; their partial results are stored. */
  readonly paused: readonly string[];
}

/** A message about a group; `begun` says that an earlier invocation left partial results of it. */
type Begun = { readonly group: string; readonly begun?: true | undefined };

export const begunOf = (messages: readonly Begun[]): ReadonlySet<string> =>
  new Set(messages.flatMap(({ group, begun }) => (begun ? [group] : [])));

/** The messages that continue paused groups. */
export const goingOn = <M extends Begun>(messages: readonly M[], paused: readonly string[]): M[] =>
  paused.map((group) => ({ ...messages.find((message) => message.group === group)!, begun: true }));

/** Removes the partial results of groups that are done. */
export async function dropPartial(
  { bucket }: StageMesh,
  round: string,
  name: Work<unknown, unknown>['name'],
  begun: ReadonlySet<string>,
  done: readonly { readonly group: string }[],
): Promise<void> {
  const stale = done
    .filter(({ group }) => begun.has(group))
    .map(({ group }) => keys.partial(round, name, group));
  if (stale.length) await bucket.delete(stale);
}

export async function withinBudget<In extends { readonly group: string }, Out>(
  mesh: StageMesh,
  row: RoundRow,
  { name, items, begun, work }: Work<In, Out>,
): Promise<Done<Out>> {
  const kept = new PartialResults();
  const keyOf = (group: string) => keys.partial(row.id, name, group);
  for (const group of begun) kept.add((await readJson(mesh.bucket, keyOf(group), partialCompletions)) ?? {});
  const cpuBudget = new CpuBudget(mesh.cpuBudgetMs);
  try {
    const context = await stageOf(mesh, row, (policy) => budgeted(policy, kept, cpuBudget));
    return { done: await work(context, items), paused: [] };
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
  }
  const playback = await stageOf(mesh, row, (policy) => budgeted(policy, kept, null));
  const done: Out[] = [];
  const paused: string[] = [];
  for (const item of items) {
    kept.takeTouched();
    try {
      done.push(...(await work(playback, [item])));
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error;
      await putJson(mesh.bucket, keyOf(item.group), kept.takeTouched());
      paused.push(item.group);
    }
  }
  log('info', `${name}.paused`, { round: row.id, done: done.length, paused: paused.length });
  return { done, paused };
}
