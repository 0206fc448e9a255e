/**
 * A training step of a low-rank adapter and one of all weights of the same model, in turns on the CPU device, each in a process of its own with the
 * memory, micro-batches and recomputation that a learner has.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { wrongInput } from '../../core/errors.ts';
import { thisMachine } from '../../local/machine.ts';
import { ADAPTER, SIZES } from './adapter-sizes.ts';
import { Contender } from './contender.ts';
import { summarise } from './statistics.ts';

const RESULT = 'test/bench/results/adapter.json';
const KINDS = ['full', 'adapter'] as const;

interface Turn {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly rss: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      size: { type: 'string', default: '12.8M' },
      sequences: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const size = SIZES[values.size];
  const rounds = Number(values.rounds);
  const sequences = Number(values.sequences ?? size?.sequences);
  if (!size || [rounds, sequences].some((count) => !Number.isInteger(count) || count < 1))
    throw wrongInput('bench.options', `There is no bench with ${args.join(' ')}.`, {
      expected: `--size ${Object.keys(SIZES).join(' or ')}, and --rounds and --sequences from 1`,
    });
  const name = values.sequences === undefined ? values.size : `${values.size}, ${sequences} sequences`;
  const contenders = [];
  for (const kind of KINDS) {
    const started = await Contender.start({
      name: kind,
      command: process.execPath,
      args: [
        '--import',
        './cli/install/typescript.mjs',
        'test/bench/adapter-step.ts',
        values.size,
        kind,
        `${sequences}`,
      ],
    });
    contenders.push({ kind, ...started, turns: [] as Turn[] });
  }
  // The first step of each reserves memory and compiles.
  for (let round = -1; round < rounds; round++)
    for (const { contender, turns } of contenders) {
      const turn = (await contender.turn()) as Turn;
      if (round >= 0) turns.push(turn);
    }
  for (const { contender } of contenders) await contender.stop();
  const [full, adapter] = contenders.map(({ first, turns }) => ({
    ...(first as object),
    wallMs: summarise(turns.map(({ wallMs }) => wallMs)),
    cpuMs: summarise(turns.map(({ cpuMs }) => cpuMs)),
    /** Most bytes of tensors, and of the process. */
    peakBytes: Math.max(...turns.map(({ peakBytes }) => peakBytes)),
    rss: Math.max(...turns.map(({ rss }) => rss)),
    turns,
  }));
  const ratioOf = (time: 'cpuMs' | 'wallMs') =>
    summarise(adapter!.turns.map((turn, i) => turn[time] / full!.turns[i]![time]));
  const [ratio, wallRatio] = [ratioOf('cpuMs'), ratioOf('wallMs')];
  const result = {
    machine: thisMachine(),
    setting: { ...ADAPTER, sequences, length: size.length, rounds },
    full: { ...full, turns: undefined },
    adapter: { ...adapter, turns: undefined },
    /** CPU time of the adapter's step over that of the full step beside it. */
    ratio,
    /** The same by the clock, which other programs disturb. */
    wallRatio,
  };
  console.log(
    values.json
      ? JSON.stringify(result)
      : `${name}: a full step takes ${full!.cpuMs.median.toFixed(0)} ms of CPU, an adapter's ${adapter!.cpuMs.median.toFixed(0)}, ${ratio.median.toFixed(2)} times as much (${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)}), and ${wallRatio.median.toFixed(2)} by the clock`,
  );
  const others = existsSync(RESULT)
    ? (JSON.parse(readFileSync(RESULT, 'utf8')) as { sizes: object }).sizes
    : {};
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync(
    RESULT,
    `${JSON.stringify({ bench: 'adapter', sizes: { ...others, [name]: result } }, null, 2)}\n`,
  );
}
