/** `rollmesh environment`: trains on environments that somebody else hosts by the Open Reward Standard or OpenEnv. */
import { Argument, Command, InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { type AgentAccess, USUAL_TURNS } from '../../core/schema/agent.ts';
import type { HoldOptions } from '../../workers/api/environment/hold-episode.ts';
import type { Host, WantedTasks } from '../../workers/api/environment/host.ts';
import { calledAs } from '../called-as.ts';
import { refuseExisting } from '../policy/files.ts';
import { printable } from '../printable.ts';
import { openMesh } from '../shared/mesh-access.ts';
import { runNamed } from '../shared/run-named.ts';
import { most } from '../shared/run-options.ts';
import { writeRows } from '../trajectories/write-rows.ts';
import { answerToolOption, turnsOption } from './options.ts';

/** How often `environment tasks` says that it waits, ms. */
const WAITING_MS = 15_000;

interface TasksOptions extends WantedTasks {
  readonly out: string;
  readonly force: boolean;
}

interface PlayOptions extends HoldOptions {
  readonly atOnce: number;
  readonly state: string;
}

async function tasks(url: string, { out, force, ...wanted }: TasksOptions): Promise<void> {
  refuseExisting(out, force);
  const waiting = setInterval(
    () => console.error(printable(`  ! waiting for the tasks of ${url}`)),
    WAITING_MS,
  );
  const { hostOf } = await import('./reach.ts');
  const { place, rows } = await hostOf(url)
    .then((host) => host.rows(wanted))
    .finally(() => clearInterval(waiting));
  await writeRows(out, 'jsonl', rows);
  console.log(printable(`${out}: ${rows.length} tasks of ${place}`));
}

/** Holds one episode after the other until the run is over. `count`: called for each that was held. */
async function hold(host: Host, access: AgentAccess, options: HoldOptions, count: () => void): Promise<void> {
  const { openEpisode, playEpisode } = await import('../../workers/api/environment/mesh-side.ts');
  for (;;) {
    // An environment that is down has no part in any episode: nothing is opened until it answers.
    await host.check();
    const episode = await openEpisode(access);
    if (episode.state === 'over') return;
    if (episode.state === 'wait') {
      await new Promise((resolve) => setTimeout(resolve, 1000 * episode.seconds));
      continue;
    }
    const { counts, error } = await playEpisode(host, episode, options);
    if (error)
      console.error(
        printable(`round ${episode.round}, episode ${episode.episode} has no reward: ${error.message}`),
      );
    if (counts) count();
  }
}

async function play(url: string, asked: string, { atOnce, state, ...options }: PlayOptions): Promise<void> {
  const { hostOf } = await import('./reach.ts');
  const { expectOneSeat } = await import('../../workers/api/environment/mesh-side.ts');
  const host = await hostOf(url);
  const { gateway, close } = await openMesh(state);
  try {
    const access = await gateway.getAgentAccess((await runNamed(gateway, asked)).id);
    expectOneSeat(access);
    let held = 0;
    const count = () => void held++;
    try {
      await Promise.all(Array.from({ length: atOnce }, () => hold(host, access, options, count)));
    } finally {
      console.log(printable(`${held} episodes of run ${access.run} were held in ${url}`));
    }
  } finally {
    await close();
  }
}

function jsonObject(text: string): Readonly<Record<string, unknown>> {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown())), text);
  if (result.success && !Array.isArray(result.output)) return result.output;
  throw new InvalidArgumentError('Expected an object of JSON, as in {"difficulty": "easy"}.');
}

const listed = (text: string): readonly string[] => text.split(',').map((name) => name.trim());

const address = () =>
  new Argument(
    '<url>',
    'address of a server of the Open Reward Standard or OpenEnv, as in http://localhost:8080',
  );

export const command = (): Command =>
  new Command(calledAs('environment'))
    .description(
      'Trains on an environment that somebody else hosts, by the Open Reward Standard or OpenEnv (docs/environments.md).',
    )
    .addHelpText(
      'after',
      '\nA key of the server: set ORS_API_KEY, which is sent as X-API-Key. A deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.',
    )
    .addCommand(
      new Command('tasks')
        .description('Writes the tasks of an environment as a file for `start --agent --tasks FILE`.')
        .addArgument(address())
        .option('--name <environment>', 'the environment, where the server has several (default: its first)')
        .option('--split <name>', 'the split (default: the first that is for training)')
        .option('--first <n>', 'only the first tasks of the split, or the first seeds', most(100_000), 1000)
        .option('--reset <json>', 'what a reset is given beside its seed (OpenEnv)', jsonObject)
        .option('--instructions <text>', 'said to the policy before the first observation (OpenEnv)')
        .option('--show <fields>', 'the fields of an observation that the policy reads (OpenEnv)', listed)
        .option('--out <file>', 'the file', 'environment.jsonl')
        .option('--force', 'write over a file that is there', false)
        .action(tasks),
    )
    .addCommand(
      new Command('play')
        .description('Holds the episodes of a run in the environment until the run is over.')
        .addArgument(address())
        .addArgument(new Argument('<run>', 'id of the run, or `last` for the one that was ordered last'))
        .option('--at-once <n>', 'episodes at the same time', most(256), 8)
        .addOption(turnsOption('--turns <n>').default(USUAL_TURNS))
        .addOption(answerToolOption())
        .option('--state <dir>', 'folder of all local state', '.rollmesh')
        .action(play),
    );
