/** `rollmesh sweep`: plays a run for every combination of a few settings and for every seed, and compares what they came to. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import {
  type AgainstBest,
  type Axis,
  againstBest,
  axisOf,
  bestPoints,
  type Point,
  type PointResult,
  pointName,
  pointsOf,
  type Rung,
  ranked,
  resultOf,
  rungsOf,
} from '../../core/runs/sweep.ts';
import { FEWEST_QUESTIONS, pWords } from '../../core/statistics/change.ts';
import type { RunListener } from '../../local/run/play.ts';
import { calledAs } from '../called-as.ts';
import { lineChart } from '../charts/line-chart.ts';
import { printable } from '../printable.ts';
import { duration, percent, points as pointsWords } from '../shared/figures.ts';
import { startCommand, whole } from '../shared/run-options.ts';
import { addTrainingTaskOptions } from '../training-task-options.ts';
import type { Finished } from './play-run.ts';

export { withConfig as prepare } from '../run-config-file.ts';

interface SweepOptions {
  readonly over: readonly Axis[];
  readonly seeds: readonly number[];
  readonly out: string;
  readonly examine?: number;
  readonly halving?: number;
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
  readonly seed: number;
  readonly args: readonly string[];
  readonly folder: string;
}

interface PlannedPoint {
  readonly point: Point;
  readonly name: string;
  /** One of each seed. */
  readonly runs: readonly Planned[];
}

const plan = (passed: readonly string[], { over, seeds, out }: SweepOptions): PlannedPoint[] =>
  pointsOf(over).map((point) => {
    const name = pointName(over, point);
    const runs = seeds.map((seed) => ({
      seed,
      args: [...passed, ...over.flatMap((axis, i) => argumentOf(axis.name, point[i]!)), `--seed=${seed}`],
      folder: join(out, `${name},seed=${seed}`.replaceAll(/[^\w.,=+-]/g, '_')),
    }));
    return { point, name, runs };
  });

const interval = ({ mean, low, high }: PointResult['greedy']) =>
  Number.isFinite(low) ? `${percent(mean, 1)} (${percent(low, 1)} to ${percent(high, 1)})` : percent(mean, 1);

/** A point that was played, with what its last versions answered as against the best point's; null of the best itself, or where nothing can be paired. */
type Compared = PointResult & { readonly against: AgainstBest | null };

function tableOf(over: readonly Axis[], results: readonly Compared[]): string[] {
  const ownRounds = over.some(({ name }) => name === 'rounds');
  const head = [
    ...over.map(({ name }) => name),
    'seeds',
    ...(ownRounds ? [] : ['rounds']),
    'start',
    'greedy',
    'against the best',
  ];
  head.push('sampled', 'tokens', 'time');
  const rows = results.map((result) => [
    ...result.point,
    String(result.seeds),
    ...(ownRounds ? [] : [String(result.rounds)]),
    percent(result.start, 1),
    interval(result.greedy),
    result.against
      ? `${pointsWords(result.against.difference.mean)} points, ${pWords(result.against.p ?? 1)}`
      : '–',
    result.sampled ? interval(result.sampled) : '–',
    `${(result.tokens / 1e6).toFixed(2)} M`,
    duration(result.minutes * 60_000),
  ]);
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
}

/** Which points differ from the best beyond chance, in a sentence. */
function verdictWords(over: readonly Axis[], results: readonly Compared[]): string | null {
  const [best, ...others] = results;
  const tested = others.filter(({ against }) => against !== null);
  if (tested.length === 0) return null;
  const few = tested.some(({ against }) => against!.verdict === 'few');
  if (few)
    return `Too few held-out questions to tell the combinations apart (${FEWEST_QUESTIONS} are needed).`;
  const below = tested.filter(({ against }) => against!.verdict === 'fell');
  const names = below.map(({ point }) => pointName(over, point)).join('; ');
  const first = pointName(over, best!.point);
  return below.length
    ? `Greedy answers below those of ${first} beyond chance: ${names}. The test is over questions, exact and paired; other seeds may differ by more.`
    : `No combination’s greedy answers differ from those of ${first} beyond chance, by an exact paired test over questions.`;
}

function chartOf(over: readonly Axis[], played: readonly PlayedPoint[]): string {
  return lineChart({
    title: 'Greedy accuracy on held-out tasks',
    xTitle: 'round',
    series: played.map(({ name, ended }) => ({
      name: over.length ? name : 'all seeds',
      runs: ended.map(({ summary }) =>
        summary.heldout.map(({ round, accuracy }) => ({ x: round, y: accuracy })),
      ),
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

const combinations = (n: number): string => (n === 1 ? '1 combination' : `${n} combinations`);

/** `rounds`: its last, whatever rungs there are. */
type CheckedPoint = PlannedPoint & { readonly rounds: number };
type PlayedPoint = CheckedPoint & { readonly ended: readonly Finished[]; readonly dropped?: true };

/** Plays points to the round of a rung, those runs that are not there yet. */
async function playRung(
  points: readonly CheckedPoint[],
  rung: Rung,
  isLast: boolean,
  examine: number | undefined,
): Promise<PlayedPoint[]> {
  const { endedRun, playRun } = await import('./play-run.ts');
  const total = points.reduce((sum, { runs }) => sum + runs.length, 0);
  let at = 0;
  const played: PlayedPoint[] = [];
  for (const point of points) {
    const rounds = Math.min(rung.rounds, point.rounds);
    const ended: Finished[] = [];
    for (const { args, folder, seed } of point.runs) {
      at++;
      let run = await endedRun(folder, args, examine);
      if (!run || run.rounds < rounds) {
        console.log(printable(`${at} of ${total}: ${point.name}, seed ${seed}`));
        run = await playRun(args, folder, PRINTER, { rounds, examine, goesOn: !isLast });
      }
      ended.push(run);
    }
    played.push({ ...point, ended });
  }
  return played;
}

/** Plays all rungs; returns every point as far as it was played. */
async function playRungs(
  planned: readonly CheckedPoint[],
  rungs: readonly Rung[],
  examine: number | undefined,
): Promise<PlayedPoint[]> {
  const { endRun } = await import('./play-run.ts');
  const dropped: PlayedPoint[] = [];
  let left: readonly CheckedPoint[] = planned;
  for (const [k, rung] of rungs.entries()) {
    if (rungs.length > 1)
      console.log(`rung ${k + 1} of ${rungs.length}: ${combinations(left.length)} to round ${rung.rounds}`);
    const played = await playRung(left, rung, k === rungs.length - 1, examine);
    const next = rungs[k + 1];
    if (!next) return [...dropped, ...played];
    const summaries = played.map(({ ended }) => ended.map(({ summary }) => summary));
    const kept = new Set(bestPoints(summaries, rung.rounds, next.points));
    for (const point of played.filter((_, i) => !kept.has(i))) {
      dropped.push({ ...point, dropped: true });
      for (const [i, { folder }] of point.runs.entries()) await endRun(folder, point.ended[i]!);
    }
    left = played.filter((_, i) => kept.has(i));
  }
  return dropped;
}

/** The points that were played, best first, those that were played to their end compared with the best; then those that were dropped, the last of them first. */
function compared(played: readonly PlayedPoint[]): Compared[] {
  const rankedOf = (points: readonly PlayedPoint[]) => {
    const endedOf = new Map(
      points.map(({ point, ended }) => [
        resultOf(
          point,
          ended.map(({ summary }) => summary),
        ),
        ended,
      ]),
    );
    return ranked([...endedOf.keys()]).map((result) => ({ result, ended: endedOf.get(result)! }));
  };
  const whole = rankedOf(played.filter(({ dropped }) => !dropped));
  const [asked] = whole[0]!.ended;
  const against = againstBest(
    whole.map(({ ended }) =>
      ended.map((run) => (run.questions === asked!.questions ? run.answers : undefined)),
    ),
  );
  const dropped = rankedOf(played.filter((point) => point.dropped));
  return [
    ...whole.map(({ result }, i) => ({ ...result, against: against[i - 1] ?? null })),
    ...dropped.map(({ result }) => ({ ...result, against: null })).sort((a, b) => b.rounds - a.rounds),
  ];
}

async function sweep(options: SweepOptions, passed: readonly string[]): Promise<void> {
  const { over, seeds, out, examine, halving = 1 } = options;
  const { checkRun, endedRun } = await import('./play-run.ts');
  const planned = plan(passed, options);
  if (passed.some((arg) => /^--seed(=|$)/.test(arg)))
    throw wrongInput('sweep.seed', 'A sweep has several seeds.', {
      next: 'Write --seeds 0,1,2 in place of --seed.',
    });
  if (halving > 1 && over.some(({ name }) => name === 'rounds'))
    throw wrongInput('sweep.halving', '--over rounds and --halving both say how long a run is.', {
      next: 'Leave one out.',
    });
  // Everything is checked before the first run: a wrong value of the last axis would be found hours later.
  const points: CheckedPoint[] = [];
  for (const point of planned) points.push({ ...point, rounds: await checkRun(point.runs[0]!.args) });
  const rounds = Math.max(...points.map((point) => point.rounds));
  const rungs = rungsOf(points.length, rounds, halving);
  if (halving > 1 && rungs.length < 2)
    throw wrongInput(
      'sweep.halving',
      `${combinations(planned.length)} of ${rounds} rounds cannot be halved by ${halving}.`,
      { expected: `at least ${halving} combinations and ${halving} rounds`, next: 'Leave --halving out.' },
    );
  const before = await Promise.all(
    planned.flatMap(({ runs }) => runs.map(({ folder, args }) => endedRun(folder, args, examine))),
  );
  console.log(
    printable(
      `${before.length} runs: ${planned.length} settings × ${seeds.length} seeds, ${before.filter(Boolean).length} of them begun before; results in ${out}`,
    ),
  );
  const played = await playRungs(points, rungs, examine);
  const results = compared(played);
  mkdirSync(out, { recursive: true });
  const table = tableOf(over, results);
  writeFileSync(join(out, 'table.md'), `${table.join('\n')}\n`);
  writeFileSync(
    join(out, 'results.json'),
    `${JSON.stringify({ over, seeds, args: passed, rungs, results }, null, 1)}\n`,
  );
  writeFileSync(join(out, 'curves.svg'), chartOf(over, played));
  const closing = [
    verdictWords(over, results),
    halving > 1
      ? 'Combinations were dropped by their answers to these questions: evaluate the best one on others.'
      : null,
    seeds.length < 2
      ? 'A single seed says nothing about chance: add --seeds 0,1,2.'
      : `Intervals are 95 % over ${seeds.length} seeds. Every run's last version lies in its folder under ${out}.`,
  ];
  console.log(['', ...table, '', ...closing.filter((line) => line !== null)].map(printable).join('\n'));
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
    .option(
      '--halving <eta>',
      'stop early: after a part of the rounds only the best 1/eta of the combinations go on, again and again (successive halving)',
      whole(2),
    )
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[options...]', 'options of `start`: --recipe, --tasks, --policy, --rounds, --set, …')
    .addHelpText(
      'after',
      '\nrollmesh sweep --recipe grpo --policy words --rounds 20 --over optimizer.learningRate=1e-5,3e-5 --over group-size=8,16 --seeds 0,1,2',
    )
    .action(async (passed: readonly string[], options: SweepOptions) => sweep(options, passed));
