/**
 * `npm run pretrain`: makes the seed policy from nothing, by supervised training on generated demonstrations of the three
 * roles. Seeded: the same settings on the same kind of processor give the same file. Never sees evaluation data.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { sha256Hex } from '../core/random.ts';
import type { Manifest } from '../core/schema/policy.ts';
import { characterTokenizer } from '../core/text/characters.ts';
import { openTokenizer } from '../core/text/tokenizer.ts';
import { openDevice } from '../learner/device/device.ts';
import { paramsFrom } from '../learner/nn/params.ts';
import { WARM_START, warmStart } from '../learner/train/warm-start.ts';
import { parameterCount } from '../model/checkpoint.ts';
import type { ModelConfig } from '../model/config.ts';
import { toHfConfig } from '../model/hf-config.ts';
import { randomCheckpoint } from '../model/init.ts';
import { writeSafetensors } from '../model/safetensors.ts';
import { fail } from './fail.ts';
import { whole } from './run-options.ts';

/** `nano`: Qwen2's shape, small enough that a round takes seconds on a laptop. */
const nano = (vocabSize: number, eos: number): ModelConfig => ({
  architecture: 'qwen2',
  vocabSize,
  hiddenSize: 64,
  intermediateSize: 176,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headDim: 16,
  rmsNormEps: 1e-6,
  ropeTheta: 10_000,
  ropeScaling: null,
  maxPositions: 256,
  tiedEmbeddings: true,
  qkvBias: true,
  qkNorm: false,
  bosId: null,
  eosIds: [eos],
});

interface PretrainOptions {
  readonly out: string;
  readonly seed: number;
  readonly steps: number;
  readonly threads?: number;
}

async function pretrain({ out, seed, steps, threads }: PretrainOptions): Promise<void> {
  const { json, vocabSize } = characterTokenizer();
  const tokenizer = openTokenizer(json);
  const config = nano(vocabSize, tokenizer.id('<eos>'));
  const device = await openDevice({ device: 'cpu', ...(threads ? { threads } : {}) });
  console.log(`nano, ${parameterCount(config)} parameters, on ${device.description}`);
  const params = paramsFrom(config, randomCheckpoint(config, `nano/${seed}`));
  const settings = { ...WARM_START, seed, steps };
  const started = performance.now();
  await warmStart(params, tokenizer, settings, 250, async ({ step, loss, tokens }) => {
    const seconds = (performance.now() - started) / 1000;
    console.log(`step ${step}/${steps}  loss ${loss.toFixed(4)}  ${tokens} tokens  ${seconds.toFixed(0)} s`);
  });
  const text = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`);
  const files = {
    'config.json': text(toHfConfig(config)),
    'tokenizer.json': text(json),
    'model.safetensors': writeSafetensors(await params.toTensors()),
  };
  const manifest: Manifest = {
    policy: 'seed',
    version: 0,
    parent: null,
    files: Object.fromEntries(
      Object.entries(files).map(([name, bytes]) => [name, { sha256: sha256Hex(bytes), bytes: bytes.length }]),
    ),
    groups: [],
    round: null,
    settings: { madeBy: 'npm run pretrain', ...settings },
  };
  await mkdir(out, { recursive: true });
  for (const [name, bytes] of Object.entries({ ...files, 'manifest.json': text(manifest) }))
    await writeFile(join(out, name), bytes);
  console.log(`Written to ${out}. \`npm start\` begins from models/seed.`);
  device.close();
}

const command = new Command('npm run pretrain --')
  .description('Makes the seed policy: a warm start of the three roles on generated demonstrations.')
  .option('--out <dir>', 'folder to write', 'models/seed')
  .option('--seed <n>', 'seed of weights and demonstrations', whole(0), 0)
  .option('--steps <n>', 'training steps', whole(1), WARM_START.steps)
  .option('--threads <n>', 'threads of the CPU device', whole(1));

try {
  await pretrain(command.parse().opts<PretrainOptions>());
  process.exit(0);
} catch (error) {
  fail(error);
}
