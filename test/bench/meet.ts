/**
 * What batches gain where worlds step in typed arrays: steps a second of the two-agent grid by the size of the batch, on one thread. The sizes take turns, and
 * every batch is held against the same worlds stepped one by one, byte by byte.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Random } from '../../core/random.ts';
import { thisMachine } from '../../local/machine.ts';
import { AGENTS, type MeetBatch, MOVES, resetMeet, STEPS, stepMeet } from '../../worlds/grids/meet.ts';
import { summarise } from './statistics.ts';

const RESULT = 'test/bench/results/meet.json';
const BATCHES = [1, 8, 64, 512, 4096];
/** Steps of one world that a measurement makes at least. */
const LEAST = 400_000;

const copyOf = ({ at, goals, steps, over }: MeetBatch): MeetBatch => ({
  at: Uint8Array.from(at),
  goals,
  steps: Uint8Array.from(steps),
  over: Uint8Array.from(over),
});

/** Episodes of `STEPS` steps of a batch, over and over from the same beginning; steps of single worlds a second. */
function stepsPerSecond(start: MeetBatch, moves: readonly Uint8Array[]): number {
  const size = start.over.length;
  const rewards = new Float64Array(AGENTS * size);
  const episodes = Math.ceil(LEAST / (size * STEPS));
  const begun = performance.now();
  for (let e = 0; e < episodes; e++) {
    const batch = copyOf(start);
    for (const step of moves) stepMeet(batch, step, rewards);
  }
  return (1000 * episodes * size * STEPS) / (performance.now() - begun);
}

/** Throws where a world of the batch comes to other bytes than alone. */
function expectAlike(seeds: readonly string[], moves: readonly Uint8Array[]): void {
  const batch = resetMeet(seeds);
  const rewards = new Float64Array(AGENTS * seeds.length);
  const alone = seeds.map((seed) => resetMeet([seed]));
  for (const step of moves) {
    stepMeet(batch, step, rewards);
    for (const [b, world] of alone.entries()) {
      const own = new Float64Array(AGENTS);
      stepMeet(world, step.subarray(AGENTS * b, AGENTS * (b + 1)), own);
      for (let agent = 0; agent < AGENTS; agent++)
        if (world.at[agent] !== batch.at[AGENTS * b + agent] || own[agent] !== rewards[AGENTS * b + agent])
          throw new Error(`internal: world ${b} of a batch differs from itself alone`);
    }
  }
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
  });
  const random = new Random('bench/meet');
  const made = BATCHES.map((size) => {
    const seeds = Array.from({ length: size }, (_, i) => String(i));
    const moves = Array.from({ length: STEPS }, () =>
      Uint8Array.from({ length: AGENTS * size }, () => random.int(MOVES.length)),
    );
    expectAlike(
      seeds.slice(0, 64),
      moves.map((step) => step.subarray(0, AGENTS * Math.min(size, 64))),
    );
    return { size, start: resetMeet(seeds), moves, rates: [] as number[] };
  });
  for (let round = 0; round <= Number(values.rounds); round++)
    for (const one of made) {
      const rate = stepsPerSecond(one.start, one.moves);
      // The first round warms the compiler up.
      if (round > 0) one.rates.push(rate);
    }
  const rows = made.map(({ size, rates }) => ({ batch: size, stepsPerSecond: summarise(rates) }));
  const result = { machine: thisMachine(), rows };
  if (values.json) console.log(JSON.stringify(result));
  else {
    writeFileSync(RESULT, `${JSON.stringify(result, null, 1)}\n`);
    for (const row of rows)
      console.log(`batch ${row.batch}: ${Math.round(row.stepsPerSecond.median)} steps a second`);
  }
}
