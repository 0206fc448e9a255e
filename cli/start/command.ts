/** `npx rollmesh start`; its options are in cli/shared/run-options.ts. */
import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { answerToolOption, turnsOption } from '../environment/options.ts';
import { refuseTakenPort } from '../port.ts';
import { fail } from '../shared/fail.ts';
import {
  type AskedStartOptions,
  FASTEST,
  orderOf,
  type StartOptions,
  startCommand,
} from '../shared/run-options.ts';
import { refuseBusy, refuseShared } from '../shared/state-access.ts';
import { openStateFolder, stateFlags, writtenRecipes } from '../shared/state-folder.ts';
import { addTrainingTaskOptions, type TrainingTaskOptions } from '../training-task-options.ts';
import { columnsHelp } from './progress.ts';
import { jsonPrinter, textPrinter } from './run-printer.ts';

export { withConfig as prepare } from '../run-config-file.ts';

/** How a program that has started npm ends it: the shell in which npm runs a script may keep an interrupt to itself. */
const ENDED_BY =
  'Ctrl-C ends it. A program that has started it by npm sends SIGTERM to npm, not SIGINT, which may stop at npm’s shell (docs/trust.md).';

export const command = (): Command =>
  addTrainingTaskOptions(startCommand())
    .addOption(
      new Option(
        '--environment <url>',
        'environment that somebody else hosts, in which a Worker of the mesh holds the episodes in place of an agent of your own; with --tasks FILE of `rollmesh environment tasks URL` (docs/environments.md)',
      ).conflicts('inProcess'),
    )
    .addOption(turnsOption('--environment-turns <n>'))
    .addOption(answerToolOption())
    .addHelpText('after', () => `\n${columnsHelp()}\n\n${ENDED_BY}`)
    .action(async (given: AskedStartOptions & TrainingTaskOptions) => {
      await refuseIgnored(given, process.argv.slice(2));
      const asked = await withEnvironment(given);
      const [{ askedRun }, { expectStart, isStart }, { runOf }, { openRecipes, withStateRecipes }] =
        await Promise.all([
          import('../shared/asked-run.ts'),
          import('../../local/starts.ts'),
          import('../../recipes/run-order.ts'),
          import('../recipe-modules.ts'),
        ]);
      const { files, known, options } = await askedRun(asked);
      for (const line of files?.report ?? []) console.error(line);
      // Invalid options are refused before anything is written and before slow modules are loaded.
      runOf(known.registry, orderOf(options));
      for (const recipe of known.named) await expectStart(recipe);
      const hasState = existsSync(options.state) && !options.fresh;
      if (options.policy !== undefined && !hasState && !isStart(options.policy))
        throw (await import('../policy/stored-version.ts')).missingPolicy(options.policy, []);
      const { readMeshConfig } = await import('../../local/mesh/mesh-config.ts');
      await readMeshConfig('.');
      if (options.fresh) refuseBusy(options.state);
      else refuseShared(options.state);
      if (!options.inProcess) await refuseTakenPort(options.port);
      const measured =
        asked.engine === FASTEST || asked.weights === FASTEST
          ? await measuredForm(known.named[0]!, asked)
          : {};
      // A full disk first causes an error that no code awaits: in a log's stream.
      process.on('uncaughtException', (error) => fail(error, options.json));
      const stateDir = openStateFolder(options.state, options.fresh);
      const asRun = files ? await openRecipes([await files.write(writtenRecipes(stateDir))]) : known;
      const opened = options.inProcess ? asRun : await withStateRecipes(asRun, stateDir);
      const printer = options.json ? jsonPrinter() : await textPrinter(stateFlags(options.state));
      const run = options.inProcess
        ? (await import('./process-run.ts')).runInOneProcess
        : (await import('./mesh-run.ts')).runInMesh;
      await run({ ...options, ...measured }, opened, stateDir, printer);
    });

/** Options that describe a run of one's own. */
const OF_A_RUN = [
  ...['rounds', 'seed', 'reward', 'freeze', 'variant', 'weights', 'engine', 'ahead', 'tasks'],
  ...[
    'tasks-per-round',
    'group-size',
    'policy',
    'set',
    'adapter',
    'publish',
    'agent',
    'seats',
    'tools',
    'in-process',
  ],
].map((name) => `--${name}`);

/** Throws `start.options` where a mesh that begins no run of its own is told one. A module named by `--recipe` is one that webhooks may order. */
export async function refuseIgnored(
  { serve, resume, recipe }: Pick<AskedStartOptions, 'serve' | 'resume' | 'recipe'>,
  args: readonly string[],
): Promise<void> {
  if (!serve && !resume) return;
  // What a configuration file says is of the project, and not of this command.
  const isGiven = (flag: string) => args.some((arg) => arg === flag || arg.startsWith(`${flag}=`));
  const { recipes } = await import('../../recipes/index.ts');
  const shippedRecipe = recipes.some(({ name }) => name === recipe) ? ['--recipe'] : [];
  const ignored = [...shippedRecipe, ...OF_A_RUN].filter(isGiven);
  if (!ignored.length) return;
  const mode = serve ? '--serve' : '--resume';
  throw wrongInput(
    'start.options',
    `${mode} begins no run of its own, and ${ignored.join(', ')} ${ignored.length > 1 ? 'are' : 'is'} given.`,
    {
      expected: `${mode} without options of a run`,
      next: serve
        ? 'Leave --serve out, or order the run by a webhook: `npx rollmesh trigger URL --recipe NAME`.'
        : 'Leave --resume out: the same command goes on with its run.',
    },
  );
}

/** With `--agent` where an environment is named, which has to be there. Throws where options of an environment are given without one. */
async function withEnvironment<T extends AskedStartOptions & TrainingTaskOptions>(asked: T): Promise<T> {
  const { environment, environmentTurns, answerTool, serve } = asked;
  if (environment === undefined) {
    if (environmentTurns === undefined && answerTool === undefined) return asked;
    throw wrongInput(
      'run.environment',
      `${answerTool === undefined ? '--environment-turns' : '--answer-tool'} is given, and no environment is named.`,
      { expected: '--environment URL' },
    );
  }
  const { hostOf } = await import('../environment/reach.ts');
  await hostOf(environment);
  return serve ? asked : { ...asked, agent: true };
}

/** The engine, and the form of the weights, that sample fastest here from the recipe's start policy, told on standard error. */
async function measuredForm(
  { startPolicy }: Pick<Recipe, 'startPolicy'>,
  { policy, weights, engine }: Pick<AskedStartOptions, 'policy' | 'weights' | 'engine'>,
): Promise<Pick<StartOptions, 'engine' | 'weights'>> {
  if (policy !== undefined) {
    const option = engine === FASTEST ? '--engine' : '--weights';
    throw wrongInput('engine.fastest', `${option} fastest cannot measure the policy ${policy}.`, {
      expected: 'a run that begins from its recipe’s start policy, which lies in a folder',
      next: engine === FASTEST ? 'Name an engine: onnx or kernels.' : 'Name a form, or leave --weights out.',
    });
  }
  const [{ candidates, fastestForm, fastestWords }, { nodeEngines }, { readStart }] = await Promise.all([
    import('./fastest-engine.ts'),
    import('../../infer/node-engines.ts'),
    import('../../local/find-start.ts'),
  ]);
  const asked = candidates(
    engine === FASTEST ? undefined : engine,
    weights === FASTEST ? 'measured' : weights,
  );
  const found = await fastestForm(nodeEngines, await readStart(startPolicy), asked);
  console.error(fastestWords(found));
  const { engine: name, weights: form } = found.chosen;
  return { engine: name, ...(form && { weights: form }) };
}
