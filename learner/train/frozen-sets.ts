/** Frozen weights of older versions, used as references. The device holds the two sets that were used last. */
import { RollmeshError } from '../../core/errors.ts';
import type { WeightsRef } from '../../core/plan/training-plan.ts';
import { MAIN_SET, setFiles, type VersionFiles, weightsFile } from '../../core/schema/policy.ts';
import { type Adapter, checkAdapter, folded, readAdapter } from '../../model/adapter.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { readSafetensors, type Tensors } from '../../model/safetensors.ts';
import { frozenParamsFrom, type ParamSet, paramsFrom } from '../nn/params.ts';

/** Loads the files of a version of the run's policy, or of the policy that is named. */
export type LoadVersion = (version: number, policy?: string) => Promise<VersionFiles>;

const HELD = 2;

/** Weights, and the adapter that the version has for them. */
export interface AdaptedWeights {
  readonly params: ParamSet;
  readonly adapter: Adapter | undefined;
}

const incomplete = (file: string): RollmeshError =>
  new RollmeshError('give-up', 'policy.incomplete', `The version lacks ${file}.`);

/** The model's config from a version's files. Throws `policy.incomplete` where there is none. */
export function configOf(files: VersionFiles): ModelConfig {
  const file = files['config.json'];
  if (!file) throw incomplete('config.json');
  return parseConfig(JSON.parse(new TextDecoder().decode(file)));
}

export interface WeightsUse {
  /** The adapter is folded in. */
  readonly fold: boolean;
  /** The weights are not changed, so that those stored in bfloat16 may be held so. */
  readonly frozen: boolean;
  /** What is put on the device for the stored weights of a set that is trained. */
  readonly placed?: (stored: Tensors) => Tensors;
}

/** A set's weights from a version's files. */
export async function weightsOf(
  files: VersionFiles,
  set: string,
  load: LoadVersion,
  { fold, frozen, placed = (stored) => stored }: WeightsUse,
): Promise<AdaptedWeights> {
  const start = files[weightsFile(set)] || set === MAIN_SET ? files : await load(0);
  const { weights, adapter: adapterBytes } = setFiles(files, set, start);
  const config = configOf(files);
  if (!weights) throw incomplete('model.safetensors');
  const adapter = adapterBytes && readAdapter(adapterBytes);
  if (adapter) checkAdapter(config, adapter);
  if (frozen && !(fold && adapter)) return { params: frozenParamsFrom(config, weights), adapter };
  const tensors = placed(readSafetensors(weights));
  return {
    params: paramsFrom(config, fold && adapter ? new Map(folded(tensors, adapter)) : tensors),
    adapter,
  };
}

export class FrozenSets {
  /** Ordered by use, the most recently used last. */
  readonly #held = new Map<string, ParamSet>();

  /** The result is valid until two other references have been asked for. */
  async get(policy: string, { set, version }: WeightsRef, load: LoadVersion): Promise<ParamSet> {
    // In version 0 every set has the weights of the main set.
    const name = version === 0 ? MAIN_SET : set;
    const key = `${policy}/${name}/${version}`;
    const params =
      this.#held.get(key) ??
      (await weightsOf(await load(version), name, load, { fold: true, frozen: true })).params;
    this.#held.delete(key);
    this.#held.set(key, params);
    for (const [oldest, unused] of [...this.#held].slice(0, -HELD)) {
      unused.dispose();
      this.#held.delete(oldest);
    }
    return params;
  }

  dispose(): void {
    for (const params of this.#held.values()) params.dispose();
    this.#held.clear();
  }
}
