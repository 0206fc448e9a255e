/** A training step of a low-rank adapter and one of all weights of the same model, in turns in one process on the CPU device. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { wrongInput } from '../core/errors.ts';
import { openDevice } from '../learner/device/device.ts';
import { AdamW } from '../learner/nn/adamw.ts';
import { createLora } from '../learner/nn/lora.ts';
import { disposeResult, lossAndGrads } from '../learner/nn/loss-and-grads.ts';
import { packSequences } from '../learner/nn/pack.ts';
import { paramsFrom } from '../learner/nn/params.ts';
import { tokenLogProbs } from '../learner/nn/token-log-probs.ts';
import type { Trainable } from '../learner/nn/trainable.ts';
import * as tf from '../learner/tfjs.ts';
import { parameterCount } from '../model/checkpoint.ts';
import { parseConfig } from '../model/config.ts';
import { randomCheckpoint } from '../model/init.ts';
import { thisMachine } from './machine.ts';
import { summarise } from './statistics.ts';

const RESULT = 'bench/results/adapter.json';
const ADAPTER = { rank: 16, alpha: 32 };

const shape = (
  layers: number,
  width: number,
  [heads, kvHeads]: readonly [number, number],
  inner: number,
  vocab: number,
) => ({
  model_type: 'llama',
  vocab_size: vocab,
  hidden_size: width,
  intermediate_size: inner,
  num_hidden_layers: layers,
  num_attention_heads: heads,
  num_key_value_heads: kvHeads,
  max_position_embeddings: 2048,
  tie_word_embeddings: vocab > 4096,
});

/** Models, and the sequences and their tokens of a step. */
const SIZES: Readonly<
  Record<
    string,
    { readonly hf: object; readonly sequences: number; readonly length: number; readonly recompute: boolean }
  >
> = {
  '12.8M': { hf: shape(7, 384, [6, 6], 1024, 512), sequences: 16, length: 128, recompute: false },
  /** SmolLM2's. */
  '135M': { hf: shape(30, 576, [9, 3], 1536, 49152), sequences: 4, length: 128, recompute: true },
};

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      size: { type: 'string', default: '12.8M' },
      json: { type: 'boolean', default: false },
    },
  });
  const size = SIZES[values.size];
  const rounds = Number(values.rounds);
  if (!size || !Number.isInteger(rounds) || rounds < 1)
    throw wrongInput(
      'bench.options',
      `There is no bench with --size ${values.size} --rounds ${values.rounds}.`,
      {
        expected: `--size ${Object.keys(SIZES).join(' or ')}, and --rounds from 1`,
      },
    );
  const { hf, sequences, length, recompute } = size;
  const config = parseConfig(hf);
  const device = await openDevice({ device: 'cpu', revectorize: true });
  const batch = packSequences(
    Array.from({ length: sequences }, (_, s) => ({
      ids: Array.from({ length }, (_, t) => (s * 7919 + t * 104_729) % config.vocabSize),
      from: 1,
    })),
  );
  const params = paramsFrom(config, randomCheckpoint(config, 'bench/adapter'));
  const adapter = createLora(params, ADAPTER, 'bench');
  const measured = { full: contender(params, false), adapter: contender(adapter, true) };

  function contender(trained: Trainable, adapted: boolean) {
    const optimiser = new AdamW(trained, { lr: 1e-5 });
    const wall: number[] = [];
    const cpu: number[] = [];
    return {
      results: () => ({ wallMs: summarise(wall), cpuMs: summarise(cpu) }),
      wall,
      cpu,
      async step(counts: boolean) {
        const began = performance.now();
        const before = process.cpuUsage();
        const result = lossAndGrads(
          trained,
          () =>
            tf.neg(
              tf.mean(tokenLogProbs(params, batch, { recompute, ...(adapted ? { adapter } : {}) }).logp),
            ) as tf.Scalar,
        );
        const norm = optimiser.step(result.grads);
        await norm.data();
        norm.dispose();
        disposeResult(result);
        if (!counts) return;
        const used = process.cpuUsage(before);
        wall.push(performance.now() - began);
        cpu.push((used.user + used.system) / 1000);
      },
    };
  }

  // The first step of each reserves memory and compiles.
  for (let round = -1; round < rounds; round++)
    for (const one of Object.values(measured)) await one.step(round >= 0);
  const ratios = summarise(measured.adapter.cpu.map((ms, i) => ms / measured.full.cpu[i]!));
  const result = {
    machine: thisMachine(),
    setting: {
      parameters: parameterCount(config),
      ...ADAPTER,
      sequences,
      length,
      recompute,
      rounds,
      device: device.description,
    },
    full: measured.full.results(),
    adapter: measured.adapter.results(),
    /** CPU time of the adapter's step over that of the full step beside it. */
    ratio: ratios,
  };
  device.close();
  console.log(
    values.json
      ? JSON.stringify(result)
      : `${values.size}: a full step takes ${result.full.cpuMs.median.toFixed(0)} ms of CPU, an adapter's ${result.adapter.cpuMs.median.toFixed(0)}, ${ratios.median.toFixed(2)} times as much (${ratios.low.toFixed(2)} to ${ratios.high.toFixed(2)})`,
  );
  const others = existsSync(RESULT)
    ? (JSON.parse(readFileSync(RESULT, 'utf8')) as { sizes: object }).sizes
    : {};
  mkdirSync('bench/results', { recursive: true });
  writeFileSync(
    RESULT,
    `${JSON.stringify({ bench: 'adapter', sizes: { ...others, [values.size]: result } }, null, 2)}\n`,
  );
}
