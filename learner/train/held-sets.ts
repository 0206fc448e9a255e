/**
 * The parameter sets of one version on the device: weights or adapters, head, optimiser. Each set is loaded when it is first needed. The
 * version's files contain all state that matters: sets that were changed go into the next version's files, all others keep their bytes.
 */
import { wrongInput } from '../../core/errors.ts';
import {
  adapterFile,
  headFile,
  MAIN_SET,
  optimizerFile,
  type VersionFiles,
  weightsFile,
} from '../../core/schema/policy.ts';
import type { AdapterSettings, OptimizerSettings, SetSettings } from '../../core/training-plan.ts';
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
import { AdamW } from '../nn/adamw.ts';
import { createHead, Head } from '../nn/heads.ts';
import { createLora, LORA_TARGETS, Lora, mergeLora } from '../nn/lora.ts';
import type { ParamSet } from '../nn/params.ts';
import { placeTensors, readTensors, type Trainable, together } from '../nn/trainable.ts';
import { scaleAddInto } from '../ops/in-place.ts';
import { type LoadVersion, weightsOf } from './frozen-sets.ts';
import { readOptimizer, writeOptimizer } from './optimizer-file.ts';
import type { Model } from './readouts.ts';
import type { Learner } from './update.ts';

export interface HeldSet extends Model {
  readonly trainable: Trainable;
  optimizer?: AdamW;
}

/** A gradient has exploded when its norm is more than this many times the clip norm, unless the recipe sets another limit. */
const EXPLODED = 1000;

/** The global gradient norm above which an optimiser step is skipped. */
export const skipNormOf = ({ skipNorm, clipNorm }: OptimizerSettings): number =>
  skipNorm ?? EXPLODED * clipNorm;

export class HeldSets {
  readonly #files: VersionFiles;
  readonly #settings: Readonly<Record<string, SetSettings>>;
  readonly #load: LoadVersion;
  readonly #held = new Map<string, HeldSet>();
  /** Names of the sets that differ from the files. */
  readonly #changed = new Set<string>();

  constructor(files: VersionFiles, settings: Readonly<Record<string, SetSettings>>, load: LoadVersion) {
    this.#files = files;
    this.#settings = settings;
    this.#load = load;
  }

  async get(set: string): Promise<HeldSet> {
    const held = this.#held.get(set) ?? (await this.#place(set));
    this.#held.set(set, held);
    return held;
  }

  /** The set with its optimiser, for training; the set counts as changed from here on. */
  async learner(set: string): Promise<Learner & { readonly settings: OptimizerSettings }> {
    const settings = this.#settingsOf(set).optimizer;
    if (!settings)
      throw wrongInput(
        'training plan.set',
        `The parameter set ${set} has no optimiser, and there is an update for it.`,
        {
          expected: 'an update of a set that is trained',
        },
      );
    const held = await this.get(set);
    held.optimizer ??= this.#optimizer(set, held.trainable, settings);
    this.#changed.add(set);
    return { ...held, optimizer: held.optimizer, settings };
  }

  /** Updates sets that average others: this = decay · this + (1 − decay) · other, for weights and heads of the same name. */
  async average(): Promise<void> {
    for (const [set, { average }] of Object.entries(this.#settings)) {
      if (!average) continue;
      const { trainable: mine } = await this.get(set);
      const { trainable: other } = await this.get(average.of);
      const shared = [...mine.tensors].filter(([name]) => other.tensors.has(name));
      if (!shared.length)
        throw wrongInput(
          'recipe.average',
          `The set ${set} shares no tensor with ${average.of}, which it follows.`,
          {
            expected: 'two sets with adapters, or two without',
          },
        );
      for (const [name, tensor] of shared)
        scaleAddInto(tensor, other.tensors.get(name)!, 1 - average.decay, average.decay);
      this.#changed.add(set);
    }
  }

  /** The files of a version with these sets as they are now. */
  async files(): Promise<VersionFiles> {
    const files: VersionFiles = { ...this.#files };
    for (const set of this.#changed) {
      const { params, adapter, head, optimizer } = this.#held.get(set)!;
      const whole = adapter ? mergeLora(params, adapter) : params;
      files[weightsFile(set)] = writeSafetensors(await whole.toTensors());
      if (adapter) {
        whole.dispose();
        files[adapterFile(set)] = writeSafetensors(await readTensors(adapter));
      }
      if (head) files[headFile(set)] = writeSafetensors(await readTensors(head.head));
      if (optimizer) files[optimizerFile(set)] = writeOptimizer(await optimizer.exportState());
    }
    return files;
  }

  /** Hands the sets to a holder for the version with these files. This holder must not be used afterwards. */
  as(files: VersionFiles): HeldSets {
    const next = new HeldSets(files, this.#settings, this.#load);
    for (const [set, held] of this.#held) next.#held.set(set, held);
    this.#held.clear();
    return next;
  }

  dispose(): void {
    for (const { params, adapter, head, optimizer } of this.#held.values()) {
      params.dispose();
      adapter?.dispose();
      head?.head.dispose();
      optimizer?.dispose();
    }
    this.#held.clear();
  }

  #settingsOf(set: string): SetSettings {
    const settings = this.#settings[set];
    if (!settings)
      throw wrongInput('training plan.set', `There is no parameter set ${set}.`, {
        expected: `one of ${Object.keys(this.#settings).join(', ')}`,
      });
    return settings;
  }

  async #place(set: string): Promise<HeldSet> {
    const { head: wanted, adapter: adapted } = this.#settingsOf(set);
    const params = adapted
      ? await weightsOf(await this.#load(0), MAIN_SET, this.#load)
      : await weightsOf(this.#files, set, this.#load);
    const adapter = adapted && this.#adapter(set, adapted, params);
    const trunk = adapter ?? params;
    if (!wanted) return { params, adapter, trainable: trunk };
    const head = { kind: wanted.kind, head: this.#head(set, wanted, params) };
    return { params, adapter, head, trainable: together(trunk, head.head) };
  }

  #adapter(set: string, { rank, alpha }: AdapterSettings, base: ParamSet): Lora {
    const settings = { rank, alpha, targets: LORA_TARGETS };
    const file = this.#files[adapterFile(set)];
    return file
      ? new Lora(settings, placeTensors(readSafetensors(file)))
      : createLora(base, settings, `adapter/${set}`);
  }

  #head(set: string, wanted: NonNullable<SetSettings['head']>, { config }: ParamSet): Head {
    const settings = {
      name: wanted.kind === 'value' ? 'value_head' : 'class_head',
      hiddenSize: config.hiddenSize,
      outputs: wanted.kind === 'value' ? 1 : wanted.count,
    };
    const file = this.#files[headFile(set)];
    return file ? new Head(settings, placeTensors(readSafetensors(file))) : createHead(settings);
  }

  #optimizer(set: string, trainable: Trainable, settings: OptimizerSettings): AdamW {
    const { betas, weightDecay, clipNorm } = settings;
    const optimizer = new AdamW(trainable, { betas, weightDecay, clipNorm, skipNorm: skipNormOf(settings) });
    const state = this.#files[optimizerFile(set)];
    if (state) optimizer.importState(readOptimizer(state));
    return optimizer;
  }
}
