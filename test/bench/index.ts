/** `npm run bench -- NAME [options]`: each benchmark answers one question and measures its peers in the same run. */
import '../../cli/install/require-node.mjs';
import { fail } from '../../cli/shared/fail.ts';
import { wrongInput } from '../../core/errors.ts';

interface Bench {
  readonly about: string;
  readonly options: string;
  readonly load: () => Promise<{ run(args: readonly string[]): Promise<void> }>;
}

const BENCHES: Readonly<Record<string, Bench>> = {
  adapter: {
    about: 'what a training step of an adapter takes, beside one of all weights',
    options: '[--rounds N] [--size 12.8M|135M] [--sequences N] [--json]',
    load: () => import('./adapter.ts'),
  },
  agent: {
    about: 'whether an agent gets better by working, over a small run',
    options: '[--example sums|search] [--rounds N] [--seed N] [--port N] [--json]',
    load: () => import('./agent.ts'),
  },
  chance: {
    about: 'after how many completions the audit finds a close node at another temperature',
    options: '[--nodes N] [--json]',
    load: () => import('./chance.ts'),
  },
  deltas: {
    about: 'what share of bf16 weights a version changes, by the learning rate',
    options: '[--versions N] [--json]',
    load: () => import('./deltas.ts'),
  },
  elastic: {
    about: 'how far the mesh stretches: a model, held against local runs',
    options: '[--engine NAME] [--again] [--page] [--json]',
    load: () => import('./elastic.ts'),
  },
  engines: {
    about: 'what a run takes with ONNX Runtime and with the kernels: time, CPU time, cost and openings',
    options: '[--rounds N] [--json]',
    load: () => import('./engines.ts'),
  },
  flatness: {
    about: 'whether the memory of each local process stays flat over many rounds',
    options: '[--rounds N] [--json]',
    load: () => import('./flatness.ts'),
  },
  gpu: {
    about:
      'what a GPU does for the learner: products, the choice of `auto`, and whether training again gives the same bytes',
    options: '[--json]',
    load: () => import('./gpu.ts'),
  },
  isolate: {
    about: 'how large a policy an isolate of 128 MB can hold',
    options: '[--json]',
    load: () => import('./isolate.ts'),
  },
  large: {
    about:
      'what 12.8 M or 44 M parameters in isolates, and 135 M or 0.5 B by a node, take from import to export',
    options: '--tokenizer DIR [--size 12.8M|44M|135M|0.5B] [--port N] [--json]',
    load: () => import('./large.ts'),
  },
  learner: {
    about: 'how long a training step takes, beside PyTorch',
    options:
      '[--rounds N] [--config c1|c2|0.2M|12.8M|135M|gpu|large] [--device cpu|webgpu] [--no-large] [--json]',
    load: () => import('./learner.ts'),
  },
  mixed: {
    about: 'whether a browser tab, a process and isolates together make the versions of isolates alone',
    options: '[--rounds N] [--seed N] [--json]',
    load: () => import('./mixed.ts'),
  },
  meet: {
    about: 'what batches gain where worlds step in typed arrays: steps a second of a grid for two agents',
    options: '[--rounds N] [--json]',
    load: () => import('./meet.ts'),
  },
  moments: {
    about: 'what moments in 8 bits cost in loss, and save in bytes',
    options: '[--steps N] [--seeds N] [--json]',
    load: () => import('./moments.ts'),
  },
  native: {
    about: 'what native ONNX Runtime gains in a node, and how close it comes',
    options: '[--turns N] [--json]',
    load: () => import('./native.ts'),
  },
  nodes: {
    about: 'what a second node gains, in groups a second',
    options: '[--turns N] [--tasks N] [--json]',
    load: () => import('./nodes.ts'),
  },
  overlap: {
    about: 'what rounds that overlap gain, beside what the elastic model predicts',
    options: '[--rounds N] [--json]',
    load: () => import('./overlap.ts'),
  },
  rollout: {
    about: 'how fast a Worker generates, beside a loop of one run per token',
    options: '[--rounds N] [--size NAME] [--kernels | --peers] [--json]',
    load: () => import('./rollout.ts'),
  },
  scaling: {
    about: "whether a round's time grows with its groups alone",
    options: '[--turns N] [--json]',
    load: () => import('./scaling.ts'),
  },
  tab: {
    about: 'the pace of a run in a browser tab, beside that of one process with one thread',
    options: '[--turns N] [--json]',
    load: () => import('./tab.ts'),
  },
  threads: {
    about: 'what the threads of a node take with one copy of the weights, and with a copy each',
    options: '[--turns N] [--json]',
    load: () => import('./threads.ts'),
  },
  words: {
    about: 'what training adds to the policy that reads English, on questions nobody here wrote',
    options: '[--recipe grpo|trio] [--seeds N] [--rounds N] [--jobs N] [--state DIR] [--json]',
    load: () => import('./words.ts'),
  },
};

const usageOf = (name: string, { about, options }: Bench) =>
  `  npm run bench -- ${name} ${options}\n      ${about}`;
const usage = () => {
  const each = Object.entries(BENCHES).map(([name, bench]) => usageOf(name, bench));
  return ['Each takes minutes, and writes what it measured to test/bench/results/.', '', ...each].join('\n');
};

const isHelp = (text: string) => text === '--help' || text === '-h' || text === 'help';

/** Refuses an option whose number is none, before minutes are spent and a record is written over. Throws `bench.options`. */
function expectNumbers({ options }: Bench, args: readonly string[]): void {
  for (const [, option] of options.matchAll(/(--[a-z-]+) N\b/g)) {
    const at = args.findIndex((arg) => arg === option || arg.startsWith(`${option}=`));
    if (at < 0) continue;
    const given = args[at] === option ? args[at + 1] : args[at]!.slice(option!.length + 1);
    const least = option === '--seed' || option === '--port' ? 0 : 1;
    if (given !== undefined && !(/^\d+$/.test(given) && Number(given) >= least))
      throw wrongInput('bench.options', `${option} is ${JSON.stringify(given)}.`, {
        expected: `a whole number from ${least}`,
      });
  }
}

async function run([name, ...args]: readonly string[]): Promise<void> {
  if (name === undefined || isHelp(name)) return console.log(usage());
  const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
  if (!bench)
    throw wrongInput('bench.name', `There is no bench ${JSON.stringify(name)}.`, {
      expected: Object.keys(BENCHES).join(' or '),
      next: 'See `npm run bench -- --help`.',
    });
  if (args.some(isHelp)) return console.log(usageOf(name, bench));
  expectNumbers(bench, args);
  try {
    await (await bench.load()).run(args);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!(error instanceof Error) || !code.startsWith('ERR_PARSE_ARGS')) throw error;
    throw wrongInput('bench.options', error.message.split('. ')[0]!, {
      expected: bench.options,
      cause: error,
    });
  }
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  fail(error);
}
