/**
 * One round's training: role batches in, the next version's files out. The trainer itself keeps nothing that matters: all
 * it needs is in the parent version (weights and optimiser), so a crash loses no more than the time since the last publish.
 * The weights of the last version stay on the device only to save loading them again.
 */
import { RollmeshError } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe.ts';
import type { RoleBatches } from '../../core/roles/assemble.ts';
import { rewardKind } from '../../core/roles/stage.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { TrainingReport } from '../../core/schema/report.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import { parseConfig } from '../../model/config.ts';
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
import { AdamW } from '../nn/adamw.ts';
import { type ParamSet, paramsFrom } from '../nn/params.ts';
import { minibatches, sequenceTokens } from './minibatches.ts';
import { readOptimizer, writeOptimizer } from './optimizer-file.ts';
import { scoreItems, summarizeScores } from './scores.ts';
import { type StepFigures, updateStep } from './update.ts';

export interface RoundToTrain {
  readonly recipe: Recipe;
  readonly round: RoundSpec;
  readonly batches: RoleBatches;
  /** The version to train from: the policy's current one, which may be newer than the one that wrote the samples. */
  readonly parent: number;
  /** The number the new version will have. */
  readonly next: number;
  /** Files of a version of the run's policy. */
  readonly load: (version: number) => Promise<VersionFiles>;
}

export interface TrainedRound {
  readonly files: VersionFiles;
  readonly report: TrainingReport;
}

interface Held {
  readonly policy: string;
  readonly version: number;
  readonly params: ParamSet;
  readonly optimizer: AdamW;
  readonly files: VersionFiles;
}

export class RoundTrainer {
  /** Tokens of a micro-batch: bounds the activations that are held at once. */
  readonly #tokenBudget: number;
  #held: Held | undefined;
  #start: { policy: string; params: ParamSet } | undefined;

  constructor({ tokenBudget = 8192 }: { tokenBudget?: number } = {}) {
    this.#tokenBudget = tokenBudget;
  }

  /**
   * Trains one epoch over the batches. Throws `give-up` where there is nothing to train on or a loss or gradient is not
   * finite; nothing of such a round may be published.
   */
  async train(work: RoundToTrain): Promise<TrainedRound> {
    const { recipe, round, batches, parent, next } = work;
    const held = await this.#hold(round.settings.policy, parent, recipe, work.load);
    const start = await this.#startOf(round.settings.policy, work.load);
    // Until the new version is complete the weights on the device belong to no version.
    this.#held = undefined;
    try {
      const trained = await this.#train(held, start, recipe, round, batches);
      this.#held = { ...held, version: next, files: trained.files };
      return trained;
    } catch (error) {
      held.params.dispose();
      held.optimizer.dispose();
      throw error;
    }
  }

  async #train(held: Held, start: ParamSet, recipe: Recipe, round: RoundSpec, batches: RoleBatches) {
    const { learningRate, warmup, minibatches: count } = recipe.optimizer;
    const steps = minibatches(
      batches,
      (role) => recipe.objective[role].weight,
      count,
      new Random(`${round.id}/train`),
    );
    const items = steps.flat();
    if (!items.length)
      throw new RollmeshError(
        'give-up',
        'learner.empty-round',
        `Round ${round.id} has nothing to train on.`,
        {
          expected: 'at least one sample with a reward',
          next: 'Look at the round’s monitors: rewards may all be missing.',
        },
      );
    const scores = await scoreItems(held.params, start, items, this.#tokenBudget);
    const kl = rewardKind(recipe, round.settings.reward).kl;
    let rate = learningRate;
    const updates: StepFigures[] = [];
    for (const step of steps) {
      rate = learningRate * Math.min(1, (held.optimizer.steps + 1) / Math.max(1, warmup));
      updates.push(
        await updateStep(held.params, held.optimizer, step, scores, {
          recipe,
          kl,
          rate,
          tokenBudget: this.#tokenBudget,
        }),
      );
    }
    const mean = (pick: (figures: StepFigures) => number) =>
      updates.reduce((sum, update) => sum + pick(update), 0) / updates.length;
    const report: TrainingReport = {
      ...summarizeScores(items, scores),
      tokens: items.reduce((sum, item) => sum + sequenceTokens(item), 0),
      updates: updates.length,
      loss: mean((update) => update.loss),
      gradientNorm: mean((update) => update.gradientNorm),
      clipFraction: mean((update) => update.clipFraction),
      learningRate: rate,
    };
    const files: VersionFiles = {
      ...held.files,
      'model.safetensors': writeSafetensors(await held.params.toTensors()),
      'optimizer.safetensors': writeOptimizer(await held.optimizer.exportState()),
    };
    return { files, report };
  }

  async #hold(policy: string, version: number, recipe: Recipe, load: RoundToTrain['load']): Promise<Held> {
    if (this.#held?.policy === policy && this.#held.version === version) return this.#held;
    this.#held?.params.dispose();
    this.#held?.optimizer.dispose();
    this.#held = undefined;
    const files = await load(version);
    const params = paramsOf(files);
    const { betas, weightDecay, clipNorm } = recipe.optimizer;
    const optimizer = new AdamW(params, { betas, weightDecay, clipNorm });
    const state = files['optimizer.safetensors'];
    if (state) optimizer.importState(readOptimizer(state));
    return { policy, version, params, optimizer, files };
  }

  async #startOf(policy: string, load: RoundToTrain['load']): Promise<ParamSet> {
    if (this.#start?.policy === policy) return this.#start.params;
    this.#start?.params.dispose();
    this.#start = { policy, params: paramsOf(await load(0)) };
    return this.#start.params;
  }

  dispose(): void {
    this.#held?.params.dispose();
    this.#held?.optimizer.dispose();
    this.#start?.params.dispose();
    this.#held = undefined;
    this.#start = undefined;
  }
}

function paramsOf(files: VersionFiles): ParamSet {
  const config = files['config.json'];
  const weights = files['model.safetensors'];
  if (!config || !weights)
    throw new RollmeshError(
      'give-up',
      'policy.incomplete',
      'The version lacks config.json or model.safetensors.',
    );
  return paramsFrom(parseConfig(JSON.parse(new TextDecoder().decode(config))), readSafetensors(weights));
}
