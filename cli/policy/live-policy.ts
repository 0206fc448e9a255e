/** A stored version made live: on the generation runtime, or on the learner's device. */
import type { Policy, PolicyRef, TokenIds, TokenScores } from '../../core/policy.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { openVersion } from '../../infer/open-version.ts';
import { loadOrt } from '../../infer/ort.ts';
import { type Device, openDevice } from '../../learner/device/device.ts';
import { microBatches, packSequences } from '../../learner/nn/pack.ts';
import { type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { readSafetensors } from '../../model/safetensors.ts';

export type Scorer = Pick<Policy, 'score' | 'dispose'>;

/** A committed version has both files: the gateway takes none without. */
export const configOf = (files: VersionFiles): ModelConfig =>
  parseConfig(JSON.parse(new TextDecoder().decode(files['config.json'])));

export const openPolicy = async (ref: PolicyRef, files: VersionFiles): Promise<Policy> =>
  openVersion(await loadOrt(), ref, files);

export async function openScorer(
  engine: 'infer' | 'learner',
  ref: PolicyRef,
  files: VersionFiles,
): Promise<Scorer> {
  if (engine === 'infer') return openPolicy(ref, files);
  const device = await openDevice({ device: 'cpu' });
  return new LearnerScorer(device, paramsFrom(configOf(files), readSafetensors(files['model.safetensors']!)));
}

/** Tokens that are computed together. */
const TOKEN_BUDGET = 4096;

/** Scores with the learner's own forward pass, so that the two engines can be held against each other. */
class LearnerScorer implements Scorer {
  readonly #device: Device;
  readonly #params: ParamSet;

  constructor(device: Device, params: ParamSet) {
    this.#device = device;
    this.#params = params;
  }

  async score(sequences: readonly TokenIds[]): Promise<TokenScores[]> {
    const out: TokenScores[] = sequences.map(() => ({ logprobs: [], entropy: [] }));
    // A sequence of one token has nothing to score, and no place in a batch.
    const items = sequences.flatMap((ids, index) => (ids.length > 1 ? [{ ids, index, from: 1 }] : []));
    for (const indices of microBatches(items, TOKEN_BUDGET)) {
      const part = indices.map((i) => items[i]!);
      const scored = tokenLogProbs(this.#params, packSequences(part));
      const [logprobs, entropies] = await Promise.all([scored.logp.data(), scored.entropy.data()]);
      tf.dispose(Object.values(scored));
      let at = 0;
      for (const { ids, index } of part) {
        const end = at + ids.length - 1;
        out[index] = {
          logprobs: Array.from(logprobs.slice(at, end)),
          entropy: Array.from(entropies.slice(at, end)),
        };
        at = end;
      }
    }
    return out;
  }

  async dispose(): Promise<void> {
    this.#params.dispose();
    this.#device.close();
  }
}
