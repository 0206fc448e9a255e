/**
 * What the threads of a node take with one copy of a policy's weights, and with a copy each: resident memory, CPU time and tokens. The two take turns, each in
 * a process of its own. Linux only.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { thisMachine } from '../../local/machine.ts';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { summarise } from './statistics.ts';

const RESULT = 'test/bench/results/threads.json';
export const THREADS = 2;
/** Calls of each thread that are timed. */
export const CALLS = 4;

const LLAMA = { model_type: 'llama', rms_norm_eps: 1e-5, rope_theta: 1e4, tie_word_embeddings: true };
export const SIZES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '19M': {
    ...LLAMA,
    vocab_size: 97,
    hidden_size: 512,
    intermediate_size: 1376,
    num_hidden_layers: 6,
    num_attention_heads: 8,
    max_position_embeddings: 512,
  },
  /** SmolLM2-135M's shape. */
  '135M': {
    ...LLAMA,
    vocab_size: 49_152,
    hidden_size: 576,
    intermediate_size: 1536,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
    max_position_embeddings: 2048,
  },
};
const FORMS = ['fused', 'int8'] as const;
const COPIES = ['one', 'each'] as const;

export interface ThreadFigures {
  readonly parameters: number;
  /** What the process grew by when both threads had opened the policy and generated. */
  readonly residentBytes: number;
  /** CPU time in which both opened it and generated once. */
  readonly openCpuSeconds: number;
  readonly tokensPerSecond: number;
  readonly tokensPerCpuSecond: number;
}

function measure(size: string, form: string, copies: string): ThreadFigures {
  const args = [...NODE_FLAGS, 'test/bench/threads-process.ts', size, form, copies];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as ThreadFigures;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { turns: { type: 'string', default: '3' }, json: { type: 'boolean', default: false } },
  });
  const rows = [];
  for (const size of Object.keys(SIZES))
    for (const form of FORMS) {
      const turns = Array.from({ length: Number(values.turns) }, () => {
        const [one, each] = COPIES.map((copies) => measure(size, form, copies)) as [
          ThreadFigures,
          ThreadFigures,
        ];
        return { one, each };
      });
      const of = (copies: (typeof COPIES)[number]) => {
        const median = (figure: keyof ThreadFigures) =>
          summarise(turns.map((turn) => turn[copies][figure])).median;
        return {
          residentMib: Math.round(median('residentBytes') / 2 ** 20),
          openCpuSeconds: Math.round(100 * median('openCpuSeconds')) / 100,
          tokensPerSecond: Math.round(median('tokensPerSecond')),
          tokensPerCpuSecond: Math.round(median('tokensPerCpuSecond')),
        };
      };
      const row = { size, form, parameters: turns[0]!.one.parameters, one: of('one'), each: of('each') };
      rows.push(row);
      if (!values.json)
        for (const copies of COPIES) {
          const { residentMib, openCpuSeconds, tokensPerSecond, tokensPerCpuSecond } = row[copies];
          console.log(
            `${size} ${form}, ${copies === 'one' ? 'one copy' : 'a copy each'}: ${residentMib} MiB, opened in ${openCpuSeconds} CPU seconds, ${tokensPerSecond} tokens a second, ${tokensPerCpuSecond} a CPU second`,
          );
        }
    }
  const result = {
    bench: 'threads',
    machine: thisMachine(),
    threads: THREADS,
    turns: Number(values.turns),
    rows,
  };
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync(RESULT, `${JSON.stringify(result, null, 2)}\n`);
}
