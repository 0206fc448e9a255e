/** Plays short runs in this process and keeps their records: what the mesh would have stored in R2 and D1. */

import type { Registry } from '../../../core/recipe/registry.ts';
import type { VersionFiles } from '../../../core/schema/policy.ts';
import type { EvaluationReport } from '../../../core/schema/report.ts';
import { keys, type RoundSpec, roundOf } from '../../../core/schema/round.ts';
import type { Proposals, ScoredGroup } from '../../../core/schema/sample.ts';
import type { RoundLine } from '../../../core/schema/summary.ts';
import { readStart } from '../../../local/find-start.ts';
import { playInProcess } from '../../../local/run/in-process.ts';
import { MemoryRunStore } from '../../../local/run/run-store.ts';
import { bindingsOf, type OrderedRun, runOf } from '../../../recipes/run-order.ts';

/** Held-out tasks of each family: enough that every figure of an evaluation is there. */
const EVALUATED = { heldOut: true, most: 4 };

export interface PlayedRound {
  readonly spec: RoundSpec;
  readonly line: RoundLine;
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
}

export interface PlayedRun {
  readonly run: OrderedRun;
  /** The evaluation of version 0. */
  readonly start: EvaluationReport;
  readonly rounds: readonly PlayedRound[];
  /** Files of each version, from 0. */
  readonly versions: readonly VersionFiles[];
}

export async function playRun(
  recipes: Registry,
  recipe: string,
  rounds: number,
  seed: number,
  /** The start policy that is ordered, where it is not the recipe's own. */
  policy?: string,
): Promise<PlayedRun> {
  const order = {
    recipe,
    seed,
    rounds,
    freeze: [],
    tasks: 4,
    groupSize: 4,
    engine: 'kernels' as const,
    ...(policy === undefined ? {} : { policy }),
  };
  const run = runOf(recipes, order);
  const store = new MemoryRunStore();
  const { policy: name } = run.settings;
  await store.commitVersion({ name, version: 0 }, await readStart(policy ?? run.recipe.startPolicy));
  const lines: RoundLine[] = [];
  let start: EvaluationReport | undefined;
  const nothing = () => {};
  await playInProcess(
    run,
    { device: 'cpu', threads: 1, revectorize: false, evalEvery: 1 },
    store,
    {
      started: nothing,
      evaluatedStart: (of) => {
        start = of;
      },
      round: (line) => lines.push(line),
      finished: nothing,
    },
    EVALUATED,
  );
  const bindings = bindingsOf(run.recipe, run.settings);
  return {
    run,
    start: start!,
    rounds: await Promise.all(
      lines.map((line) => recordOf(store, roundOf(run.settings, bindings, line.round, line.from), line)),
    ),
    versions: await Promise.all(
      Array.from({ length: rounds + 1 }, (_, version) => store.loadVersion({ name, version })),
    ),
  };
}

async function recordOf(store: MemoryRunStore, spec: RoundSpec, line: RoundLine): Promise<PlayedRound> {
  const proposals = (await store.getRecord(keys.proposals(spec.id))) as Proposals;
  const groups = await Promise.all(
    proposals.tasks.map(({ group }) => store.getRecord(keys.scored(spec.id, group)) as Promise<ScoredGroup>),
  );
  return { spec, line, proposals, groups };
}
