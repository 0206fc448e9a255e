/** `npm run soak`: a run whose processes are killed repeatedly and whose calls fail at random; at the end its records must be consistent. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { duration, percent } from '../../cli/shared/figures.ts';
import { aheadOption, engineOption, share, whole } from '../../cli/shared/run-options.ts';
import { openStateFolder } from '../../cli/shared/state-folder.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Engine } from '../../core/policy/policy.ts';
import { Random } from '../../core/random.ts';
import { LARGEST_GROUP, MOST_TASKS } from '../../core/schema/round.ts';
import { thisMachine } from '../../local/machine.ts';
import { shipped } from '../../recipes/index.ts';
import type { RunOrder } from '../../recipes/run-order.ts';
import { KILL_POINTS, type KillPoint } from '../faults/kill-points.ts';
import { type FireReport, faultsOf, SILENCE_MS, underFire } from './soak-run.ts';

interface SoakOptions {
  readonly kills: number;
  readonly seed: number;
  readonly minutes?: number;
  readonly rounds: number;
  readonly tasks: number;
  readonly groupSize: number;
  readonly ahead?: number;
  readonly nodes?: number;
  readonly liars?: number;
  readonly engine?: Engine;
  readonly faults: number;
  readonly state?: string;
  readonly json: boolean;
  readonly out?: string;
}

type SoakArguments = Omit<SoakOptions, 'kills'> & { readonly kills?: number; readonly damage?: number };

/** A kill comes up to so many ms after its log line, so that it hits anything that follows the line. */
const JITTER_MS = 250;
/** How much longer than `--minutes` a run may take to end without further kills, ms. */
const REST_MS = 10 * 60_000;

/** How many kill points are sorted into the order of a round, so that one round may take them all. */
const HAND = 10;

/** Draws kill points: each once, in random groups sorted into a round's order; then all again until the kills or the time are used up. */
function drawStrikes({ kills, seed }: SoakOptions, over: () => boolean): () => KillPoint | null {
  const random = new Random(`soak/${seed}`);
  let left = kills;
  let deck: KillPoint[] = [];
  let hand: KillPoint[] = [];
  const place = (killPoint: KillPoint) => KILL_POINTS.indexOf(killPoint);
  return () => {
    if (left === 0 || over()) return null;
    left--;
    if (!deck.length) deck = random.shuffle(KILL_POINTS);
    if (!hand.length) hand = deck.splice(0, HAND).sort((a, b) => place(a) - place(b));
    const killPoint = hand.shift()!;
    if (!('log' in killPoint.at)) return killPoint;
    const delayMs = (killPoint.at.delayMs ?? 0) + random.int(JITTER_MS);
    return { ...killPoint, at: { ...killPoint.at, delayMs } };
  };
}

function recordOf(options: SoakOptions, report: FireReport) {
  const byMoment: Record<string, number> = {};
  for (const { name } of report.killPoints) byMoment[name] = (byMoment[name] ?? 0) + 1;
  const { seed, tasks, groupSize, ahead = 0, faults } = options;
  const { balance, differing, longestSilenceMs, wallMs } = report;
  return {
    kind: 'soak',
    machine: thisMachine(),
    seed,
    tasks,
    groupSize,
    ahead,
    faultRate: faults,
    kills: report.killPoints.length,
    byMoment,
    ...balance,
    nodes: report.nodes,
    differing,
    longestSilenceMs,
    wallMs,
  };
}

const orderOf = ({ seed, rounds, tasks, groupSize, ahead, engine }: SoakOptions): RunOrder => ({
  recipe: 'trio',
  seed,
  rounds,
  freeze: [],
  tasks,
  groupSize,
  ...(ahead === undefined ? {} : { ahead }),
  ...(engine === undefined ? {} : { engine }),
});

const wrongOf = ({ balance, differing, nodes, longestSilenceMs }: FireReport): string[] => [
  ...balance.errors,
  ...(longestSilenceMs > SILENCE_MS ? [`nothing was told for ${duration(longestSilenceMs)}`] : []),
  ...(nodes?.shutOutWrongly ? [`${nodes.shutOutWrongly} honest nodes were shut out`] : []),
  ...(differing?.length ? [`versions ${differing.join(', ')} are not those of the reference run`] : []),
];

function soakLines(report: FireReport): string[] {
  const { balance, differing, killPoints, nodes, longestSilenceMs, wallMs } = report;
  return [
    '',
    `${killPoints.length} kills in ${duration(wallMs)}: ${balance.rounds} rounds ended, ${balance.admitted} groups admitted, ${balance.trained} trained once, ` +
      `${balance.failed} failed with a kind, ${balance.lost} lost, ${balance.trainedTwice} trained twice; nothing was told for ${duration(longestSilenceMs)} at most.`,
    ...(nodes
      ? [
          ...(Object.keys(nodes.lies).length
            ? [
                `Liars: ${Object.values(nodes.lies).reduce((sum, n) => sum + n)} lies were told, and ${nodes.shutOut} nodes shut out for them.`,
              ]
            : []),
          `Nodes: ${nodes.joined} joined and ${nodes.killed} were killed; they answered ${nodes.requests} requests, and ${nodes.lost} were taken back from them.`,
        ]
      : []),
    differing === null
      ? 'Groups failed, so the weights are not comparable with an reference run.'
      : `Weights: ${balance.rounds - differing.length} of ${balance.rounds} versions are byte for byte those of the reference run.`,
    ...wrongOf(report).map((line) => `WRONG  ${line}`),
  ];
}

async function run(options: SoakOptions): Promise<boolean> {
  // An exit ends the processes of the run, too, which are in groups of their own and do not hear Ctrl-C.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const stateDir = options.state
    ? openStateFolder(options.state, true)
    : mkdtempSync(join(tmpdir(), 'rollmesh-soak-'));
  const minutes = options.minutes ?? options.kills;
  const until = performance.now() + minutes * 60_000;
  const say = (text: string) => {
    if (!options.json) console.log(text);
  };
  say(`${options.kills} kills, faults on ${percent(options.faults, 1)} of the calls. Logs: ${stateDir}`);
  const report = await underFire({
    root: process.cwd(),
    stateDir,
    recipes: shipped,
    order: orderOf(options),
    nextStrike: drawStrikes(options, () => performance.now() > until),
    ...(options.nodes ? { nodes: options.nodes, liars: options.liars ?? 0 } : {}),
    ...(options.faults > 0 ? faultsOf(`soak/${options.seed}`, options.faults) : {}),
    limitMs: minutes * 60_000 + REST_MS,
    onStrike: ({ name }, n) => say(`${String(n).padStart(4)}  ${name}`),
  });
  const record = recordOf(options, report);
  if (options.out) {
    mkdirSync(dirname(resolve(options.out)), { recursive: true });
    writeFileSync(options.out, `${JSON.stringify(record, null, 2)}\n`);
  }
  for (const line of options.json ? [JSON.stringify(record)] : soakLines(report)) console.log(line);
  const right = wrongOf(report).length === 0;
  // The state of a failed run is kept for inspection; that of a good one is removed.
  if (right && !options.state) rmSync(stateDir, { recursive: true, force: true });
  return right;
}

export const command = (): Command =>
  new Command('npm run soak --')
    .description(
      'Kills mesh and learner at every stage, with faults at the edges, or damages files at rest, and checks what a run comes to.',
    )
    .option('--kills <n>', 'processes to kill', whole(0))
    .option('--damage <n>', 'instead: so many runs, each with one file damaged at rest', whole(1))
    .option('--seed <n>', 'seed of kills and faults, and of the run', whole(0), 0)
    .option('--minutes <n>', 'no more kills after so long', whole(1))
    .option('--rounds <n>', 'rounds at least; more follow while kills are left', whole(1), 2)
    .option('--tasks <n>', 'tasks per round', whole(1, MOST_TASKS), 6)
    .option('--group-size <n>', 'rollouts per task', whole(2, LARGEST_GROUP), 4)
    .addOption(aheadOption())
    .addOption(engineOption())
    .option('--nodes <n>', 'so many node processes at most, which join and are killed at random', whole(1))
    .option('--liars <n>', 'so many of these nodes lie in one of four results', whole(1))
    .option('--faults <share>', 'share of calls at the edges that fail; 0 = kills alone', share, 0.01)
    .option('--state <dir>', 'folder of its state, emptied first (default: a temporary one)')
    .option('--out <file>', 'also write the result there; with --damage, go on from what it holds')
    .option('--json', 'print the result as one JSON object', false)
    .action(async ({ kills, damage, ...options }: SoakArguments) => {
      if ((kills === undefined) === (damage === undefined))
        throw wrongInput('soak.what', 'One of --kills and --damage must be given.', {
          expected: '`npm run soak -- --kills 20` or `npm run soak -- --damage 27`',
        });
      const right =
        kills === undefined
          ? await (await import('./damage-soak.ts')).damageSoak(shipped, { ...options, damage: damage! })
          : await run({ ...options, kills });
      if (!right) process.exitCode = 1;
    });
