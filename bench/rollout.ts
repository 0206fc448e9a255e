/**
 * How fast a Worker generates: a policy's graph (one run a batch, prompts shared) against the usual loop of one
 * `session.run` a token, in workerd, interleaved.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Miniflare } from 'miniflare';
import { bundleWorker } from '../mesh/bundle.ts';
import { parameterCount } from '../model/checkpoint.ts';
import { type ModelConfig, parseConfig } from '../model/config.ts';
import { toHfConfig } from '../model/hf-config.ts';
import { randomCheckpoint } from '../model/init.ts';
import { packWeights } from '../model/onnx/weights.ts';
import { thisMachine } from './machine.ts';
import { childrenNamed, cpuMs } from './process-cpu.ts';
import type { TimedRun, Way } from './rollout/bench.worker.ts';
import { type Summary, summarise } from './statistics.ts';

const PROMPT = 32;
const MAX_NEW = 48;

const sizes: Record<string, ModelConfig> = {
  seed: parseConfig({
    model_type: 'llama',
    vocab_size: 64,
    hidden_size: 128,
    intermediate_size: 384,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    max_position_embeddings: 128,
  }),
  large: parseConfig({
    model_type: 'llama',
    vocab_size: 512,
    hidden_size: 384,
    intermediate_size: 1024,
    num_hidden_layers: 8,
    num_attention_heads: 6,
    num_key_value_heads: 2,
    max_position_embeddings: 128,
    tie_word_embeddings: true,
  }),
};

const shapes = [
  { groups: 1, samples: 1 },
  { groups: 2, samples: 8 },
  { groups: 8, samples: 8 },
];

interface Speed {
  /** Tokens a second by the wall clock. */
  readonly graph: Summary;
  readonly step: Summary;
  /** Of neighbouring runs, graph over step. */
  readonly speedup: Summary;
  /** The same by the Worker process's CPU time, which other programs on the machine disturb less. */
  readonly cpuSpeedup: Summary;
}

interface Row {
  readonly size: string;
  readonly parameters: number;
  readonly batch: number;
  readonly groups: number;
  /** All tokens, prefill included. */
  readonly whole: Speed;
  /** Tokens after the first of each row: the difference to runs that stop there. */
  readonly decode: Speed;
}

interface Prefill {
  readonly size: string;
  readonly samples: number;
  /** Milliseconds of everything up to the first token of each sample. */
  readonly shared: Summary;
  readonly apart: Summary;
  /** Part of the time saved, over (G - 1) / G, the most that can be. */
  readonly ofPossible: number;
}

export interface RolloutResult {
  readonly bench: 'rollout';
  readonly machine: ReturnType<typeof thisMachine>;
  readonly heapBytes: Record<string, number>;
  readonly rows: Row[];
  readonly prefill: Prefill[];
}

class BenchWorker {
  readonly #worker: Miniflare;
  /** Process id of this Worker's workerd. */
  readonly #pid: number | undefined;

  private constructor(worker: Miniflare, pid: number | undefined) {
    this.#worker = worker;
    this.#pid = pid;
  }

  static async start(): Promise<BenchWorker> {
    const { root, modules } = await bundleWorker('bench/rollout/bench.worker.ts');
    const worker = new Miniflare({
      modulesRoot: root,
      modules,
      compatibilityDate: '2026-04-01',
      compatibilityFlags: ['nodejs_compat'],
      cf: false,
    });
    await worker.ready;
    return new BenchWorker(worker, childrenNamed('workerd').at(-1));
  }

  async open(config: ModelConfig): Promise<number> {
    const answer = await this.#worker.dispatchFetch('http://bench/', {
      method: 'POST',
      headers: { 'x-config': JSON.stringify(toHfConfig(config)) },
      body: packWeights(config, randomCheckpoint(config, 'bench')),
    });
    const { heapBytes } = JSON.parse(await answer.text());
    return heapBytes;
  }

  async time(run: TimedRun): Promise<{ ms: number; cpu: number; first: number[] }> {
    const before = this.#cpu();
    const answer = await this.#worker.dispatchFetch('http://bench/', {
      method: 'POST',
      body: JSON.stringify(run),
    });
    const timed: { ms: number; first: number[] } = JSON.parse(await answer.text());
    return { ...timed, cpu: this.#cpu() - before };
  }

  #cpu(): number {
    return (this.#pid === undefined ? undefined : cpuMs(this.#pid)) ?? performance.now();
  }

  stop(): Promise<void> {
    return this.#worker.dispose();
  }
}

type Times = Record<Way, { ms: number; cpu: number }>;

/** Speeds from runs of `tokens` tokens each; a difference that noise made negative is left out. */
function speedOf(runs: readonly Times[], tokens: number): Speed {
  const good = runs.filter(({ graph, step }) => Math.min(graph.ms, graph.cpu, step.ms, step.cpu) > 0);
  return {
    graph: summarise(good.map(({ graph }) => (1000 * tokens) / graph.ms)),
    step: summarise(good.map(({ step }) => (1000 * tokens) / step.ms)),
    speedup: summarise(good.map(({ graph, step }) => step.ms / graph.ms)),
    cpuSpeedup: summarise(good.map(({ graph, step }) => step.cpu / graph.cpu)),
  };
}

async function measureShape(
  worker: BenchWorker,
  rounds: number,
  shape: { groups: number; samples: number },
): Promise<Pick<Row, 'whole' | 'decode'>> {
  const timed = async (way: Way, maxNew: number) => worker.time({ way, ...shape, prompt: PROMPT, maxNew });
  // The compiler replaces hot code while it runs: the first runs are several times slower and say nothing.
  for (let i = 0; i < 6; i++) {
    const [graph, step] = [await timed('graph', MAX_NEW), await timed('step', MAX_NEW)];
    if (graph.first.join() !== step.first.join()) throw new Error('The two ways generate different tokens.');
  }
  const both = async (order: readonly Way[], maxNew: number): Promise<Times> => {
    const times: Partial<Times> = {};
    for (const way of order) times[way] = await timed(way, maxNew);
    return { graph: times.graph!, step: times.step! };
  };
  const whole: Times[] = [];
  const decode: Times[] = [];
  for (let i = 0; i < rounds; i++) {
    const order: Way[] = i % 2 ? ['graph', 'step'] : ['step', 'graph'];
    const all = await both(order, MAX_NEW);
    const first = await both(order, 1);
    const after = (way: Way) => ({ ms: all[way].ms - first[way].ms, cpu: all[way].cpu - first[way].cpu });
    whole.push(all);
    decode.push({ graph: after('graph'), step: after('step') });
  }
  const rows = shape.groups * shape.samples;
  return { whole: speedOf(whole, rows * MAX_NEW), decode: speedOf(decode, rows * (MAX_NEW - 1)) };
}

async function measurePrefill(worker: BenchWorker, rounds: number, size: string): Promise<Prefill> {
  const samples = 16;
  const times = { shared: [] as number[], apart: [] as number[] };
  const run = async (groups: number) =>
    (await worker.time({ way: 'graph', groups, samples: samples / groups, prompt: PROMPT, maxNew: 1 })).ms;
  for (let i = 0; i < 4; i++) await run(i % 2 ? 1 : samples);
  for (let i = 0; i < 2 * rounds; i++) {
    times.shared.push(await run(1));
    times.apart.push(await run(samples));
  }
  const [shared, apart] = [summarise(times.shared), summarise(times.apart)];
  const ofPossible = (1 - shared.median / apart.median) / ((samples - 1) / samples);
  return { size, samples, shared, apart, ofPossible };
}

async function measure(
  rounds: number,
  names: readonly string[],
  say: (line: string) => void,
): Promise<RolloutResult> {
  const worker = await BenchWorker.start();
  const rows: Row[] = [];
  const prefill: Prefill[] = [];
  const heapBytes: Record<string, number> = {};
  try {
    for (const size of names) {
      const config = sizes[size]!;
      heapBytes[size] = await worker.open(config);
      for (const shape of shapes) {
        const row = {
          size,
          parameters: parameterCount(config),
          batch: shape.groups * shape.samples,
          groups: shape.groups,
          ...(await measureShape(worker, rounds, shape)),
        };
        rows.push(row);
        say(`${size.padEnd(6)} batch ${String(row.batch).padStart(2)}  decode ${speedText(row.decode)}`);
        say(`${' '.repeat(15)}  whole  ${speedText(row.whole)}`);
      }
      const shared = await measurePrefill(worker, rounds, size);
      prefill.push(shared);
      say(
        `${size.padEnd(6)} prefill of ${shared.samples} samples: ${shared.shared.median.toFixed(1)} ms shared, ` +
          `${shared.apart.median.toFixed(1)} ms apart; ${(100 * shared.ofPossible).toFixed(0)} % of what sharing can save`,
      );
    }
  } finally {
    await worker.stop();
  }
  return { bench: 'rollout', machine: thisMachine(), heapBytes, rows, prefill };
}

const speedText = ({ graph, step, speedup, cpuSpeedup }: Speed): string =>
  `graph ${graph.median.toFixed(0).padStart(6)} tokens/s, per token ${step.median.toFixed(0).padStart(6)}: ` +
  `${speedup.median.toFixed(2)}x (${speedup.low.toFixed(2)}-${speedup.high.toFixed(2)}), ` +
  `by CPU time ${cpuSpeedup.median.toFixed(2)}x (${cpuSpeedup.low.toFixed(2)}-${cpuSpeedup.high.toFixed(2)})`;

/** `--rounds N` (15), `--size seed|large` (both), `--json`: one JSON object; results also go to bench/results/rollout.json. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '15' },
      size: { type: 'string', multiple: true },
      json: { type: 'boolean' },
    },
  });
  const result = await measure(Number(values.rounds), values.size ?? Object.keys(sizes), (line) => {
    if (!values.json) console.log(line);
  });
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('bench/results', { recursive: true });
  writeFileSync('bench/results/rollout.json', `${JSON.stringify(result, null, 2)}\n`);
}
