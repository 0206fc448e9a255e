/** `rollmesh curves RUN`: writes a run's curves as TensorBoard events, W&B's offline file, CSV or JSON lines. It reads a mesh and changes nothing. */
import { dirname, join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import { calledAs } from '../called-as.ts';
import { printable } from '../printable.ts';
import { openMesh } from '../shared/mesh-access.ts';
import { runNamed } from '../shared/run-named.ts';
import { curvesOf, FORMATS, type Format, writeCurves } from './write-curves.ts';

interface CurvesOptions {
  readonly format: Format;
  readonly out?: string;
  readonly state: string;
}

async function write(
  asked: string,
  { format, state, out = join(state, 'curves') }: CurvesOptions,
): Promise<void> {
  const { gateway, close } = await openMesh(state);
  try {
    const run = await runNamed(gateway, asked);
    const curves = curvesOf(await gateway.reportedRounds(run.id));
    if (!curves.length)
      throw wrongInput('curves.empty', `No round of the run ${run.id} has a report yet.`, {
        next: 'Wait for its first round to be trained.',
      });
    const path = writeCurves(curves, { format, folder: out, run });
    console.log(printable(`${path}: ${curves.length} steps`));
    if (format === 'tensorboard') console.log(printable(`Next: tensorboard --logdir ${out}`));
    if (format === 'wandb') console.log(printable(`Next: wandb sync ${dirname(path)}`));
  } finally {
    await close();
  }
}

export const command = (): Command =>
  new Command(calledAs('curves'))
    .description(
      'Writes a run’s curves (reward, accuracy, KL, entropy, loss, the recipe’s own figures) to a file.',
    )
    .addArgument(new Argument('<run>', 'id of the run, or `last` for the one that was ordered last'))
    .addOption(
      new Option('--format <name>', 'what to write').choices(FORMATS).default('tensorboard' satisfies Format),
    )
    .option('--out <dir>', 'folder that it is written to (default: curves/ in the state folder)')
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .addHelpText('after', '\nA deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.')
    .action(write);
