/** Plays a short run of a recipe in this process: its start policy samples, the learner trains it on the CPU, all files stay in memory. */
import { fileURLToPath } from 'node:url';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { RoundLine, Summary } from '../../core/schema/summary.ts';
import { type RunOrder, runOf } from '../../recipes/run-order.ts';
import { readStart } from '../find-start.ts';
import { playInProcess } from '../run/in-process.ts';
import { MemoryRunStore } from '../run/run-store.ts';

export interface PlayOptions extends Partial<Omit<RunOrder, 'recipe'>> {
  /** File URL of the recipe's module; needed where the recipe has an objective of its own. */
  readonly module?: string | URL;
  /** Files of the policy to begin from; default: the recipe's start policy. */
  readonly start?: VersionFiles;
}

export interface PlayedRounds {
  /** The line of each round, with its report. */
  readonly lines: readonly RoundLine[];
  readonly summary: Summary;
  /** Returns the files of a version: 0 is the start policy, n is what round n trained. */
  readonly version: (version: number) => Promise<VersionFiles>;
}

/** Plays the rounds (default one); evaluates before the first and after the last. It uses one thread: the same bits on all machines of a kind. */
export async function playRounds(
  recipe: Recipe,
  { module, start, ...order }: PlayOptions = {},
): Promise<PlayedRounds> {
  const run = runOf(registry([recipe]), { seed: 0, rounds: 1, freeze: [], ...order, recipe: recipe.name });
  const store = new MemoryRunStore();
  const { policy: name } = run.settings;
  await store.commitVersion({ name, version: 0 }, start ?? (await readStart(recipe.startPolicy)));
  const lines: RoundLine[] = [];
  let summary: Summary | undefined;
  await playInProcess(
    run,
    { device: 'cpu', threads: 1, revectorize: false, evalEvery: run.rounds },
    store,
    {
      started: () => {},
      evaluatedStart: () => {},
      round: (line) => lines.push(line),
      finished: (all) => {
        summary = all;
      },
    },
    HELD_OUT,
    module === undefined ? undefined : { modules: [{ recipe, file: fileURLToPath(module) }] },
  );
  if (!summary) throw new Error('internal: the run ended without a summary');
  return { lines, summary, version: (version) => store.loadVersion({ name, version }) };
}
