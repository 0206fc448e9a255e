/**
 * Makes a start policy, from nothing or from another, by supervised training on generated demonstrations of a task family's
 * roles. Seeded: the same settings on the same kind of processor give the same file. Never sees evaluation data.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wrongInput } from '../../core/errors.ts';
import { withImages } from '../../core/images/image-tokenizer.ts';
import { sha256Hex } from '../../core/random.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { configOf } from '../../learner/train/frozen-sets.ts';
import {
  type AskNow,
  mostSteps,
  stepsOnce,
  WARM_START,
  type WarmStartProgress,
  warmStart,
} from '../../learner/train/warm-start.ts';
import { readStart } from '../../local/find-start.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import type { ModelConfig } from '../../model/config.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
import { SHAPES, SIGHT } from '../../model/shapes.ts';
import { widened } from '../../model/widen.ts';
import { isMet } from '../../worlds/gate.ts';
import { type TokenizerFiles, type WarmStart, warmStarts } from '../../worlds/warm-starts.ts';
import { openPolicy } from '../policy/live-policy.ts';
import { percent } from '../shared/figures.ts';
import { DEFAULT_NAME, type PretrainOptions, REPORT_EVERY } from './options.ts';

/** A point of the loss curve. */
type LossPoint = Pick<WarmStartProgress, 'step' | 'loss' | 'tokens'>;

const json = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`);

/** Writes a version 0 with its loss curve, of which nothing else is read. */
async function writePolicy(
  folder: string,
  files: Readonly<Record<string, Uint8Array>>,
  manifest: Omit<Manifest, 'files' | 'version' | 'parent' | 'groups' | 'round'>,
  curve: readonly LossPoint[],
): Promise<void> {
  const whole: Manifest = {
    ...manifest,
    version: 0,
    parent: null,
    files: Object.fromEntries(
      Object.entries(files).map(([file, bytes]) => [file, { sha256: sha256Hex(bytes), bytes: bytes.length }]),
    ),
    groups: [],
    round: null,
  };
  const lines = curve.map((point) => `${JSON.stringify(point)}\n`).join('');
  const written = { ...files, 'manifest.json': json(whole), 'loss.jsonl': new TextEncoder().encode(lines) };
  await mkdir(folder, { recursive: true });
  for (const [file, bytes] of Object.entries(written)) await writeFile(join(folder, file), bytes);
}

/** Measures what the start must be able to do, and says it. Throws `pretrain.gate` where it misses something. */
async function expectGates(
  name: string,
  seed: number,
  gates: WarmStart['gates'],
  ask: AskNow,
): Promise<void> {
  const measured = gates ? await ask(gates) : [];
  for (const gate of measured)
    console.log(`${isMet(gate) ? 'met   ' : 'missed'}  ${percent(gate.value, 1)}  ${gate.description}`);
  const missed = measured.filter((gate) => !isMet(gate));
  if (missed.length)
    throw wrongInput(
      'pretrain.gate',
      `The start ${name} of seed ${seed} misses ${missed.length} of ${measured.length} gates.`,
      {
        expected: missed
          .map(
            ({ description, value, least = 0, most = 1 }) =>
              `${description}: ${percent(least, 1)} to ${percent(most, 1)}, not ${percent(value, 1)}`,
          )
          .join('; '),
        next: 'Pretrain it with another --seed: rewards would have nothing to begin from.',
      },
    );
}

export async function pretrain({
  name,
  seed,
  threads,
  saveEvery,
  ...options
}: PretrainOptions): Promise<void> {
  const start = warmStarts[name]!;
  const out = options.out ?? `models/${name}`;
  const staged = start.stages && stepsOnce(start.stages);
  const steps = options.steps ?? staged ?? start.steps ?? WARM_START.steps;
  const most = options.steps ?? (start.stages ? mostSteps(start.stages) : steps);
  const settings = { ...WARM_START, ...start.optimizer, seed, steps };
  if (start.batch) settings.batch = start.batch;
  const { vocabSize, ...tokenizerFiles }: TokenizerFiles = (start.tokenizer ?? characterTokenizer)();
  const tokenizer = withImages(openTokenizer(tokenizerFiles.json), start.patchToken !== undefined);
  const shape = options.shape ?? start.shape ?? 'nano';
  if (start.from && options.shape && !options.from)
    throw wrongInput('pretrain.shape', `${name} goes on from ${start.from}, which has the shape nano.`, {
      expected: `--from DIR, the folder of a ${start.from} in the shape ${options.shape}`,
      next: `Make it first: npx rollmesh pretrain --name ${start.from} --shape ${options.shape} --out DIR`,
    });
  const end = tokenizer.id(tokenizerFiles.config?.eos_token ?? '<eos>');
  const config: ModelConfig = {
    ...SHAPES[shape](vocabSize, end),
    ...(start.patchToken === undefined
      ? {}
      : { vision: { ...SIGHT, token: tokenizer.id(start.patchToken) } }),
  };
  // A warm start's step size was chosen for its own shape. With Adam the best one falls as the width grows (arXiv:2203.03466).
  const { hiddenSize: width } = SHAPES[start.shape ?? 'nano'](vocabSize, end);
  settings.learningRate = ((start.learningRate ?? WARM_START.learningRate) * width) / config.hiddenSize;
  const device = await openDevice({ device: 'cpu', ...(threads ? { threads } : {}) });
  console.log(`${shape}, ${parameterCount(config)} parameters, on ${device.description}`);
  const before = options.from
    ? await readPolicyFolder(options.from)
    : start.from && (await readStart(start.from));
  const weights = before
    ? widened(readSafetensors(before['model.safetensors']!), configOf(before), config, `${shape}/${seed}`)
    : randomCheckpoint(config, `${shape}/${seed}`, start);
  const params = paramsFrom(config, weights);
  const curve: LossPoint[] = [];
  const filesNow = async () => ({
    'config.json': json(toHfConfig(config)),
    'tokenizer.json': json(tokenizerFiles.json),
    ...(tokenizerFiles.config ? { 'tokenizer_config.json': json(tokenizerFiles.config) } : {}),
    'model.safetensors': writeSafetensors(await params.toTensors(), start.storage),
  });
  const write = async (folder: string) =>
    writePolicy(
      folder,
      await filesNow(),
      {
        policy: name,
        settings: {
          madeBy: `npx rollmesh pretrain${name === DEFAULT_NAME ? '' : ` --name ${name}`}`,
          ...settings,
          ...(shape === (start.shape ?? 'nano') ? {} : { shape }),
          ...(start.from ? { from: start.from } : {}),
          ...Object.fromEntries(Object.entries(start.weights ?? {}).map(([role, w]) => [`${role}Weight`, w])),
        },
      },
      curve,
    );
  const started = performance.now();
  const ask: AskNow = async (work) => {
    const policy = await openPolicy({ name, version: 0, engine: 'kernels' }, await filesNow());
    try {
      return await work({ tokenizer, generate: (...asked) => policy.generate(...asked) });
    } finally {
      await policy.dispose();
    }
  };
  const report = async ({ step, loss, tokens, said }: WarmStartProgress) => {
    const seconds = (performance.now() - started) / 1000;
    console.log(
      `step ${step}/${most}  loss ${loss.toFixed(4)}  ${tokens} tokens  ${seconds.toFixed(0)} s${said ? `  ${said}` : ''}`,
    );
    curve.push({ step, loss, tokens });
    if (saveEvery && step % saveEvery === 0 && step < settings.steps) await write(`${out}-${step}`);
  };
  await warmStart(params, tokenizer, start, settings, REPORT_EVERY, report, ask);
  await write(out);
  // A start that was cut short is for looking at: it need not be able to do anything yet.
  if (options.steps === undefined) await expectGates(name, seed, start.gates, ask);
  console.log(`Written to ${out}. Recipes begin from the folders of models/ that they name.`);
  device.close();
}
