/**
 * Aggregates per-token losses to one number. Every mode is a weighted sum Σ w·l whose weights depend on masks and lengths alone, so the
 * weights are computed once for a whole optimiser step and then cut up like the tokens: loss and gradient are the same under any
 * split into micro-batches or shards, by construction.
 */
import { wrongInput } from '../errors.ts';
import { positionsByKey } from './groups.ts';
import { expectSameLength, type Key, type Numbers } from './types.ts';

/**
 * How the losses l of a step's tokens, with the mask m, become one number:
 *
 * - `token-mean` is Σ m·l/Σ m over all tokens of the step (DAPO).
 * - `seq-mean-token-mean` is the mean over sequences of each sequence's mean over tokens (GRPO).
 * - `seq-mean-token-sum` is the mean over sequences of each sequence's sum over tokens.
 * - `seq-sum-constant` is Σ m·l/(B·length), where B counts every sequence (Dr. GRPO).
 * - `prompt-mean` is the mean over groups of each group's mean over tokens.
 * - `token-sum` is Σ m·l, divided by nothing.
 */
export type Aggregation =
  | { readonly mode: 'token-mean' | 'seq-mean-token-mean' | 'seq-mean-token-sum' | 'token-sum' }
  | { readonly mode: 'seq-sum-constant'; readonly length: number; readonly sequences?: number }
  | { readonly mode: 'prompt-mean'; readonly groups: ArrayLike<Key> };

/** Tokens of a step: mask [T] (0 = not counted, fractions weigh), sequence [T] = index of the token's sequence. */
export interface TokenLayout {
  readonly mask: Numbers;
  readonly sequence: Numbers;
}

/**
 * Weights [T] of the tokens in the step's loss; 0 where masked. Means leave out sequences and groups without a counted token;
 * everything masked gives all zeros. `prompt-mean` takes groups [sequences], the group of each sequence.
 */
export function aggregationWeights(aggregation: Aggregation, { mask, sequence }: TokenLayout): number[] {
  expectSameLength('mask entries', mask, 'sequence indices', sequence);
  switch (aggregation.mode) {
    case 'token-sum':
      return Array.from(mask);
    case 'token-mean':
      return overUnits(mask, new Array<number>(mask.length).fill(0), true);
    case 'seq-mean-token-mean':
      return overUnits(mask, sequence, true);
    case 'seq-mean-token-sum':
      return overUnits(mask, sequence, false);
    case 'prompt-mean':
      return overUnits(
        mask,
        Array.from(sequence, (index) => groupOf(aggregation.groups, index)),
        true,
      );
    case 'seq-sum-constant': {
      const count = aggregation.sequences ?? new Set(Array.from(sequence)).size;
      return Array.from(mask, (m) => m / (count * aggregation.length));
    }
  }
}

/** Mean over units (sequences, prompts, the batch) of the tokens' mean or sum within each. */
function overUnits(mask: Numbers, units: ArrayLike<Key>, divideByTokens: boolean): number[] {
  const weights = new Array<number>(mask.length).fill(0);
  const counted = [...positionsByKey(units).values()]
    .map((positions) => ({ positions, tokens: positions.reduce((sum, t) => sum + mask[t]!, 0) }))
    .filter(({ tokens }) => tokens > 0);
  for (const { positions, tokens } of counted)
    for (const t of positions) weights[t] = mask[t]! / (counted.length * (divideByTokens ? tokens : 1));
  return weights;
}

function groupOf(groups: ArrayLike<Key>, sequence: number): Key {
  const group = groups[sequence];
  if (group === undefined)
    throw wrongInput('rl.aggregation', `sequence ${sequence} has no group among ${groups.length}.`, {
      expected: 'one group for each sequence',
    });
  return group;
}

/** Σ w·l over the tokens that count; a NaN or infinity at a masked place does not leak. losses [T], weights [T]. */
export function weightedSum(losses: Numbers, weights: Numbers): number {
  expectSameLength('losses', losses, 'weights', weights);
  let sum = 0;
  for (let t = 0; t < losses.length; t++) if (weights[t] !== 0) sum += losses[t]! * weights[t]!;
  return sum;
}

/** Sequence index [T] of packed tokens from the start offsets [sequences + 1] of the sequences. */
export function sequenceIndex(offsets: Numbers): number[] {
  const index: number[] = [];
  for (let s = 0; s + 1 < offsets.length; s++)
    for (let t = offsets[s]!; t < offsets[s + 1]!; t++) index.push(s);
  return index;
}
