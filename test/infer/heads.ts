/** Heads of tests: random ones for any config. */
import { Random } from '../../core/random.ts';
import type { ModelConfig } from '../../model/config.ts';
import type { HeadWeights } from '../../model/head.ts';

export function randomHead({ hiddenSize }: Pick<ModelConfig, 'hiddenSize'>, outputs: number): HeadWeights {
  const random = new Random(`head/${outputs}`);
  const draw = (count: number) => Float32Array.from({ length: count }, () => 2 * random.float() - 1);
  return {
    kind: outputs === 1 ? 'value' : 'classes',
    outputs,
    weight: draw(outputs * hiddenSize).map((x) => x / Math.sqrt(hiddenSize / 3)),
    bias: draw(outputs),
  };
}
