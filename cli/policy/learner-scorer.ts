/** Scores by the learner's forward pass on the CPU device, so that it can be compared with the engine of the rollouts. */
import type { Policy, TokenIds, TokenScores } from '../../core/policy/policy.ts';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { microBatches, packSequences } from '../../learner/nn/pack.ts';
import { type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import type { ModelConfig } from '../../model/config.ts';
import type { Tensors } from '../../model/safetensors.ts';

/** Tokens of one batch at most. */
const TOKEN_BUDGET = 4096;

export class LearnerScorer implements Pick<Policy, 'score' | 'dispose'> {
  readonly #device: Device;
  readonly #params: ParamSet;

  private constructor(device: Device, params: ParamSet) {
    this.#device = device;
    this.#params = params;
  }

  static async open(config: ModelConfig, tensors: Tensors): Promise<LearnerScorer> {
    const device = await openDevice({ device: 'cpu' });
    return new LearnerScorer(device, paramsFrom(config, tensors));
  }

  async score(sequences: readonly TokenIds[]): Promise<TokenScores[]> {
    const out: TokenScores[] = sequences.map(() => ({ logprobs: [], entropy: [] }));
    // A sequence of one token has nothing to score and is left out of the batches.
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
