/**
 * The parameter sets of one version on the device: weights or adapters, head, optimiser. Each set is loaded when it is first needed. The
 * version's files contain all state that matters: sets that were changed go into the next version's files, all others keep their bytes.
 */
import { wrongInput } from '../../core/errors.ts';
import type { AdapterSettings, OptimizerSettings, SetSettings } from '../../core/plan/training-plan.ts';
import {
  adapterFile,
  headFile,
  optimizerFile,
  type VersionFiles,
  weightsFile,
} from '../../core/schema/policy.ts';
import { type Adapter, ranksOf, writeAdapter } from '../../model/adapter.ts';
import { HEAD_NAMES } from '../../model/head.ts';
import { readSafetensors, type Tensors, writeSafetensors } from '../../model/safetensors.ts';
import { AdamW } from '../nn/adamw.ts';
import { createHead, Head } from '../nn/heads.ts';
import { createLora, Lora } from '../nn/lora.ts';
import type { ParamSet } from '../nn/params.ts';
import { placeTensors, readTensors, type Trainable, together } from '../nn/trainable.ts';
import { scaleAddInto } from '../ops/in-place.ts';
import { type LoadVersion, weightsOf } from './frozen-sets.ts';
import { exactOf, readOptimizer, writeOptimizer } from './optimizer-file.ts';
import type { Model } from './readouts.ts';
import type { Learner } from './update.ts';

export interface HeldSet extends Model {
  readonly trainable: Trainable;
  /** What is trained begins here, so that an optimiser's state in the files is of something else. */
  readonly begins: boolean;
  optimizer?: AdamW;
}

/** A gradient has exploded when its norm is more than this many times the clip norm, unless the recipe sets another limit. */
const EXPLODED = 1000;

/** The global gradient norm above which an optimiser step is skipped. */
export const skipNormOf = ({ skipNorm, clipNorm }: OptimizerSettings): number =>
  skipNorm ?? EXPLODED * clipNorm;

/** A set with its optimiser, and the settings of that. */
export type SetLearner = Learner & { readonly settings: OptimizerSettings };

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
  async learner(set: string): Promise<SetLearner> {
    const learner = await this.asLearner(set);
    this.#changed.add(set);
    return learner;
  }

  /** The set with its optimiser as the files have them, for gradients of which no step is taken. */
  async asLearner(set: string): Promise<SetLearner> {
    const settings = this.#settingsOf(set).optimizer;
    if (!settings)
      throw wrongInput(
        'training-plan.set',
        `The parameter set ${set} has no optimiser, and its gradients are asked for.`,
        {
          expected: 'an update, or an alignment, of a set that is trained',
        },
      );
    const held = await this.get(set);
    held.optimizer ??= this.#optimizer(set, held, settings);
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
      const { moments, publish } = this.#settingsOf(set).optimizer ?? {};
      let masters: Tensors | undefined;
      if (adapter) {
        const { alpha } = adapter.settings;
        const tensors = await readTensors(adapter);
        files[adapterFile(set)] = writeAdapter({ alpha, tensors }, publish && 'BF16');
        if (publish) masters = tensors;
      } else {
        const tensors = await params.toTensors();
        files[weightsFile(set)] = writeSafetensors(tensors, publish && 'BF16');
        if (publish) masters = tensors;
        // An adapter that the set began with is folded into the weights that were trained.
        delete files[adapterFile(set)];
      }
      if (head) files[headFile(set)] = writeSafetensors(await readTensors(head.head));
      if (optimizer) {
        const written = writeOptimizer(await optimizer.exportState(), moments, masters);
        files[optimizerFile(set)] = written;
        // Training goes on with what the file holds, as it would after a crash.
        if (moments) optimizer.importState(readOptimizer(written));
      }
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
      throw wrongInput('training-plan.set', `There is no parameter set ${set}.`, {
        expected: `one of ${Object.keys(this.#settings).join(', ')}`,
      });
    return settings;
  }

  async #place(set: string): Promise<HeldSet> {
    const { head: wanted, adapter: adapted, average, optimizer } = this.#settingsOf(set);
    const { params, adapter: begun } = await weightsOf(this.#files, set, this.#load, {
      fold: !adapted,
      frozen: adapted !== undefined || !(optimizer || average),
      placed: (stored) => (adapted ? stored : exactOf(stored, this.#files[optimizerFile(set)])),
    });
    const begins = (adapted === undefined) === (begun !== undefined);
    // Adapters that are averaged begin alike: a mean of factors that were drawn apart is near neither product.
    const exact = begun && { ...begun, tensors: exactOf(begun.tensors, this.#files[optimizerFile(set)]) };
    const adapter = adapted && this.#adapter(average?.of ?? set, adapted, params, exact);
    const trunk = adapter ?? params;
    if (!wanted) return { params, adapter, trainable: trunk, begins };
    const head = { kind: wanted.kind, head: this.#head(set, wanted, params) };
    return { params, adapter, head, trainable: together(trunk, head.head), begins };
  }

  /** Goes on with the adapter that the set has, or begins one on its weights. */
  #adapter(set: string, wanted: AdapterSettings, base: ParamSet, begun: Adapter | undefined): Lora {
    if (!begun) return createLora(base, wanted, `adapter/${set}`);
    const ranks = [...new Set(ranksOf(begun).values())];
    if (ranks.join() !== String(wanted.rank) || begun.alpha !== wanted.alpha)
      throw wrongInput(
        'adapter.settings',
        `The set ${set} has an adapter of rank ${ranks.join(' and ')} and alpha ${begun.alpha}, and the run asks for rank ${wanted.rank} and alpha ${wanted.alpha}.`,
        {
          expected: 'the settings of the adapter that is gone on with',
          next: 'Ask for those, or fold the adapter in: export the version, import it as a policy of its own, and train that.',
        },
      );
    return new Lora(wanted, placeTensors(begun.tensors));
  }

  #head(set: string, wanted: NonNullable<SetSettings['head']>, { config }: ParamSet): Head {
    const settings = {
      name: HEAD_NAMES[wanted.kind],
      hiddenSize: config.hiddenSize,
      outputs: wanted.kind === 'value' ? 1 : wanted.count,
    };
    const file = this.#files[headFile(set)];
    return file ? new Head(settings, placeTensors(readSafetensors(file))) : createHead(settings);
  }

  #optimizer(set: string, { trainable, begins }: HeldSet, settings: OptimizerSettings): AdamW {
    const { betas, weightDecay, clipNorm } = settings;
    const optimizer = new AdamW(trainable, { betas, weightDecay, clipNorm, skipNorm: skipNormOf(settings) });
    const state = this.#files[optimizerFile(set)];
    if (state && !begins) optimizer.importState(readOptimizer(state));
    return optimizer;
  }
}
