/** The measurements: the speed of a batch shape, and the gain from sharing prompts. */
import { type Summary, summarise } from '../statistics.ts';
import type { Way } from './bench.worker.ts';
import type { BenchWorker } from './bench-process.ts';
import type { Shape } from './prompts.ts';

export const PROMPT = 32;
export const MAX_NEW = 48;
/** The compiler replaces hot code while it runs: the first seconds are several times slower and are left out. */
const WARM_UP_MS = 4000;

export async function warmUp(run: () => Promise<void>): Promise<void> {
  const start = performance.now();
  do await run();
  while (performance.now() - start < WARM_UP_MS);
}

export interface Speed {
  /** Tokens a second by the wall clock. */
  readonly graph: Summary;
  readonly step: Summary;
  /** The speed of the graph over that of the step loop, in neighbouring runs. */
  readonly speedup: Summary;
  /** The same by the Worker process's CPU time, which other programs on the machine disturb less. */
  readonly cpuSpeedup: Summary;
}

interface Time {
  readonly ms: number;
  readonly cpu: number;
}

type Pair = Record<'graph' | 'step', Time>;

/** Speeds from pairs of runs of `tokens` tokens each; a difference that noise made negative is left out. */
function speedOf(runs: readonly Pair[], tokens: number): Speed {
  const good = runs.filter(({ graph, step }) => Math.min(graph.ms, graph.cpu, step.ms, step.cpu) > 0);
  return {
    graph: summarise(good.map(({ graph }) => (1000 * tokens) / graph.ms)),
    step: summarise(good.map(({ step }) => (1000 * tokens) / step.ms)),
    speedup: summarise(good.map(({ graph, step }) => step.ms / graph.ms)),
    cpuSpeedup: summarise(good.map(({ graph, step }) => step.cpu / graph.cpu)),
  };
}

const minus = (a: Time, b: Time): Time => ({ ms: a.ms - b.ms, cpu: a.cpu - b.cpu });

/**
 * `whole`: all tokens, prefill included. `decode`: tokens after the first of each row, from the difference to runs that stop
 * there. `products`: the part of the graph's decoding that matrix products alone take.
 */
export async function measureShape(
  worker: BenchWorker,
  rounds: number,
  shape: Shape,
): Promise<{ whole: Speed; decode: Speed; products: Summary }> {
  const timed = (way: Way, maxNew: number) => worker.time({ way, ...shape, prompt: PROMPT, maxNew });
  await warmUp(async () => {
    const [graph, step] = [await timed('graph', MAX_NEW), await timed('step', MAX_NEW)];
    if (graph.first.join() !== step.first.join()) throw new Error('The two ways generate different tokens.');
    await timed('products', MAX_NEW);
  });
  const whole: Pair[] = [];
  const decode: Pair[] = [];
  const products: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const order = i % 2 ? (['graph', 'step'] as const) : (['step', 'graph'] as const);
    const [all, first]: [Partial<Pair>, Partial<Pair>] = [{}, {}];
    for (const way of order) all[way] = await timed(way, MAX_NEW);
    for (const way of order) first[way] = await timed(way, 1);
    const after = {
      graph: minus(all.graph!, first.graph!),
      step: minus(all.step!, first.step!),
    };
    whole.push({ graph: all.graph!, step: all.step! });
    decode.push(after);
    if (after.graph.cpu > 0) products.push((await timed('products', MAX_NEW - 1)).cpu / after.graph.cpu);
  }
  const rows = shape.groups * shape.samples;
  return {
    whole: speedOf(whole, rows * MAX_NEW),
    decode: speedOf(decode, rows * (MAX_NEW - 1)),
    products: summarise(products),
  };
}

export interface Prefill {
  readonly samples: number;
  /** Milliseconds of everything up to the first token of each sample. */
  readonly shared: Summary;
  readonly apart: Summary;
  /** Part of the time saved, over (G - 1) / G, the most that can be. */
  readonly ofPossible: number;
}

export async function measurePrefill(worker: BenchWorker, rounds: number): Promise<Prefill> {
  const samples = 16;
  const run = async (groups: number) =>
    (await worker.time({ way: 'graph', groups, samples: samples / groups, prompt: PROMPT, maxNew: 1 })).ms;
  await warmUp(async () => {
    await run(1);
    await run(samples);
  });
  const times = { shared: [] as number[], apart: [] as number[] };
  for (let i = 0; i < 2 * rounds; i++) {
    times.shared.push(await run(1));
    times.apart.push(await run(samples));
  }
  const [shared, apart] = [summarise(times.shared), summarise(times.apart)];
  return {
    samples,
    shared,
    apart,
    ofPossible: (1 - shared.median / apart.median) / ((samples - 1) / samples),
  };
}
