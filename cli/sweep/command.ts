/** `rollmesh sweep`: plays a run for every combination of a few settings and for every seed, and compares what they came to. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import {
  type Axis,
  axisOf,
  type Point,
  type PointResult,
  pointName,
  pointsOf,
  ranked,
  resultOf,
} from '../../core/runs/sweep.ts';
import type { Summary } from '../../core/schema/summary.ts';
import type { RunListener } from '../../local/run/play.ts';
import { calledAs } from '../called-as.ts';
import { lineChart } from '../charts/line-chart.ts';
import { printable } from '../printable.ts';
import { duration, percent } from '../shared/figures.ts';
import { startCommand, whole } from '../shared/run-options.ts';
import { addTrainingTaskOptions } from '../training-task-options.ts';

export { withConfig as prepare } from '../run-config-file.ts';

interface SweepOptions {
  readonly over: readonly Axis[];
  readonly seeds: readonly number[];
  readonly out: string;
  readonly examine?: number;
}

function axis(text: string, before: readonly Axis[]): Axis[] {
  try {
    return [...before, axisOf(text)];
  } catch (error) {
    throw new InvalidArgumentError(error instanceof RollmeshError ? error.message : String(error));
  }
}

function seedsOf(text: string): number[] {
  const seeds = text.split(',').map((part) => (/^\d{1,15}$/.test(part.trim()) ? Number(part) : Number.NaN));
  if (seeds.some(Number.isNaN) || new Set(seeds).size < seeds.length)
    throw new InvalidArgumentError('Expected different whole numbers from 0, as in 0,1,2.');
  return seeds;
}

/** The names of the options of `rollmesh start` that take a value; every other name is a setting of the method. */
const START_OPTIONS = new Set(
  addTrainingTaskOptions(startCommand()).options.flatMap(({ long, required }) =>
    long && required ? [long] : [],
  ),
);
const argumentOf = (name: string, value: string): string[] =>
  START_OPTIONS.has(`--${name}`) ? [`--${name}=${value}`] : ['--set', `${name}=${value}`];

interface Planned {
  readonly point: Point;
  readonly name: string;
  readonly seed: number;
  readonly args: readonly string[];
  readonly folder: string;
}

const plan = (passed: readonly string[], { over, seeds, out }: SweepOptions): Planned[] =>
  pointsOf(over).flatMap((point) =>
    seeds.map((seed) => {
      const name = pointName(over, point);
      return {
        point,
        name,
        seed,
        args: [...passed, ...over.flatMap((axis, i) => argumentOf(axis.name, point[i]!)), `--seed=${seed}`],
        folder: join(out, `${name},seed=${seed}`.replaceAll(/[^\w.,=+-]/g, '_')),
      };
    }),
  );

const interval = ({ mean, low, high }: PointResult['greedy']) =>
  Number.isFinite(low) ? `${percent(mean, 1)} (${percent(low, 1)} to ${percent(high, 1)})` : percent(mean, 1);

function tableOf(over: readonly Axis[], results: readonly PointResult[]): string[] {
  const head = [...over.map(({ name }) => name), 'seeds', 'start', 'greedy', 'sampled', 'tokens', 'time'];
  const rows = ranked(results).map((result) => [
    ...result.point,
    String(result.seeds),
    percent(result.start, 1),
    interval(result.greedy),
    result.sampled ? interval(result.sampled) : '–',
    `${(result.tokens / 1e6).toFixed(2)} M`,
    duration(result.minutes * 60_000),
  ]);
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
}

function chartOf(
  over: readonly Axis[],
  planned: readonly Planned[],
  summaries: ReadonlyMap<Planned, Summary>,
): string {
  const names = [...new Set(planned.map(({ name }) => name))];
  return lineChart({
    title: 'Greedy accuracy on held-out tasks',
    xTitle: 'round',
    series: names.map((name) => ({
      name: over.length ? name : 'all seeds',
      runs: planned
        .filter((run) => run.name === name && summaries.has(run))
        .map((run) => summaries.get(run)!.heldout.map(({ round, accuracy }) => ({ x: round, y: accuracy }))),
    })),
  });
}

const PRINTER: Omit<RunListener, 'finished'> = {
  started: ({ done }) => done && console.log(`  resuming after round ${done}`),
  evaluatedStart: ({ heldOut }) => console.log(`  start: greedy ${percent(heldOut.accuracy, 1)}`),
  round: ({ round, report }) =>
    report.evaluation &&
    console.log(`  round ${round}: greedy ${percent(report.evaluation.heldOut.accuracy, 1)}`),
};

async function sweep(options: SweepOptions, passed: readonly string[]): Promise<void> {
  const { over, seeds, out, examine } = options;
  const { checkRun, endedRun, playRun } = await import('./play-run.ts');
  const planned = plan(passed, options);
  if (passed.some((arg) => /^--seed(=|$)/.test(arg)))
    throw wrongInput('sweep.seed', 'A sweep has several seeds.', {
      next: 'Write --seeds 0,1,2 in place of --seed.',
    });
  // Everything is checked before the first run: a wrong value of the last axis would be found hours later.
  for (const { args } of planned.filter(({ seed }) => seed === seeds[0])) await checkRun(args);
  const summaries = new Map<Planned, Summary>();
  for (const run of planned) {
    const before = await endedRun(run.folder, run.args, examine);
    if (before) summaries.set(run, before);
  }
  console.log(
    printable(
      `${planned.length} runs: ${pointsOf(over).length} settings × ${seeds.length} seeds, ${summaries.size} of them done before; results in ${out}`,
    ),
  );
  for (const [i, run] of planned.entries()) {
    if (summaries.has(run)) continue;
    console.log(printable(`${i + 1} of ${planned.length}: ${run.name}, seed ${run.seed}`));
    const summary = await playRun(run.args, run.folder, PRINTER, examine);
    summaries.set(run, summary);
  }
  const results = pointsOf(over).map((point, i) =>
    resultOf(
      point,
      planned.slice(i * seeds.length, (i + 1) * seeds.length).map((run) => summaries.get(run)!),
    ),
  );
  mkdirSync(out, { recursive: true });
  const table = tableOf(over, results);
  writeFileSync(join(out, 'table.md'), `${table.join('\n')}\n`);
  writeFileSync(
    join(out, 'results.json'),
    `${JSON.stringify({ over, seeds, args: passed, results }, null, 1)}\n`,
  );
  writeFileSync(join(out, 'curves.svg'), chartOf(over, planned, summaries));
  console.log(['', ...table.map(printable), ''].join('\n'));
  console.log(
    printable(
      seeds.length < 2
        ? 'A single seed says nothing about chance: add --seeds 0,1,2.'
        : `Intervals are 95 % over ${seeds.length} seeds. Every run's last version lies in its folder under ${out}.`,
    ),
  );
}

export const command = (): Command =>
  new Command(calledAs('sweep'))
    .description(
      'Plays a run for every combination of a few settings and for every seed, one after the other in this process, and compares what they came to. It takes the options of `start` besides, and goes on where it was stopped.',
    )
    .option(
      '--over <name=a,b>',
      'a setting of the method or an option of `start`, with the values that it takes (repeat)',
      axis,
      [],
    )
    .option('--seeds <list>', 'the seeds of every combination', seedsOf, [0])
    .option('--out <dir>', 'folder of the runs and their table', 'sweep')
    .option(
      '--examine <n>',
      'held-out tasks of each family in an evaluation at most (default: all)',
      whole(1),
    )
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[options...]', 'options of `start`: --recipe, --tasks, --policy, --rounds, --set, …')
    .addHelpText(
      'after',
      '\nrollmesh sweep --recipe grpo --policy words --rounds 20 --over optimizer.learningRate=1e-5,3e-5 --over group-size=8,16 --seeds 0,1,2',
    )
    .action(async (passed: readonly string[], options: SweepOptions) => sweep(options, passed));
