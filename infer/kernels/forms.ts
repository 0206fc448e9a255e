/**
 * The forms, or kinds of arithmetic, of a policy in the kernels engine: which numbers a product multiplies, and in which build. The form
 * is part of a policy's reference, since another arithmetic gives other bits.
 */
import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import type { Build } from './builds.ts';

/**
 * fused: float32 with fused multiply-adds. plain: float32 with separate ones.
 * int8: weights of 8 bits by output channel, activations of 13 bits by row, in two planes; all but the products is plain float32.
 * w8a8: as int8 with activations of 7 bits.
 */
export type Form = 'fused' | 'plain' | 'int8' | 'w8a8';

/** How a policy's reference asks for a form. */
export const REFS = {
  fused: { engine: 'kernels' },
  plain: { engine: 'kernels-plain' },
  int8: { engine: 'kernels', weights: 'int8' },
  w8a8: { engine: 'kernels', weights: 'w8a8' },
} as const satisfies Readonly<Record<Form, Pick<PolicyRef, 'engine' | 'weights'>>>;

interface Arithmetic {
  /** The builds that compute it with the same bits, the fastest first. */
  readonly builds: readonly Build[];
  /** The number of planes of the activations' integers; 0 means float32. */
  readonly planes: 0 | 1 | 2;
}

export const ARITHMETIC: Readonly<Record<Form, Arithmetic>> = {
  fused: { builds: ['fused'], planes: 0 },
  plain: { builds: ['plain'], planes: 0 },
  int8: { builds: ['dot', 'plain'], planes: 2 },
  w8a8: { builds: ['dot', 'plain'], planes: 1 },
};

/** The form that a policy's reference asks for. Throws `wrong-input` for weights that this engine does not hold. */
export function formOf({ engine, weights }: Pick<PolicyRef, 'engine' | 'weights'>): Form {
  if (weights === undefined) return engine === 'kernels-plain' ? 'plain' : 'fused';
  if (weights === 'int8' || weights === 'w8a8') return weights;
  throw wrongInput('kernels.weights', `The kernels engine does not hold ${weights} weights.`, {
    expected: 'float32, int8 or w8a8',
    next: 'Ask for int8, or leave --engine out.',
  });
}
