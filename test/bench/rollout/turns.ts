/** Contenders that take turns, so that what disturbs the machine disturbs all of them. */

/** The forms of the kernels engine that are compared with peers. */
export const PEER_FORMS = ['fused', 'int8', 'w8a8'] as const;

/** What runs in the page: the ONNX policy, the kernels engine, and each peer in float32 and in 8 bits. */
export const PAGE_SIDES = [
  'graph',
  ...PEER_FORMS,
  'wllama',
  'wllama-q8',
  'transformers',
  'transformers-q8',
] as const;
export type PageSide = (typeof PAGE_SIDES)[number];

/** By how much log-probabilities (nats) of a side differ from the ONNX policy's. */
export type PageErrors = Partial<Record<PageSide, { readonly mean: number; readonly max: number }>>;

/** A turn is at least this long, since one run can be shorter than what surrounds it. */
export const TURN_MS = 200;

export interface Turn {
  /** The mean milliseconds of a run. */
  readonly ms: number;
  readonly runs: number;
}

/** Runs as often as last `atLeast` milliseconds, and once at least. */
export async function turnOf(run: () => Promise<unknown>, atLeast = TURN_MS): Promise<Turn> {
  const start = performance.now();
  let runs = 0;
  do {
    await run();
    runs++;
  } while (performance.now() - start < atLeast);
  return { ms: (performance.now() - start) / runs, runs };
}

/** The mean times of the runs of a turn, by the wall clock and by the CPU time of the process that ran them, and their number. */
export interface RunTime extends Turn {
  readonly cpu: number;
}

/** `cpuNow`: the CPU time of that process so far. */
export async function timed(turn: () => Promise<Turn>, cpuNow: () => number): Promise<RunTime> {
  const before = cpuNow();
  const { ms, runs } = await turn();
  return { ms, runs, cpu: (cpuNow() - before) / runs };
}

/** The CPU time that each contender has before anything is measured: on a busy machine the wall clock would cut this short. */
const WARM_UP_MS = 2000;

/** Lets each of `names` run until the compiler has replaced its hot code. */
export async function warmUpEach<Name extends string>(
  names: readonly Name[],
  turn: (name: Name) => Promise<RunTime>,
): Promise<void> {
  for (const name of names)
    for (let spent = 0; spent < WARM_UP_MS; ) {
      const { cpu, runs } = await turn(name);
      spent += cpu * runs;
    }
}

/** Lets each of `names` take a turn in every round. Each round begins with another, so that none always follows a slow one. */
export async function inTurns<Name extends string, T>(
  names: readonly Name[],
  rounds: number,
  turn: (name: Name) => Promise<T>,
): Promise<Record<Name, T>[]> {
  const all: Record<Name, T>[] = [];
  for (let round = 0; round < rounds; round++) {
    const times: Partial<Record<Name, T>> = {};
    for (const i of names.keys()) {
      const name = names[(i + round) % names.length]!;
      times[name] = await turn(name);
    }
    all.push(times as Record<Name, T>);
  }
  return all;
}
