/** `rollmesh trajectories RUN`: writes what the roles of a run said, or tasks, pairs and conversations made of it, to a file. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import { TEXT_FILES, textOf } from '../../core/renderer/policy-text.ts';
import {
  type EpisodeKind,
  isPicked,
  PICKS,
  rowOf,
  type Trajectory,
  trajectoriesOf,
} from '../../core/runs/trajectories.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { calledAs } from '../called-as.ts';
import { refuseExisting } from '../policy/files.ts';
import { printable } from '../printable.ts';
import { openMesh } from '../shared/mesh-access.ts';
import { runNamed } from '../shared/run-named.ts';
import { conversationRows, KINDS, type Kind, pairRows, type ReadAnswer, taskRows } from './derived-rows.ts';
import { withImageFiles } from './image-files.ts';
import { FORMATS, type Format, writeRows } from './write-rows.ts';

interface Range {
  readonly from: number;
  readonly to: number;
}

interface TrajectoryOptions {
  readonly rounds?: Range;
  readonly only: readonly EpisodeKind[];
  readonly as: Kind;
  readonly format: Format;
  readonly out?: string;
  readonly force: boolean;
  readonly state: string;
}

function rangeOf(text: string): Range {
  const [, from, to = from] = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(text) ?? [];
  if (from === undefined || Number(to) < Number(from))
    throw new InvalidArgumentError('Expected a round or a range of rounds, as in 3 or 1-8.');
  return { from: Number(from), to: Number(to) };
}

const PICK_NAMES = Object.keys(PICKS) as readonly EpisodeKind[];

/** For an option that may be repeated: each use adds a value. */
function pickOf(text: string, before: readonly EpisodeKind[]): EpisodeKind[] {
  if (!Object.hasOwn(PICKS, text))
    throw new InvalidArgumentError(`Expected one of ${PICK_NAMES.join(', ')}.`);
  return [...before, text as EpisodeKind];
}

/** Reads the answers of a policy as its own renderer does. */
async function readerOf(gateway: GatewayClient, policy: string): Promise<ReadAnswer> {
  const { renderer } = textOf(await gateway.getVersion({ name: policy, version: 0 }, TEXT_FILES), policy);
  return ({ promptIds, ids }) => renderer().read(promptIds, ids).text;
}

async function rowsOf(
  gateway: GatewayClient,
  run: string,
  policy: string,
  episodes: readonly Trajectory[],
  as: Kind,
): Promise<object[]> {
  if (as === 'rollouts') return episodes.map((episode) => rowOf(run, episode));
  if (as === 'tasks') return taskRows(episodes);
  const read = await readerOf(gateway, policy);
  return as === 'pairs' ? pairRows(episodes, read) : conversationRows(episodes, read);
}

async function write(asked: string, options: TrajectoryOptions): Promise<void> {
  const { rounds = { from: 1, to: Number.POSITIVE_INFINITY }, only, as, format, force, state } = options;
  if (as === 'pairs' && only.length)
    throw wrongInput('trajectories.pairs', 'Pairs need right and wrong answers.', {
      next: 'Leave --only out with --as pairs.',
    });
  const { gateway, close } = await openMesh(state);
  try {
    const run = await runNamed(gateway, asked);
    const part = [...only, ...(options.rounds ? [`${rounds.from}-${rounds.to}`] : [])];
    const name = [run.settings.policy, as, ...part].join('-');
    const out = options.out ?? join(state, 'trajectories', `${name}.${format}`);
    mkdirSync(dirname(out), { recursive: true });
    refuseExisting(out, force);
    const listed = (await gateway.listRounds(run.id))
      .filter(({ index }) => index >= rounds.from && index <= rounds.to)
      .sort((a, b) => a.index - b.index);
    const episodes: Trajectory[] = [];
    for (const { id, index } of listed)
      for await (const group of gateway.contentsOf(id))
        episodes.push(...trajectoriesOf(index, group).filter((episode) => isPicked(episode, only)));
    const rows = await rowsOf(gateway, run.id, run.settings.policy, episodes, as);
    if (!rows.length)
      throw wrongInput('trajectories.none', `Nothing of run ${run.id} is written.`, {
        expected: 'at least one scored episode of the rounds and the kind asked for',
        next: 'Wait for a round to be judged, or widen --rounds and --only.',
      });
    await writeRows(out, format, await withImageFiles(rows, out, (sha256) => gateway.getImage(sha256)));
    console.log(printable(`${out}: ${rows.length} ${as} of ${listed.length} rounds`));
  } finally {
    await close();
  }
}

const picks = PICK_NAMES.map((name) => `  ${name.padEnd(10)} ${PICKS[name]}`).join('\n');

export const command = (): Command =>
  new Command(calledAs('trajectories'))
    .description(
      'Exports the samples of a run as JSONL or Parquet: prompts, turns, token ids, log-probabilities, rewards, verdicts and versions; or what can be trained on again.',
    )
    .addArgument(new Argument('<run>', 'id of the run, or `last` for the one that was ordered last'))
    .option('--rounds <a-b>', 'only these rounds', rangeOf)
    .option('--only <which>', 'only episodes of this kind (repeat for several)', pickOf, [])
    .addOption(
      new Option(
        '--as <kind>',
        'rollouts as they are; questions for --tasks; pairs for --recipe dpo; right answers for --recipe sft',
      )
        .choices(KINDS)
        .default('rollouts' satisfies Kind),
    )
    .addOption(
      new Option('--format <name>', 'what to write').choices(FORMATS).default('jsonl' satisfies Format),
    )
    .option(
      '--out <file>',
      'the file (default: named after the policy and what is picked, in trajectories/ of the state folder)',
    )
    .option('--force', 'write over a file that is there', false)
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .addHelpText(
      'after',
      `\nKinds of episodes for --only:\n${picks}\n\nA deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.`,
    )
    .action(write);
