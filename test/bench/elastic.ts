/**
 * Estimates how far the mesh scales, by a discrete-event model. Its parameters are fitted to local runs, its predictions are checked on other
 * local runs, and then it is used from ten to ten thousand isolates. See test/bench/elastic.md.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { wrongInput } from '../../core/errors.ts';
import { ENGINES, type Engine } from '../../core/policy/policy.ts';
import { thisMachine } from '../../local/machine.ts';
import { type Fit, fitWork, solveFor, typical } from './elastic/fit.ts';
import { type Observation, observe, ROUNDS, type Setting } from './elastic/observe.ts';
import { type ElasticRecord, withTables } from './elastic/page.ts';
import type { Load, Platform, StageWork, Work } from './elastic/parameters.ts';
import { CHANGED, DEPLOYED, localPlatform, localWork } from './elastic/platforms.ts';
import { simulate } from './elastic/simulate.ts';
import { type SweepRow, sweep } from './elastic/sweep.ts';

const resultsOf = (engine: Engine): string =>
  `test/bench/results/elastic${engine === 'onnx' ? '' : `-${engine}`}.json`;

const PAGE = 'test/bench/elastic.md';

/** The records of the engines that were measured, in the order of their names. */
export const elasticRecords = (): ElasticRecord[] =>
  ENGINES.filter((engine) => existsSync(resultsOf(engine))).map((engine) => ({
    ...(JSON.parse(readFileSync(resultsOf(engine), 'utf8')) as Omit<ElasticRecord, 'engine'>),
    engine,
  }));

const FITTED: readonly Setting[] = [
  { tasks: 12, group: 4, runs: 1 },
  { tasks: 24, group: 8, runs: 1 },
  { tasks: 64, group: 4, runs: 1 },
  { tasks: 32, group: 16, runs: 1 },
];
/** The only setting to which the learner's cost of a change between two runs' policies is fitted. */
const SHARED: Setting = { tasks: 16, group: 8, runs: 2 };
const CHECKED: readonly Setting[] = [
  { tasks: 16, group: 8, runs: 1 },
  { tasks: 48, group: 4, runs: 1 },
  { tasks: 24, group: 4, runs: 2 },
];
/** A policy so many times as heavy as the seed, about what an isolate's memory holds; with it a learner so many times one measured core. */
const HEAVIER = 100;
const GPU_SPEED = 2000;

/** The largest error of a prediction, as a share of the measured round time. */
const TOLERANCE = 0.15;

/** There and back, so that a machine that gets slower or faster does so for all settings. */
const PASSES = [...FITTED, SHARED, ...CHECKED];
const ORDER = [...PASSES, ...PASSES.toReversed()];

/** The median, so that a round slowed down by another program does not decide. */
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const onOneMachine = (setting: Setting): Load => ({
  ...setting,
  isolates: 1,
  rounds: ROUNDS,
  inFlight: 1,
  maxStaleness: 2,
});

const stageTimes = ({ batch, task, sample }: StageWork, times: number): StageWork => ({
  batch,
  task: times * task,
  sample: times * sample,
});

const heavier = (work: Work, times: number): Work => ({
  ...work,
  propose: { ...work.propose, task: times * work.propose.task },
  rollout: stageTimes(work.rollout, times),
  judge: stageTimes(work.judge, times),
  learner: { ...work.learner, sample: times * work.learner.sample },
});

const measuredOf = ({ rounds }: Observation) => median(rounds.map(({ roundMs }) => roundMs));
const predictedOf = (fit: Fit, setting: Setting) =>
  median(simulate(localWork(fit), localPlatform(fit), onOneMachine(setting)).roundMs);

/** The longest time that a change of policies may take, ms. */
const LONGEST_CHANGE = 5000;

function withChange(fit: Fit, shared: Observation): Fit {
  const changed = (change: number): Fit => ({
    ...fit,
    work: { ...fit.work, learner: { ...fit.work.learner, change } },
  });
  const roundMs = (change: number) => predictedOf(changed(change), shared.setting);
  return changed(solveFor(measuredOf(shared), roundMs, LONGEST_CHANGE));
}

function check(fit: Fit, observation: Observation) {
  const { setting } = observation;
  const [measuredMs, predictedMs] = [measuredOf(observation), predictedOf(fit, setting)];
  const error = predictedMs / measuredMs - 1;
  return { setting, measuredMs, predictedMs, error, right: Math.abs(error) <= TOLERANCE };
}

const inOrder = (observations: readonly Observation[], settings: readonly Setting[]): Observation[] =>
  settings.map((wanted) => {
    const own = observations.filter(({ setting }) => JSON.stringify(setting) === JSON.stringify(wanted));
    return { setting: wanted, rounds: own.flatMap(({ rounds }) => rounds) };
  });

function modelOf(observations: readonly Observation[], openMs: readonly number[]) {
  const rounds = inOrder(observations, FITTED).map((observation) => typical(observation.rounds));
  const fit = withChange(fitWork(rounds, openMs), inOrder(observations, [SHARED])[0]!);
  const total = (of: 'bytes' | 'tokens' | 'samples') => rounds.reduce((sum, round) => sum + round[of], 0);
  const counted = {
    bytesPerSample: total('bytes') / total('samples'),
    tokensPerSample: total('tokens') / total('samples'),
  };
  const load = { group: 8, rounds: 4, runs: 1, inFlight: 1, maxStaleness: 2 };
  const sweepOf = (platform: Platform, more: Partial<Load> & { tasks: number }, work = fit.work) =>
    sweep(work, platform, { ...load, ...more }, counted);
  const onGpu = (platform: Platform): Platform => ({
    ...platform,
    learner: { ...platform.learner, speed: GPU_SPEED },
  });
  const heavy = heavier(fit.work, HEAVIER);
  /** The name of a sweep with the learner's speed, which nobody measured. */
  const named = (name: string, { learner }: Platform) =>
    `${name} (learner: ${learner.speed} ${learner.speed === 1 ? 'core, as measured' : 'cores, assumed'})`;
  return {
    fit,
    counted,
    checks: inOrder(observations, CHECKED).map((observation) => check(fit, observation)),
    platform: { designed: DEPLOYED, changed: CHANGED },
    sweeps: {
      [named('as designed, 64 tasks × 8', DEPLOYED)]: sweepOf(DEPLOYED, { tasks: 64 }),
      [named('as designed, 4096 tasks × 8', DEPLOYED)]: sweepOf(DEPLOYED, { tasks: 4096 }),
      [named('changed, 4096 tasks × 8', CHANGED)]: sweepOf(CHANGED, { tasks: 4096 }),
      [named('changed, 4096 tasks × 8, two rounds in flight', CHANGED)]: sweepOf(CHANGED, {
        tasks: 4096,
        inFlight: 2,
      }),
      [named(`as designed, 4096 tasks × 8, ${HEAVIER} times the work`, onGpu(DEPLOYED))]: sweepOf(
        onGpu(DEPLOYED),
        { tasks: 4096 },
        heavy,
      ),
      [named(`changed, 4096 tasks × 8, ${HEAVIER} times the work`, onGpu(CHANGED))]: sweepOf(
        onGpu(CHANGED),
        { tasks: 4096 },
        heavy,
      ),
    },
  };
}

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;

const sweepLines = (name: string, rows: readonly SweepRow[]): string[] => [
  '',
  name,
  ' isolates  at once   s/round  samples/s  idle: isolates  learner    D1   $/round  $/M tokens  binds',
  ...rows.map((row) =>
    [
      String(row.isolates).padStart(9),
      String(row.mostAtOnce).padStart(8),
      row.roundSeconds.toFixed(1).padStart(9),
      row.samplesPerSecond.toFixed(0).padStart(10),
      percent(row.idle.isolates).padStart(15),
      percent(row.idle.learner).padStart(8),
      percent(row.idle.d1).padStart(5),
      row.dollarsPerRound.toFixed(4).padStart(9),
      row.dollarsPerMillionTokens.toFixed(3).padStart(11),
      ` ${row.lifted
        .slice(0, 2)
        .map(({ limit, gain }) => `${limit} (${gain.toFixed(2)}x)`)
        .join(', ')}`,
    ].join(' '),
  ),
];

/**
 * `--engine NAME`: what computes the policies (onnx), whose work the model is then made of. `--again`: the model alone, from the local runs in
 * test/bench/results/elastic.json, or elastic-ENGINE.json; `--json`: one JSON object. Results also go there. `--page`: measures nothing, but writes the
 * tables of test/bench/elastic.md from these records. Exit status 1 where a prediction is more than 15 % off.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      engine: { type: 'string', default: 'onnx' },
      again: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.page) return writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), elasticRecords()));
  const engine = ENGINES.find((name) => name === values.engine);
  if (!engine)
    throw wrongInput('bench.engine', `There is no engine ${values.engine}.`, {
      expected: ENGINES.join(' or '),
    });
  const results = resultsOf(engine);
  const say = (line: string) => {
    if (!values.json) console.log(line);
  };
  const measured = values.again
    ? (JSON.parse(readFileSync(results, 'utf8')) as Pick<Measured, 'machine' | 'openMs' | 'observations'>)
    : { machine: thisMachine(), ...(await observe(ORDER, engine, say)) };
  const { machine, openMs, observations } = measured;
  const result: Measured = {
    bench: 'elastic',
    machine,
    ...modelOf(observations, openMs),
    openMs,
    observations,
  };
  for (const { setting, measuredMs, predictedMs, error } of result.checks)
    say(
      `${setting.tasks} tasks × ${setting.group}, ${setting.runs} at once: ${measuredMs.toFixed(0)} ms measured, ` +
        `${predictedMs.toFixed(0)} ms predicted (${(100 * error).toFixed(1)} %)`,
    );
  for (const [name, rows] of Object.entries(result.sweeps))
    for (const line of sweepLines(name, rows)) say(line);
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync(results, `${JSON.stringify(result, null, 2)}\n`);
  if (result.checks.some(({ right }) => !right)) process.exitCode = 1;
}

type Measured = ReturnType<typeof modelOf> & {
  readonly bench: 'elastic';
  readonly machine: ReturnType<typeof thisMachine>;
  readonly openMs: readonly number[];
  readonly observations: readonly Observation[];
};
