/**
 * Whether somebody else's agent gets better by working: a run whose episodes an agent of examples/agent holds, as docs/agents.md tells it. The
 * mesh, the agent and the learner are the commands and the file that the page names; nothing here knows how they work.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { lineChart } from '../../cli/charts/line-chart.ts';
import { wrongInput } from '../../core/errors.ts';
import { thisMachine } from '../../local/machine.ts';

interface Example {
  readonly policy: string;
  readonly agent: string;
  readonly tasks: string;
  readonly tasksEach: number;
  readonly groupSize: number;
  readonly rounds: number;
  readonly settings: readonly string[];
  readonly result: string;
  readonly picture: string;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  sums: {
    policy: 'words',
    agent: 'examples/agent/agent.ts',
    tasks: 'examples/agent/sums.jsonl',
    tasksEach: 16,
    groupSize: 8,
    rounds: 12,
    settings: ['maxNew=64', 'optimizer.learningRate=1e-4', 'optimizer.warmup=4', 'optimizer.minibatches=2'],
    result: 'test/bench/results/agent.json',
    picture: 'docs/agents-curve.svg',
  },
  search: {
    policy: 'search-two-hop',
    agent: 'examples/agent/searcher.ts',
    tasks: 'examples/agent/search.jsonl',
    tasksEach: 8,
    groupSize: 8,
    rounds: 24,
    settings: ['maxNew=22', 'optimizer.learningRate=1e-4', 'optimizer.warmup=4', 'optimizer.minibatches=2'],
    result: 'test/bench/results/agent-search.json',
    picture: 'docs/agents-search-curve.svg',
  },
};

const NODE = ['--import', './cli/install/typescript.mjs', 'cli/rollmesh.ts'];
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
async function played(
  { policy, agent: file, tasks, tasksEach, groupSize, settings }: Example,
  rounds: number,
  seed: number,
  port: string,
): Promise<readonly Row[]> {
  const state = mkdtempSync(join(tmpdir(), 'agent-bench-'));
  const started = [
    ...['start', '--recipe=grpo', `--policy=${policy}`, '--agent', `--tasks=${tasks}`],
    ...['--tasks-per-round', String(tasksEach), '--group-size', String(groupSize)],
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
    ...['--state', state, '--port', port, ...settings.flatMap((setting) => ['--set', setting])],
  ];
  const mesh = spawn(process.execPath, [...NODE, ...started], { stdio: ['ignore', 'inherit', 'inherit'] });
  const meshEnded = ended(mesh);
  try {
    const { url, token } = await accessTo(state, mesh);
    const env = { ...process.env, ROLLMESH_AGENT_URL: url, ROLLMESH_AGENT_TOKEN: token };
    const agent = spawn(process.execPath, [file], { env, stdio: 'inherit' });
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

/** `--example sums|search`, `--rounds N`, `--seed N` (1), `--port N`, `--json`. Results also go to test/bench/results, and their picture to docs. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      example: { type: 'string', default: 'sums' },
      rounds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      port: { type: 'string', default: '8797' },
      json: { type: 'boolean', default: false },
    },
  });
  const example = EXAMPLES[values.example];
  const [rounds, seed] = [Number(values.rounds ?? example?.rounds), Number(values.seed)];
  if (!example || !Number.isInteger(rounds) || rounds < 2 || !Number.isInteger(seed) || seed < 0)
    throw wrongInput(
      'bench.options',
      `There is no bench with --example ${values.example} --rounds ${rounds} --seed ${values.seed}.`,
      {
        expected: `--example ${Object.keys(EXAMPLES).join(' or ')}, and whole numbers, --rounds from 2 and --seed from 0`,
      },
    );
  const { policy, tasksEach: tasks, groupSize, settings } = example;
  // Before the run: what is committed while it plays is not what it plays.
  const machine = thisMachine();
  const rows = await played(example, rounds, seed, values.port);
  const result = { machine, policy, seed, tasks, groupSize, settings, rounds: rows };
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync(example.result, `${JSON.stringify(result, null, 2)}\n`);
  const points = rows.map(({ round, reward }) => ({ x: round, y: reward }));
  writeFileSync(
    example.picture,
    lineChart({
      title: 'Mean reward: results that are right',
      xTitle: 'round',
      series: [{ name: 'agent', runs: [points] }],
    }),
  );
  if (values.json) console.log(JSON.stringify(result));
  else for (const { round, reward } of rows) console.log(`round ${round}: ${(100 * reward).toFixed(1)} %`);
}
