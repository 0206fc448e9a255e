/**
 * Trains rounds on a server of Tinker's API in place of this machine's device: the plan's steps become forward_backward and optim_step, and the adapter
 * comes back as the next version. A round begins from the checkpoint of its parent version, or from the model that has just become it. What goes
 * wrong before the version is published leaves that checkpoint as it was, and the model is given up: nothing is trained twice, whenever this process ends.
 */
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { expectMapped } from '../../core/plan/by-server.ts';
import { planTraining } from '../../core/plan/plan-training.ts';
import type {
  LearnTools,
  OptimizerSettings,
  Sequence,
  TrainingPlan,
  UpdatePart,
  WeightsRef,
} from '../../core/plan/training-plan.ts';
import { sha256Hex } from '../../core/random.ts';
import { rendererOf } from '../../core/renderer/open.ts';
import { adapterFile, MAIN_SET, optimizerFile, type VersionFiles } from '../../core/schema/policy.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { recipeStateOf } from '../../core/text/recipe-state.ts';
import { checkAdapter, ranksOf, writeAdapter } from '../../model/adapter.ts';
import { readPeft } from '../../model/peft.ts';
import { ADAMW_DEFAULTS } from '../nn/adamw.ts';
import { lossAndGrads } from '../nn/loss-and-grads.ts';
import { rateFactor } from '../nn/schedule.ts';
import * as tf from '../tfjs.ts';
import { configOf } from '../train/frozen-sets.ts';
import { byPart } from '../train/minibatches.ts';
import { type LoadObjective, noObjectives, withObjectives } from '../train/objective-modules.ts';
import { type RemoteOptimizer, readRemoteOptimizer, writeRemoteOptimizer } from '../train/optimizer-file.ts';
import { kindOfPart } from '../train/parts/index.ts';
import { joined, scoredTokens, type Unit } from '../train/parts/kind.ts';
import { type PlannedUpdate, planSteps } from '../train/plan.ts';
import {
  type RoundToTrain,
  type RoundTrainer,
  recipeStateFile,
  type TrainedRound,
} from '../train/round-trainer.ts';
import { cut } from '../train/scores.ts';
import { finiteSteps, type StepFigures, scheduleOf } from '../train/steps.ts';
import { apartOf, figuresOf, reportOf } from '../train/summary.ts';
import { unitWeights } from '../train/update.ts';
import { isLost, type RemoteModel, type TinkerClient } from './client.ts';
import { dataOf, datumOf, nativeOf, scoredRows } from './mapping.ts';
import { RemoteScores, remoteLogprobs } from './remote-scores.ts';

export interface TinkerTrainerSettings {
  readonly client: TinkerClient;
  /** The server's name for the weights that the policy began with; absent where it has one model alone. */
  readonly baseModel?: string | undefined;
  readonly objectives?: LoadObjective;
}

/** A server's model that is what a version is, and how many optimiser steps have made it. */
interface Held {
  readonly model: RemoteModel;
  readonly steps: number;
}

/** Samples by which a server's model is compared with the policy, and how far their log-probabilities may be from it on average, nats. */
const COMPARED = 8;
const MOST_APART = 0.5;
/** How far the server's loss may be from the plan's, as a share of the sum of what is added up. */
const LOSS_APART = 1e-3;

export class TinkerTrainer implements Pick<RoundTrainer, 'train' | 'forget' | 'dispose'> {
  readonly #client: TinkerClient;
  readonly #baseModel: string | undefined;
  readonly #objectives: LoadObjective;
  /** The models of versions: the last one that was published, and references. */
  readonly #models = new Map<string, Held>();

  constructor({ client, baseModel, objectives = noObjectives }: TinkerTrainerSettings) {
    this.#client = client;
    this.#baseModel = baseModel;
    this.#objectives = objectives;
  }

  /**
   * Trains a round. Throws as `RoundTrainer.train` does, `tinker.unmapped` before anything is trained where the plan cannot be said in the server's
   * API, and what the client throws.
   */
  async train(work: RoundToTrain): Promise<TrainedRound> {
    const { recipe, round, proposals, groups, parent, load } = work;
    const { policy, variant } = round.settings;
    expectMapped(recipe, variant);
    const files = await load(parent);
    const modelOf = (version: number) => this.#model(work, version);
    const tools = toolsOf(policy, files, async (set, sequences, version = parent) => {
      if (set !== MAIN_SET)
        throw wrongInput('training-plan.set', `There is no parameter set ${set}.`, { expected: MAIN_SET });
      return scored((await modelOf(version)).model, sequences);
    });
    const records = { round, proposals, groups, recipeState: recipeStateOf(files), version: parent };
    const taught = await planTraining(recipe, records, tools);
    const plan = await withObjectives(taught, recipe.name, this.#objectives);
    expectMapped(recipe, variant, plan.updates);
    const planned = planSteps(plan, recipe.sets, round.id);
    const scores = new RemoteScores();
    if (!planned.length) return trainedOf(files, {}, plan, planned, scores, []);
    try {
      const held = await modelOf(parent);
      for (const { set, epochs } of planned) {
        const find = async ({ version }: WeightsRef) => (await modelOf(version)).model;
        await scores.add(set, held.model, epochs[0]!.flat(), find);
      }
      await work.examine?.(apartOf(planned, scores));
      return await this.#trained(work, held, plan, planned, scores, files);
    } catch (error) {
      if (isLost(error)) this.forget();
      throw error;
    }
  }

  /** Takes the plan's steps with a model that is the parent version; it is the next version's afterwards. */
  async #trained(
    { recipe, round, parent, next }: RoundToTrain,
    { model, steps: before }: Held,
    plan: Parameters<typeof trainedOf>[2],
    planned: readonly PlannedUpdate[],
    scores: RemoteScores,
    files: VersionFiles,
  ): Promise<TrainedRound> {
    const { policy } = round.settings;
    const { optimizer, adapter } = recipe.sets[MAIN_SET]!;
    // From here on the model is no version's until the next one is complete.
    this.#models.delete(keyOf(policy, parent));
    try {
      const taken = await takeSteps(model, before, planned, scores, optimizer!);
      const steps = before + taken.length;
      const name = `${policy}-${next}`;
      const path = await model.save(name);
      const archive = await this.#client.download(await model.saveForSampler(name));
      const made = {
        [adapterFile()]: adapterOf(archive, files, adapter!.rank, optimizer!),
        [optimizerFile()]: writeRemoteOptimizer({ path, steps }),
      };
      this.#keep(policy, [0]);
      this.#models.set(keyOf(policy, next), { model, steps });
      return trainedOf(files, made, plan, planned, scores, taken);
    } catch (error) {
      this.#giveUp(model);
      throw error;
    }
  }

  /** Gives up the models of other versions of the policy than these. */
  #keep(policy: string, versions: readonly number[]): void {
    const kept = versions.map((version) => keyOf(policy, version));
    for (const [key, { model }] of this.#models) {
      if (kept.includes(key)) continue;
      this.#models.delete(key);
      this.#giveUp(model);
    }
  }

  /** Gives up the models of versions. Call it where the last version was not published. */
  forget(): void {
    for (const { model } of this.#models.values()) this.#giveUp(model);
    this.#models.clear();
  }

  dispose(): void {
    this.forget();
    this.#client.close();
  }

  /** What the server does with a model that nobody asks for again is its own affair. */
  #giveUp(model: RemoteModel): void {
    void model.unload().catch(() => undefined);
  }

  /** A server's model that is a version of the run's policy. */
  async #model(work: RoundToTrain, version: number): Promise<Held> {
    const key = keyOf(work.round.settings.policy, version);
    const known = this.#models.get(key);
    if (known) return known;
    const files = await work.load(version);
    const state = files[optimizerFile()] && readRemoteOptimizer(files[optimizerFile()]!);
    if (!state && files[adapterFile()])
      throw wrongInput(
        'tinker.adapter',
        `Version ${version} has an adapter that was not trained by a Tinker server.`,
        {
          expected:
            'a version that one has trained, or one without an adapter: adapters cannot be sent there',
          next: 'Export the version, fold its adapter in, and have the server serve that as a model.',
        },
      );
    const { rank } = work.recipe.sets[MAIN_SET]!.adapter!;
    const base = await this.#base();
    const model = await this.#client.createModel(base, rank, seedOf(work.round.settings.policy));
    try {
      if (state) await loadInto(model, version, state, version === work.parent);
      await expectSameModel(model, base, work, version);
    } catch (error) {
      this.#giveUp(model);
      throw error;
    }
    const held = { model, steps: state?.steps ?? 0 };
    this.#models.set(key, held);
    return held;
  }

  async #base(): Promise<string> {
    const names = await this.#client.baseModels();
    const base = this.#baseModel ?? (names.length === 1 ? names[0] : undefined);
    // A server may train more than it lists.
    if (base !== undefined && (names.includes(base) || !names.length)) return base;
    const what =
      base === undefined
        ? `The server ${this.#client.url} has several models.`
        : `The server ${this.#client.url} does not list the model ${base}.`;
    throw wrongInput('tinker.base', what, {
      expected: `--base-model with the one that the policy began with, of ${names.slice(0, 20).join(', ')}`,
    });
  }
}

const keyOf = (policy: string, version: number): string => `${policy}@${version}`;

/** A seed of the policy's first adapter, the same in each attempt. */
const seedOf = (policy: string): number =>
  Number.parseInt(sha256Hex(new TextEncoder().encode(policy)).slice(0, 7), 16);

async function loadInto(
  model: RemoteModel,
  version: number,
  { path }: RemoteOptimizer,
  trains: boolean,
): Promise<void> {
  try {
    await model.load(path, trains);
  } catch (cause) {
    const lost =
      cause instanceof RollmeshError &&
      ['tinker.failed', 'tinker.refused', 'tinker.lost'].includes(cause.code);
    if (!lost) throw cause;
    throw new RollmeshError(
      'retry',
      'tinker.checkpoint',
      `The server cannot load the checkpoint ${path} of version ${version}: ${cause.what}`,
      {
        expected: 'the server that trained the version, with its checkpoints',
        next: 'Start the learner with the address of that server, or roll the policy back.',
        cause,
      },
    );
  }
}

/**
 * Compares the log-probabilities that a server gives for samples of a version with those that were recorded when the version sampled them.
 *
 * @throws RollmeshError `tinker.model` where they are far apart: the server's base is another model, or its tokens mean something else
 */
async function expectSameModel(
  model: RemoteModel,
  base: string,
  { round, groups, recipe }: RoundToTrain,
  version: number,
): Promise<void> {
  const { policy: name } = round.settings;
  const samples = groups
    .flatMap(({ samples }) => samples)
    .filter(({ role, policy, ids }) => {
      const { temperature = 1, topP = 1, topK = 0, grammar } = recipe.roles?.[role]?.sampling ?? {};
      const plain = temperature === 1 && topP === 1 && topK === 0 && !grammar;
      return (
        plain &&
        ids.length > 0 &&
        policy.name === name &&
        policy.version === version &&
        (policy.set ?? MAIN_SET) === MAIN_SET
      );
    })
    .slice(0, COMPARED);
  if (!samples.length) return;
  const recorded = samples.flatMap(({ logprobs }) => logprobs);
  const told = joined(await scored(model, samples));
  const apart = recorded.reduce((sum, logprob, t) => sum + Math.abs(logprob - told[t]!), 0) / recorded.length;
  if (apart <= MOST_APART) return;
  throw wrongInput(
    'tinker.model',
    `The server's model ${base} is not the one that sampled: of ${recorded.length} tokens of ${name}@${version} its log-probabilities are ${apart.toFixed(2)} nats away on average.`,
    {
      expected: `at most ${MOST_APART}: the weights that the policy began with, and its tokens`,
      next: 'Name the right model with --base-model.',
    },
  );
}

/** Log-probabilities of the sequences' tokens at temperature 1, nats [sequences][ids]. */
async function scored(model: RemoteModel, sequences: readonly Sequence[]): Promise<Float32Array[]> {
  if (!sequences.length) return [];
  const data = sequences.map((sequence) =>
    datumOf(sequence, { weights: new Float32Array(sequence.ids.length) }),
  );
  const { logprobs } = await model.forwardBackward('cross_entropy', data, { forwardOnly: true });
  return scoredRows(sequences, logprobs);
}

/** What a recipe's `learn` may ask. Of a server's model only log-probabilities are told. */
function toolsOf(policy: string, files: VersionFiles, score: LearnTools['score']): LearnTools {
  let tokenizer: ReturnType<typeof tokenizerOf> | undefined;
  const text = () => {
    tokenizer ??= tokenizerOf(files, policy);
    return tokenizer;
  };
  const untold = (what: string) => async () => {
    throw wrongInput(
      'tinker.unmapped',
      `The recipe asks for ${what} before it plans, and a Tinker server does not tell them.`,
      {
        expected: 'a recipe that asks for log-probabilities alone',
        next: 'Train it by a learner of this machine.',
      },
    );
  };
  return {
    decode: (ids) => text().decode(ids),
    encode: (string) => text().encode(string),
    renderer: () => rendererOf(files, policy),
    score,
    entropies: untold('entropies'),
    values: untold('values'),
    classes: untold('classes'),
    states: untold('hidden states'),
    alignment: untold('products of gradients (alignment)'),
    trial: untold('trials of updates (trial)'),
  };
}

async function takeSteps(
  model: RemoteModel,
  before: number,
  planned: readonly PlannedUpdate[],
  scores: RemoteScores,
  settings: OptimizerSettings,
): Promise<StepFigures[]> {
  const taken: StepFigures[] = [];
  for (const { set, epochs } of planned)
    for (const units of epochs.flat()) {
      const weights = unitWeights(units);
      const parts: { part: UpdatePart; loss: number; counted: number }[] = [];
      for (const run of byPart(units))
        parts.push(await addGradient(model, run, weights, scores, taken.length === 0));
      const loss = parts.reduce((sum, part) => sum + part.loss, 0);
      const step = {
        set,
        units,
        rate: settings.learningRate * rateFactor(scheduleOf(settings), before + taken.length),
        loss,
        parts,
        skipped: false,
      };
      // Before the step is asked for: afterwards it could not be taken back.
      finiteSteps([{ ...step, gradientNorm: 0 }]);
      const figures = await model.optimStep({
        learning_rate: step.rate,
        beta1: settings.betas[0],
        beta2: settings.betas[1],
        eps: ADAMW_DEFAULTS.eps,
        weight_decay: settings.weightDecay,
        grad_clip_norm: settings.clipNorm,
      });
      const norm = Object.entries(figures).find(([name]) => /grad.*(norm|l2)/.test(name));
      taken.push({ ...step, gradientNorm: norm?.[1] ?? Number.NaN });
    }
  return taken;
}

/** Adds the gradient of one part's loss over the units of a step. */
async function addGradient(
  model: RemoteModel,
  units: readonly Unit[],
  weightOf: ReturnType<typeof unitWeights>,
  scores: RemoteScores,
  isFirst: boolean,
): Promise<{ part: UpdatePart; loss: number; counted: number }> {
  const { part } = units[0]!;
  const native = nativeOf(part);
  const weights = units.map((unit) => weightOf.get(unit)!);
  const slice = { units, weights, scores: units.map((unit) => scores.of(unit)) };
  const lossAt = async (logprobs: readonly Float32Array[]) => {
    const x = tf.tensor1d(joined(logprobs));
    const result = lossAndGrads({ tensors: new Map([['logprobs', x]]) }, () => {
      // No loss that is sent here reads entropies.
      const { loss, counted } = kindOfPart(part).loss(part, { ...slice, outputs: [x, tf.zerosLike(x)] });
      return { loss, metrics: { counted } };
    });
    const gradient = result.grads.get('logprobs');
    const [[loss], [counted], derivative] = (await Promise.all([
      result.loss.data(),
      result.metrics.counted!.data(),
      gradient?.data() ?? new Float32Array(x.size),
    ])) as [Float32Array, Float32Array, Float32Array];
    tf.dispose([x, result.loss, result.metrics.counted!, ...result.grads.values()]);
    return { loss: loss!, counted: counted!, derivative };
  };
  if (native) {
    const { loss, config, inputs } = native;
    const data = units.flatMap((unit, u) => dataOf(unit, inputs(unit, weights[u]!, slice.scores[u]!)));
    const output = await model.forwardBackward(loss, data, { config });
    const rows = scoredRows(
      units.flatMap(({ sequences }) => sequences),
      output.logprobs,
    );
    const { derivative: _, ...figures } = await lossAt(rows);
    const scale = weights.reduce((sum, { tokens }) => sum + tokens.reduce((a, b) => a + Math.abs(b), 0), 0);
    expectSameLoss(loss, output.metrics['loss:sum'], figures.loss, scale);
    return { part, ...figures };
  }
  const known = units.map((unit) => (isFirst ? scores.before(unit) : undefined));
  const logprobs = known.every((row) => row !== undefined) ? known : await remoteLogprobs(model, units);
  const { derivative, ...figures } = await lossAt(logprobs);
  const slopes = cut(
    derivative.map((slope) => -slope),
    units.map(scoredTokens),
  );
  const data = units.flatMap((unit, u) => dataOf(unit, { weights: slopes[u]! }));
  await model.forwardBackward('cross_entropy', data);
  return { part, ...figures };
}

/** Throws where the server's loss is another than the plan's, such as a mean in place of a sum: its gradient is then another too. */
function expectSameLoss(name: string, told: number | undefined, own: number, scale: number): void {
  if (told === undefined || !Number.isFinite(told) || !Number.isFinite(own)) return;
  if (Math.abs(told - own) <= LOSS_APART * (Math.abs(own) + scale)) return;
  throw new RollmeshError(
    'give-up',
    'tinker.loss',
    `The server's loss ${name} came to ${told}, and the plan's is ${own}.`,
    {
      expected: 'the same: a sum over tokens, each with the factor that it was sent with',
      next: 'No step was taken. Check which losses the server has.',
    },
  );
}

/** A version's adapter from the files that a server saved. */
function adapterOf(
  archive: ReadonlyMap<string, Uint8Array>,
  files: VersionFiles,
  wanted: number,
  { publish }: OptimizerSettings,
): Uint8Array {
  const [config, weights] = ['adapter_config.json', 'adapter_model.safetensors'].map((name) =>
    archive.get(name),
  );
  if (!config || !weights)
    throw new RollmeshError(
      'give-up',
      'tinker.archive',
      `The checkpoint's archive has ${[...archive.keys()].join(', ') || 'no files'}.`,
      {
        expected: 'adapter_config.json and adapter_model.safetensors',
      },
    );
  const { adapter } = readPeft(JSON.parse(new TextDecoder().decode(config)), weights);
  checkAdapter(configOf(files), adapter);
  const ranks = [...new Set(ranksOf(adapter).values())];
  if (ranks.join() !== String(wanted))
    throw new RollmeshError(
      'give-up',
      'tinker.archive',
      `The adapter that came back has the ranks ${ranks.join(', ')}.`,
      { expected: `rank ${wanted}` },
    );
  return writeAdapter(adapter, publish && 'BF16');
}

function trainedOf(
  files: VersionFiles,
  made: VersionFiles,
  plan: TrainingPlan & Pick<TrainedRound, 'earnings'>,
  planned: readonly PlannedUpdate[],
  scores: RemoteScores,
  steps: readonly StepFigures[],
): TrainedRound {
  return {
    files: { ...files, ...made, ...recipeStateFile(plan) },
    before: {},
    report: reportOf(planned, scores, steps),
    figures: { ...figuresOf(steps), ...plan.figures },
    earnings: plan.earnings,
  };
}
