/** The options of a run: parses the command line's strings into RunSettings. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { ENGINES, type Engine, SMALLER_WEIGHTS, type SmallerWeights } from '../../core/policy/policy.ts';
import { LARGEST_GROUP, MOST_AHEAD, MOST_ROUNDS, MOST_TASKS } from '../../core/schema/round.ts';
import { FLAGSHIP } from '../../recipes/flagship.ts';
import type { RunOrder } from '../../recipes/run-order.ts';
import { calledAs } from '../called-as.ts';

/** The number of rounds if none is given. */
const DEFAULT_ROUNDS = 40;
/** How many versions behind the samples may be that a learner trains on, if it is not told otherwise. */
export const MAX_STALENESS = 2;

/** The value of `--engine` that has the engine chosen by a measurement, and of `--weights` that has 8 bits compared with float32. */
export const FASTEST = 'fastest';

export interface StartOptions {
  /** A name or a reference to a module; once it is opened, the recipe's name. */
  readonly recipe: string;
  readonly rounds?: number;
  readonly seed: number;
  readonly headless: boolean;
  readonly fresh: boolean;
  readonly inProcess: boolean;
  readonly serve: boolean;
  readonly resume: boolean;
  readonly json: boolean;
  readonly port: number;
  readonly state: string;
  /** The name of a reward function. */
  readonly reward?: string;
  readonly freeze: readonly string[];
  readonly variant?: string;
  readonly weights?: SmallerWeights;
  readonly engine?: Engine;
  readonly ahead?: number;
  /** Files. */
  readonly tasks?: readonly string[];
  readonly tasksPerRound?: number;
  readonly groupSize?: number;
  readonly policy?: string;
  readonly evalEvery: number;
  readonly device: 'auto' | 'cpu' | 'webgpu';
  readonly threads?: number;
  readonly revectorize: boolean;
  /** The URL of a server of Tinker's API that trains. */
  readonly backend?: string;
  readonly baseModel?: string;
  readonly auditFraction: number;
  readonly nodes: number;
  /** The origin by which a proxy in front is reached. */
  readonly outside?: string | undefined;
  /** The address of an environment that a Worker of the mesh plays. */
  readonly environment?: string;
  readonly environmentTurns?: number;
  readonly answerTool?: string;
}

/** What the command line says, before anything was measured. */
export type AskedStartOptions = Omit<StartOptions, 'engine' | 'weights'> & {
  readonly engine?: Engine | typeof FASTEST;
  readonly weights?: SmallerWeights | typeof FASTEST;
};

/** Parses a whole number from `low` up; else throws commander's usage error. */
export const whole =
  (low: number, high = Number.MAX_SAFE_INTEGER) =>
  (text: string) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < low || value > high)
      throw new InvalidArgumentError(
        `Expected a whole number from ${low}${high < Number.MAX_SAFE_INTEGER ? ` to ${high}` : ''}.`,
      );
    return value;
  };

/** Parses a whole number from 1 to `limit`; else throws commander's usage error. */
export const most =
  (limit: number) =>
  (text: string): number => {
    const number = whole(1)(text);
    if (number > limit) throw new InvalidArgumentError(`Expected at most ${limit}.`);
    return number;
  };

/** Parses a TCP port, 0 for any; else throws commander's usage error. */
export const port = (text: string) => {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value > 65_535)
    throw new InvalidArgumentError('Expected a port from 0 to 65535 (0 = any that is free).');
  return value;
};

const TASKS_PER_ROUND = '--tasks-per-round';

/** Collects the files of `--tasks`. Throws commander's usage error for a number, which the option took in earlier releases. */
export function tasksOption(text: string, before: readonly string[] = []): readonly string[] {
  if (/^\d+$/.test(text))
    throw new InvalidArgumentError(`Expected a file; the number of tasks in a round is ${TASKS_PER_ROUND}.`);
  return [...before, text];
}

/** The options of the numbers that every order may have. */
export const orderNumbers = (): readonly Option[] => [
  new Option(`${TASKS_PER_ROUND} <n>`, 'tasks in a round').argParser(whole(1, MOST_TASKS)),
  new Option('--group-size <n>', 'rollouts per task').argParser(whole(2, LARGEST_GROUP)),
];

/** Parses a number from 0 to 1; else throws commander's usage error. */
export const share = (text: string) => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('Expected a number from 0 to 1.');
  return value;
};

/** Adds the options to the command. */
export const withOptions = (command: Command, options: readonly Option[]): Command =>
  options.reduce((all, option) => all.addOption(option), command);

/** Collects the values of an option that is repeated or lists values separated by commas. */
export const collect = (value: string, before: readonly string[]) => [
  ...before,
  ...value.split(',').filter(Boolean),
];

const WEIGHTS =
  'quantize the weights that sample, so that larger models fit a Worker; evaluations stay in float32';

export const weightsOption = () => new Option('--weights <form>', WEIGHTS).choices(SMALLER_WEIGHTS);

const runWeightsOption = () =>
  new Option(
    '--weights <form>',
    `${WEIGHTS}; fastest measures float32 and the kernels’ int8 on this machine first, with both engines unless one is named (default: float32)`,
  ).choices([...SMALLER_WEIGHTS, FASTEST]);

export const recipeOption = () =>
  new Option(
    '--recipe <recipe>',
    'recipe to run: a shipped one by its name, or one of your own by the path of its module or the name of its package',
  );

/** Before training; what the default costs is in docs/trust.md. */
export const auditOption = () =>
  new Option(
    '--audit-fraction <share>',
    'share of each round that the learner draws again before it trains, after reading all of it again; 0 = no audit',
  )
    .argParser(share)
    .default(0.02);

/** The URL of `tinker:URL`. */
const tinkerUrl = (text: string): string => {
  const url = /^tinker:(https?:\/\/.+)$/.exec(text)?.[1];
  if (url && URL.canParse(url)) return url;
  throw new InvalidArgumentError(
    'Expected tinker: and the URL of a server, such as tinker:http://127.0.0.1:8788.',
  );
};

export const backendOption = () =>
  new Option(
    '--backend <address>',
    'train runs with --adapter by a server of Tinker’s API in place of a device of this machine: tinker:URL; its key is read from TINKER_API_KEY',
  ).argParser(tinkerUrl);

export const baseModelOption = () =>
  new Option(
    '--base-model <name>',
    'the name that this server has for the model that the policy began with; needed where it has several',
  );

const ENGINE =
  'what computes the policies: ONNX Runtime, or kernels of this project, which are faster; kernels-plain does without fused multiply-adds';

export const engineOption = () => new Option('--engine <name>', `${ENGINE} (default: onnx)`).choices(ENGINES);

const runEngineOption = () =>
  new Option(
    '--engine <name>',
    `${ENGINE}; fastest measures both on this machine first, and the run is then that of the engine it names (default: onnx)`,
  ).choices([...ENGINES, FASTEST]);

export const aheadOption = () =>
  new Option(
    '--ahead <k>',
    `rounds that are rolled out while an earlier one trains: round r samples with exactly version r-1-k (0 to ${MOST_AHEAD}, default 0: on policy)`,
  ).argParser((text) => {
    const value = whole(0)(text);
    if (value > MOST_AHEAD)
      throw new InvalidArgumentError(`Expected a whole number from 0 to ${MOST_AHEAD}.`);
    return value;
  });

export const startCommand = (): Command =>
  withOptions(new Command(calledAs('start')), orderNumbers())
    .description('Runs the local mesh, the learner and a recipe: no account and no GPU needed.')
    .addOption(recipeOption().default(FLAGSHIP))
    .option(
      '--rounds <n>',
      'rounds of the run; it ends by itself (default 40, and the page stays up)',
      whole(1, MOST_ROUNDS),
    )
    .option('--seed <n>', 'seed of every random choice', whole(0), 0)
    .option(
      '--reward <name>',
      'the reward function that pays the policy (see `npx rollmesh recipe show NAME`); with files of tasks also a weighted sum with modules of your own, services and judges with a rubric: checker=1,./length.ts=0.2,./style.json@words@0=0.5',
    )
    .option('--freeze <role>', 'role that keeps version 0 (repeat, or separate by commas)', collect, [])
    .option(
      '--variant <name>',
      'a change of the recipe, such as an ablation (see `npx rollmesh recipe show NAME`)',
    )
    .addOption(runWeightsOption())
    .addOption(runEngineOption())
    .addOption(aheadOption())
    .option(
      '--tasks <file>',
      'a file of tasks, for the recipes that take one (docs/tasks.md): .jsonl, .csv or .parquet (repeat; FILE@3 has three times the weight)',
      tasksOption,
    )
    .option(
      '--policy <name>',
      'policy to train: one you imported (default: the start policy under a name of the run)',
    )
    .option(
      '--config <file>',
      'file that says what these flags say, in TypeScript, JavaScript, JSON, YAML or TOML (default: rollmesh.config.* in the working directory, where there is one)',
    )
    .option('--eval-every <n>', 'evaluate every n rounds', whole(1), 5)
    .option('--in-process', 'one process, without queues and Workers', false)
    .option('--serve', 'no rounds of its own: wait for webhooks until Ctrl-C', false)
    .option(
      '--resume',
      'go on with the runs of the state folder that were interrupted, and begin no other',
      false,
    )
    .option('--headless', 'end after the last round even without --rounds; do not wait for Ctrl-C', false)
    .option('--fresh', 'forget the local state and begin anew', false)
    .option('--json', 'one JSON object per line', false)
    .option('--port <n>', 'port of the gateway and the page', port, 8787)
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .addOption(
      new Option('--device <name>', 'where the learner computes')
        .choices(['auto', 'cpu', 'webgpu'])
        .default('auto'),
    )
    .option('--threads <n>', 'threads of the CPU device', whole(1))
    .option(
      '--no-revectorize',
      'CPU device on Node 24 or later: do not let V8 pair SIMD operations, which is nearly twice as fast and gives the same bits where its self-test passes',
    )
    .addOption(backendOption().conflicts('inProcess'))
    .addOption(baseModelOption())
    .addOption(auditOption())
    .addOption(
      new Option(
        '--nodes <n>',
        'processes of this machine that join the mesh as nodes and share its sampling, as machines elsewhere would',
      )
        .argParser(whole(0))
        .default(0)
        .conflicts('inProcess'),
    )
    .helpOption('-h, --help', 'show this');

/** The order that the options describe, without what the recipe decides itself. */
export const orderOf = ({
  recipe,
  seed,
  rounds,
  reward,
  freeze,
  variant,
  weights,
  engine,
  ahead,
  policy,
  tasksPerRound: tasks,
  groupSize,
}: StartOptions): RunOrder => ({
  recipe,
  seed,
  rounds: rounds ?? DEFAULT_ROUNDS,
  freeze: [...freeze],
  ...(variant === undefined ? {} : { variant }),
  ...(weights === undefined ? {} : { weights }),
  ...(engine === undefined ? {} : { engine }),
  ...(ahead === undefined ? {} : { ahead }),
  ...(reward === undefined ? {} : { rewardFunction: reward }),
  ...(policy === undefined ? {} : { policy }),
  ...(tasks === undefined ? {} : { tasks }),
  ...(groupSize === undefined ? {} : { groupSize }),
});
