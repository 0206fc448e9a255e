/** `rollmesh runs`: lists the runs of a mesh, names, tags and hides them, and deletes those that nobody wants any more. */
import { Command } from 'commander';
import { wrongInput } from '../core/errors.ts';
import type { ListedRun, RunLabel } from '../core/schema/answers.ts';
import { calledAs } from './called-as.ts';
import { heading, row } from './policy/tables.ts';
import { printable } from './printable.ts';
import { percent, whole } from './shared/figures.ts';
import { type MeshOptions, meshSubcommands, onMesh } from './shared/mesh-commands.ts';
import { collect } from './shared/run-options.ts';

interface LabelOptions extends MeshOptions {
  readonly name?: string;
  readonly tag: readonly string[];
  readonly untag: readonly string[];
  readonly hide?: boolean;
  readonly show?: boolean;
}

/** The most runs that a listing reads. */
export const MOST = 500;

const RUNS = [
  { title: 'run', width: 32, left: true },
  { title: 'name', width: 28, left: true },
  { title: 'rounds', width: 9 },
  { title: 'start', width: 6 },
  { title: 'now', width: 6 },
  { title: 'state', width: 7, left: true },
  { title: 'tags', width: 4, left: true },
];

/** What a person calls a run: the name that it was given, or what its recipe is called and its settings. */
export function runName({
  label,
  called,
  settings,
}: Pick<ListedRun, 'label' | 'called' | 'settings'>): string {
  const { recipe, seed, tasks, groupSize } = settings;
  return label.name ?? `${called ?? recipe}, seed ${seed}, ${tasks} × ${groupSize}`;
}

/**
 * What is said where a run begins beside one that was interrupted, on files of the same names: what is in them, or a setting, has changed since. Null
 * where there is no such run.
 */
export function changedSince(
  { called, settings: { policy } }: Pick<ListedRun, 'called' | 'settings'>,
  paused: readonly ListedRun[],
): string | null {
  const other = paused.find((one) => one.called === called && one.settings.policy === policy);
  if (called === undefined || !other) return null;
  return `${runName(other)} was interrupted after ${other.done} of ${other.target} rounds, and its tasks or settings were other ones: this is another run. --resume goes on with that one, on the tasks that it was ordered on.`;
}

const cells = (run: ListedRun) => [
  run.id,
  runName(run),
  `${whole(run.done)} of ${whole(run.target)}`,
  percent(run.first),
  percent(run.last),
  runStateWords(run),
  [...run.label.tags, ...(run.label.hidden ? ['(hidden)'] : [])].join(' '),
];

/** Whether a run plays, waits to be resumed, was ended before its end, or has all its rounds. */
export const runStateWords = ({
  state,
  done,
  target,
}: Pick<ListedRun, 'state' | 'done' | 'target'>): string =>
  state !== 'open' ? state : done >= target ? 'ended' : 'running';

/** The run that a person means: by its id, the beginning of its id, its name, or `last`. Throws `run.unknown` where none or several fit. */
export function runMeant<T extends Pick<ListedRun, 'id' | 'label'>>(runs: readonly T[], asked: string): T {
  const [newest] = runs;
  if (asked === 'last' && newest) return newest;
  const named = runs.filter(({ id, label }) => id === asked || label.name === asked);
  const fitting = named.length ? named : runs.filter(({ id }) => asked.length >= 4 && id.startsWith(asked));
  if (fitting.length === 1) return fitting[0]!;
  throw wrongInput(
    'run.unknown',
    fitting.length
      ? `${fitting.length} runs are called ${JSON.stringify(asked)}.`
      : `There is no run ${JSON.stringify(asked)}.`,
    {
      expected: 'the id of a run, the first letters of it, its name, or `last`',
      next: 'List them: `rollmesh runs list --all`.',
    },
  );
}

/** The label after a change. Throws `runs.options` where nothing is changed, or both is asked. */
export function changedLabel(
  before: RunLabel,
  { name, tag, untag, hide, show }: Pick<LabelOptions, 'name' | 'tag' | 'untag' | 'hide' | 'show'>,
): RunLabel {
  if (hide && show)
    throw wrongInput('runs.options', 'A run cannot be both hidden and shown.', {
      expected: '--hide or --show',
    });
  if (name === undefined && !tag.length && !untag.length && !hide && !show)
    throw wrongInput('runs.options', 'Nothing is said of the run.', {
      expected: '--name, --tag, --untag, --hide or --show',
    });
  const tags = [...new Set([...before.tags, ...tag])].filter((one) => !untag.includes(one)).sort();
  return {
    name: name === undefined ? before.name : name.trim() || null,
    tags,
    hidden: hide ? true : show ? false : before.hidden,
  };
}

export function command(): Command {
  const command = new Command(calledAs('runs')).description(
    'The runs of a mesh. A deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.',
  );
  const subcommand = meshSubcommands(command);

  subcommand('list', 'newest first: rounds, held-out accuracy at the start and now, state, tags')
    .option('--all', 'hidden ones as well', false)
    .option('--tag <tag>', 'only runs with this tag (repeat: with all of them)', collect, [])
    .action(({ state, json, all, tag }: MeshOptions & { all: boolean; tag: readonly string[] }) =>
      onMesh(state, async (gateway) => {
        const known = await gateway.listRuns(MOST);
        const shown = known.filter(
          ({ label }) => (all || !label.hidden) && tag.every((wanted) => label.tags.includes(wanted)),
        );
        if (!json) console.log(shown.length ? heading(RUNS) : 'None.');
        for (const run of shown) console.log(json ? JSON.stringify(run) : printable(row(RUNS, cells(run))));
      }),
    );

  subcommand('label', 'names, tags, hides or shows a run')
    .argument('<run>', 'its id, the first letters of it, its name, or `last`')
    .option('--name <text>', 'a name in place of its settings; "" takes the name away')
    .option('--tag <tag>', 'adds a tag (repeat)', collect, [])
    .option('--untag <tag>', 'takes a tag away (repeat)', collect, [])
    .option('--hide', 'leaves it out of lists')
    .option('--show', 'takes it into lists again')
    .action((asked: string, options: LabelOptions) =>
      onMesh(options.state, async (gateway) => {
        const run = runMeant(await gateway.listRuns(MOST), asked);
        const { id, label } = await gateway.labelRun(run.id, changedLabel(run.label, options));
        const words = [
          runName({ ...run, label }),
          ...label.tags.map((tag) => `#${tag}`),
          ...(label.hidden ? ['hidden'] : []),
        ];
        console.log(options.json ? JSON.stringify({ id, label }) : printable(`${id}: ${words.join(' ')}`));
      }),
    );

  subcommand(
    'delete',
    'removes a run with its samples for good; the versions that it trained stay (see `policy prune`)',
  )
    .argument('<run>', 'its id, the first letters of it, or its name')
    .action((asked: string, { state, json }: MeshOptions) =>
      onMesh(state, async (gateway) => {
        const { id } = runMeant(await gateway.listRuns(MOST), asked);
        const objects = await gateway.deleteRun(id);
        console.log(json ? JSON.stringify({ run: id, objects }) : `${id} is deleted: ${objects} objects.`);
      }),
    );
  return command;
}
