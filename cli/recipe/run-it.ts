/** How a recipe is run: which command, what it needs, how long it took where it was measured, and which change to expect. */
import type { Recipe } from '../../core/recipe/recipe.ts';
import { duration, percent } from '../shared/figures.ts';
import table from './measured.json' with { type: 'json' };
import { neededOfFiles, runsOn } from './runs-on.ts';

/** What the lab measured of a recipe: the mean over the seeds of the first arm of its record (lab/cli/measured.ts). */
interface Measured {
  /** Those that the arm has beside the recipe's defaults; empty for none. */
  readonly flags: string;
  readonly start: string;
  /** Tasks a round, rollouts a task. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly seeds: number;
  /** Of a run in one process, evaluations included. */
  readonly seconds: number;
  /** The seconds are processor time, and not the time that passed. */
  readonly busy?: true;
  readonly machine: string;
  /** Held-out accuracy at the start and at the end; null where the recipe is not evaluated by it. */
  readonly greedy: readonly number[] | null;
  readonly sampled: readonly number[] | null;
}

export const MEASURED = table as Readonly<Record<string, Measured | undefined>>;

const change = (name: string, ends: readonly number[] | null): string[] =>
  ends === null ? [] : [`${name} ${percent(ends[0]!, 1)} to ${percent(ends[1]!, 1)}`];

/** The lines of a recipe that is called by `reference`, its name or the path of its module. `onFiles`: it is made from files, and has no start of its own. */
export function runIt(recipe: Recipe, reference: string, onFiles: boolean): string[] {
  const { needsOfTasks: needs, inGame, startPolicy, taskName, tasks, groupSize } = recipe;
  const command = `npx rollmesh start --recipe ${reference}`;
  const measured = MEASURED[recipe.name];
  const lines = [
    ...(onFiles ? [] : [command]),
    ...(neededOfFiles(recipe)
      ? [`${command} --policy NAME --tasks FILE.jsonl (your policy; ${runsOn(recipe)})`]
      : []),
    ...(inGame ? [`${command} --world GAME.ts (a game of yours: docs/games.md)`] : []),
    ...(onFiles
      ? []
      : [
          `Needs: the start policy ${startPolicy}.${needs === undefined || inGame ? '' : ` It does not run on a file of questions, since it needs ${needs.which} (${needs.datum}).`}`,
        ]),
    `A round: ${tasks} tasks (${taskName}) with ${groupSize === 1 ? 'one rollout' : `${groupSize} rollouts`} each.`,
  ];
  if (!measured)
    return [...lines, 'No run of it was measured yet: `--rounds 2` shows how long a round takes here.'];
  const { flags, rounds, seeds, seconds, busy, machine, sizes, start, greedy, sampled } = measured;
  const figures = [
    ...change(sampled ? 'greedy accuracy' : 'main score', greedy),
    ...change('sampled accuracy', sampled),
  ];
  return [
    ...lines,
    `Measured${flags && ` with ${flags}`}: ${rounds} rounds of ${sizes[0]} × ${sizes[1]} from ${start} took ${duration(1000 * seconds)}${busy ? ' of processor time' : ''} in one process (${machine}).${flags.includes('lab/') ? ' The folder lab/ is in a clone, not in the package.' : ''}`,
    ...(figures.length
      ? [
          `Expect after them: held-out ${figures.join(', ')} (${seeds === 1 ? 'one seed' : `mean of ${seeds} seeds`}).`,
        ]
      : []),
  ];
}
