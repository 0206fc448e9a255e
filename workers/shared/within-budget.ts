/** Does a stage's work on groups within one invocation's CPU budget; a later message continues the groups that are left where they stopped. */
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openRoundContext, type RoundContext } from '../../core/recipe/round-context.ts';
import type { WorkerStage } from '../../core/round/stages.ts';
import { keys } from '../../core/schema/round.ts';
import { putJson, readJson } from '../store/objects.ts';
import type { RoundRow } from '../store/rounds.ts';
import {
  BudgetExceeded,
  budgeted,
  type CpuBudget,
  type PartialRecord,
  PartialResults,
  partialRecord,
} from './cpu-budget.ts';
import { needsGoldNode } from './isolate-size.ts';
import { log } from './log.ts';
import type { Opening } from './open-stage.ts';
import { seesGold, sharedList, shareOut } from './share-out.ts';
import { type StageMesh, stageParts } from './stage-mesh.ts';

export interface Work<In, Out> {
  /** The name of the stage's messages. */
  readonly name: WorkerStage;
  readonly items: readonly In[];
  /** The groups of those items that an earlier invocation began. */
  readonly begun: ReadonlySet<string>;
  /** Completions that were made elsewhere, by their keys. */
  readonly known?: PartialRecord | undefined;
  /** Processes some items; processing each alone gives the same results. */
  readonly work: (context: RoundContext<Recipe>, items: readonly In[]) => Promise<readonly Out[]>;
}

export interface Done<Out> {
  readonly done: readonly Out[];
  /** Groups that a message of the stage's own is to continue; what there is of them is stored. */
  readonly paused: readonly string[];
  /** Groups of which an earlier invocation had stored partial results. */
  readonly stored: ReadonlySet<string>;
}

/** A message about a group; `begun` says that an earlier invocation left partial results of it. */
type Begun = { readonly group: string; readonly begun?: true | undefined };

export const begunOf = (messages: readonly Begun[]): ReadonlySet<string> =>
  new Set(messages.flatMap(({ group, begun }) => (begun ? [group] : [])));

/** The messages that continue paused groups. */
export const goingOn = <M extends Begun>(messages: readonly M[], paused: readonly string[]): M[] =>
  paused.map((group) => ({ ...messages.find((message) => message.group === group)!, begun: true }));

/** Removes the partial results of groups that are done. `stored`: the groups that had some. */
export async function dropPartial(
  { bucket }: StageMesh,
  { id: round, attempt }: Pick<RoundRow, 'id' | 'attempt'>,
  name: Work<unknown, unknown>['name'],
  stored: ReadonlySet<string>,
  done: readonly { readonly group: string }[],
): Promise<void> {
  const stale = done
    .filter(({ group }) => stored.has(group))
    .map(({ group }) => keys.partial(round, name, group, attempt));
  if (stale.length) await bucket.delete(stale);
}

export async function withinBudget<In extends { readonly group: string; readonly index: number }, Out>(
  mesh: StageMesh,
  opening: Opening,
  { name, items, begun, known = {}, work }: Work<In, Out>,
): Promise<Done<Out>> {
  const { row, versions } = opening;
  const { cpuBudget } = mesh;
  const of = `${row.id} ${row.attempt}`;
  const kept = mesh.kept.get(of) ?? new PartialResults();
  mesh.kept.set(of, kept);
  kept.add(known);
  const keyOf = (group: string) => keys.partial(row.id, name, group, row.attempt);
  const stored = new Set<string>();
  let unread = [...begun];
  const addEarlier = async () => {
    const asked = unread;
    unread = [];
    for (const group of asked) {
      const found = await readJson(mesh.bucket, keyOf(group), partialRecord);
      if (!found) continue;
      kept.add(found);
      stored.add(group);
    }
    return asked.length > 0 && stored.size > 0;
  };
  const list = sharedList(mesh, opening, name, items);
  await list.load(kept);
  // A message that an answer sent also says that the group was begun, and mostly there is nothing else of it: what is stored is read where
  // the answers do not suffice.
  if (list.live) {
    const store = async (group: string, known: PartialRecord) => {
      await putJson(mesh.bucket, keyOf(group), known);
      stored.add(group);
    };
    return { ...(await shareOut(mesh, opening, list, kept, addEarlier, store, items, work)), stored };
  }
  // What is sampled here nobody else samples meanwhile: the record would hold other tokens than those that a close node has sealed.
  if (await list.close(items)) {
    await list.load(kept);
    // An answer that cannot be read has opened its request again.
    await list.close(items);
  }
  await addEarlier();
  const alone = async (budget: CpuBudget | null) =>
    openRoundContext({
      ...(await stageParts(mesh, row, versions)),
      use: (ref, run, role) =>
        mesh.session
          .use(ref, (policy) => run(budgeted(policy, kept, budget)))
          .catch((error: unknown) => {
            throw seesGold(mesh, row, role) ? needsGoldNode(error) : error;
          }),
    });
  try {
    return { done: await work(await alone(cpuBudget), items), paused: [], stored };
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
  }
  const playback = await alone(null);
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
  return { done, paused, stored };
}
