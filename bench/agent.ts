/**
 * Whether somebody else's agent gets better by working: a run whose episodes the agent of examples/agent holds, as docs/agents.md tells it. The
 * mesh, the agent and the learner are the commands and the file that the page names; nothing here knows how they work.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { lineChart } from '../cli/charts/line-chart.ts';
import { wrongInput } from '../core/errors.ts';
import { thisMachine } from './machine.ts';

const RESULT = 'bench/results/agent.json';
const PICTURE = 'docs/agents-curve.svg';
const TASKS = 16;
const GROUP_SIZE = 8;
const RUN = ['--recipe=grpo', '--policy=words', '--agent', '--tasks=examples/agent/sums.jsonl'];
const SETTINGS = [
  'maxNew=64',
  'optimizer.learningRate=1e-4',
  'optimizer.warmup=4',
  'optimizer.minibatches=2',
];
const NODE = ['--import', './install/typescript.mjs', 'cli/rollmesh.ts'];
/** How long the mesh may take until its run can be asked for. */
const PATIENCE_MS = 300_000;

interface Row {
  readonly round: number;
  /** Mean over the round's episodes: the share of those whose result was right. */
  readonly reward: number;
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));

/** The agent's address and token, once the run is there. */
async function accessTo(state: string, mesh: ChildProcess): Promise<{ url: string; token: string }> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      const out = execFileSync(process.execPath, [...NODE, 'agents', 'last', '--json', '--state', state], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return JSON.parse(out) as { url: string; token: string };
    } catch (error) {
      if (mesh.exitCode !== null || Date.now() > until)
        throw new Error('the mesh has no run for the agent', { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/** Plays the run. @returns its rounds, as `rollmesh curves` tells them */
async function played(rounds: number, seed: number, port: string): Promise<readonly Row[]> {
  const state = mkdtempSync(join(tmpdir(), 'agent-bench-'));
  const started = [
    ...['start', ...RUN, '--tasks', String(TASKS), '--group-size', String(GROUP_SIZE)],
    ...[
      '--rounds',
      String(rounds),
      '--seed',
      String(seed),
      '--engine',
      'kernels',
      '--eval-every',
      String(rounds),
    ],
    ...['--state', state, '--port', port, ...SETTINGS.flatMap((setting) => ['--set', setting])],
  ];
  const mesh = spawn(process.execPath, [...NODE, ...started], { stdio: ['ignore', 'inherit', 'inherit'] });
  const meshEnded = ended(mesh);
  try {
    const { url, token } = await accessTo(state, mesh);
    const env = { ...process.env, ROLLMESH_AGENT_URL: url, ROLLMESH_AGENT_TOKEN: token };
    const agent = spawn(process.execPath, ['examples/agent/agent.ts'], { env, stdio: 'inherit' });
    if ((await ended(agent)) !== 0) throw new Error('the agent ended with an error');
    if ((await meshEnded) !== 0) throw new Error('the mesh ended with an error');
    const out = join(state, 'curves');
    const asked = ['curves', 'last', '--format', 'jsonl', '--out', out, '--state', state];
    execFileSync(process.execPath, [...NODE, ...asked], { stdio: 'inherit' });
    const lines = readFileSync(join(out, readdirSync(out)[0]!), 'utf8')
      .trim()
      .split('\n');
    return lines
      .map((line) => JSON.parse(line) as Record<string, number>)
      .filter(({ round }) => round! > 0)
      .map((row) => ({ round: row.round!, reward: row.reward! }));
  } finally {
    mesh.kill('SIGINT');
    await meshEnded.catch(() => undefined);
    rmSync(state, { recursive: true, force: true });
  }
}

/** `--rounds N` (12), `--seed N` (1), `--port N`, `--json`. Results also go to bench/results/agent.json, and their picture to docs. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '12' },
      seed: { type: 'string', default: '1' },
      port: { type: 'string', default: '8797' },
      json: { type: 'boolean', default: false },
    },
  });
  const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
  if (!Number.isInteger(rounds) || rounds < 2 || !Number.isInteger(seed) || seed < 0)
    throw wrongInput(
      'bench.options',
      `There is no bench with --rounds ${values.rounds} --seed ${values.seed}.`,
      {
        expected: 'whole numbers, --rounds from 2 and --seed from 0',
      },
    );
  const rows = await played(rounds, seed, values.port);
  const result = {
    machine: thisMachine(),
    seed,
    tasks: TASKS,
    groupSize: GROUP_SIZE,
    settings: SETTINGS,
    rounds: rows,
  };
  mkdirSync('bench/results', { recursive: true });
  writeFileSync(RESULT, `${JSON.stringify(result, null, 2)}\n`);
  const points = rows.map(({ round, reward }) => ({ x: round, y: reward }));
  writeFileSync(
    PICTURE,
    lineChart({
      title: 'Mean reward: results that are right',
      xTitle: 'round',
      series: [{ name: 'agent', runs: [points] }],
    }),
  );
  if (values.json) console.log(JSON.stringify(result));
  else for (const { round, reward } of rows) console.log(`round ${round}: ${(100 * reward).toFixed(1)} %`);
}
