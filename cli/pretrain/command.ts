/**
 * `npm run pretrain`: makes a start policy, from nothing or from another, by supervised training on generated demonstrations of a task family's
 * roles. Seeded: the same settings on the same kind of processor give the same file. Never sees evaluation data.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { sha256Hex } from '../../core/random.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { openDevice } from '../../learner/device/device.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { WARM_START, warmStart } from '../../learner/train/warm-start.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
import { warmStarts } from '../../tasks/warm-starts.ts';
import { calledAs } from '../called-as.ts';
import { readStart } from '../shared/import-policy.ts';
import { whole } from '../shared/run-options.ts';

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

/** The policy that `npm start` begins from. */
const DEFAULT_NAME = 'arithmetic-base';

interface PretrainOptions {
  readonly name: string;
  readonly out?: string;
  readonly seed: number;
  readonly steps?: number;
  readonly threads?: number;
}

async function pretrain({ name, seed, threads, ...options }: PretrainOptions): Promise<void> {
  const start = warmStarts[name]!;
  const out = options.out ?? `models/${name}`;
  const settings = { ...WARM_START, seed, steps: options.steps ?? start.steps ?? WARM_START.steps };
  if (start.batch) settings.batch = start.batch;
  if (start.learningRate) settings.learningRate = start.learningRate;
  const { json, vocabSize } = characterTokenizer();
  const tokenizer = openTokenizer(json);
  const config = nano(vocabSize, tokenizer.id('<eos>'));
  const device = await openDevice({ device: 'cpu', ...(threads ? { threads } : {}) });
  console.log(`nano, ${parameterCount(config)} parameters, on ${device.description}`);
  const weights = start.from
    ? readSafetensors((await readStart(start.from))['model.safetensors']!)
    : randomCheckpoint(config, `nano/${seed}`);
  const params = paramsFrom(config, weights);
  const started = performance.now();
  await warmStart(params, tokenizer, start, settings, 250, async ({ step, loss, tokens }) => {
    const seconds = (performance.now() - started) / 1000;
    console.log(
      `step ${step}/${settings.steps}  loss ${loss.toFixed(4)}  ${tokens} tokens  ${seconds.toFixed(0)} s`,
    );
  });
  const text = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`);
  const files = {
    'config.json': text(toHfConfig(config)),
    'tokenizer.json': text(json),
    'model.safetensors': writeSafetensors(await params.toTensors()),
  };
  const manifest: Manifest = {
    policy: name,
    version: 0,
    parent: null,
    files: Object.fromEntries(
      Object.entries(files).map(([file, bytes]) => [file, { sha256: sha256Hex(bytes), bytes: bytes.length }]),
    ),
    groups: [],
    round: null,
    settings: {
      madeBy: `npm run pretrain${name === DEFAULT_NAME ? '' : ` -- --name ${name}`}`,
      ...settings,
      ...(start.from ? { from: start.from } : {}),
      ...Object.fromEntries(Object.entries(start.weights ?? {}).map(([role, w]) => [`${role}Weight`, w])),
    },
  };
  await mkdir(out, { recursive: true });
  for (const [file, bytes] of Object.entries({ ...files, 'manifest.json': text(manifest) }))
    await writeFile(join(out, file), bytes);
  console.log(`Written to ${out}. Recipes begin from the folders of models/ that they name.`);
  device.close();
}

export const command = (): Command =>
  new Command(calledAs('pretrain'))
    .description(
      'Makes a start policy: a warm start of the roles of a task family on generated demonstrations.',
    )
    .addOption(
      new Option('--name <name>', 'the warm start: a name of the list, which becomes the name of the policy')
        .choices(Object.keys(warmStarts))
        .default(DEFAULT_NAME),
    )
    .option('--out <dir>', 'folder to write (default: models/NAME)')
    .option('--seed <n>', 'seed of weights and demonstrations', whole(0), 0)
    .option('--steps <n>', "training steps (default: the warm start's)", whole(1))
    .option('--threads <n>', 'threads of the CPU device', whole(1))
    .action(pretrain);
