/** Every policy objective: its value and gradient against a second implementation, and the laws that hold for all of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Random } from '../../../core/random.ts';
import type { PolicyObjectiveSpec } from '../../../core/rl/objective.ts';
import { policyObjective } from '../../../learner/losses/policy-objective.ts';
import type { TokenLoss } from '../../../learner/losses/tokens.ts';
import * as tf from '../../../learner/tfjs.ts';
import { type Batch, pick, randomBatch, spoil, tensorsOf } from './batch.ts';
import { backprop, expectClose, ofVector } from './finite-difference.ts';
import { type Reference, references, valueAndGradient } from './reference.ts';

await tf.setBackend('cpu');

type Tensors = ReturnType<typeof tensorsOf>;
interface Objective {
  readonly loss: (tokens: Tensors & { correction?: tf.Tensor1D }) => TokenLoss;
  readonly reference: Reference;
}

const clip = { clipLow: 0.2, clipHigh: 0.28 };
const cases: Record<string, { spec: PolicyObjectiveSpec; reference: Reference }> = {
  'PPO clip': { spec: { kind: 'ppo-clip', ...clip }, reference: references.ppo },
  'dual clip': { spec: { kind: 'ppo-clip', ...clip, dualClip: 1.5 }, reference: references.dual },
  CISPO: { spec: { kind: 'cispo', ...clip }, reference: references.cispo },
  AIPO: { spec: { kind: 'aipo', maxRatio: 1.3 }, reference: references.aipo },
  REINFORCE: { spec: { kind: 'reinforce' }, reference: references.reinforce },
  SAPO: { spec: { kind: 'sapo', tauPositive: 1, tauNegative: 1.05 }, reference: references.sapo },
  'DPPO-TV': { spec: { kind: 'dppo-tv', delta: 0.05, squareWeight: 0.1 }, reference: references.dppo },
  GSPO: { spec: { kind: 'gspo', ...clip }, reference: references.gspo },
  GMPO: { spec: { kind: 'gmpo', clipLow: 0.3, clipHigh: 0.4 }, reference: references.gmpo },
};
const objectives: Record<string, Objective> = Object.fromEntries(
  Object.entries(cases).map(([name, { spec, reference }]) => [
    name,
    { loss: (tokens) => policyObjective(tokens, spec), reference },
  ]),
);

const lossOf = ({ loss }: Objective, batch: Batch): number =>
  tf.tidy(() => loss(tensorsOf(batch)).loss.dataSync()[0]!);
const gradientOf = ({ loss }: Objective, batch: Batch): number[] =>
  backprop(
    ofVector((logprobs) => loss(tensorsOf(batch, logprobs)).loss),
    batch.logprobs,
  );
const seeds = fc.string({ minLength: 1, maxLength: 8 });
const check = (law: (seed: string) => void): void =>
  fc.assert(fc.property(seeds, law), { numRuns: 15, seed: 7 });

describe.for(Object.keys(objectives))('%s', (name) => {
  const objective = objectives[name]!;

  test('value and gradient are those of the second implementation', () => {
    check((seed) => {
      const batch = randomBatch(seed);
      const expected = valueAndGradient(objective.reference, batch);
      expectClose([lossOf(objective, batch)], [expected.value], 2e-6);
      expectClose(gradientOf(objective, batch), expected.gradient, 2e-5);
    });
  });

  test('micro-batches with the step’s weights add up to the step', () => {
    check((seed) => {
      const batch = randomBatch(seed);
      const positions = batch.sequence.map((_, t) => t);
      const parts = [0, 1].map((half) => positions.filter((t) => batch.sequence[t]! % 2 === half));
      const micro = parts.map((part) => pick(batch, part));
      const sum = micro.reduce((total, part) => total + lossOf(objective, part), 0);
      expectClose([sum], [lossOf(objective, batch)], 2e-6);
      const whole = gradientOf(objective, batch);
      for (const [i, part] of parts.entries())
        expectClose(
          gradientOf(objective, micro[i]!),
          part.map((t) => whole[t]!),
          2e-6,
        );
    });
  });

  test('the order of tokens does not matter', () => {
    check((seed) => {
      const batch = randomBatch(seed);
      const order = new Random(seed).shuffle(batch.sequence.map((_, t) => t));
      const shuffled = pick(batch, order);
      expectClose([lossOf(objective, shuffled)], [lossOf(objective, batch)], 2e-6);
      const gradient = gradientOf(objective, batch);
      expectClose(
        gradientOf(objective, shuffled),
        order.map((t) => gradient[t]!),
        2e-6,
      );
    });
  });

  test('what stands at a masked place does not matter, not even a NaN', () => {
    check((seed) => {
      const batch = randomBatch(seed);
      const spoilt = spoil(batch);
      expect(lossOf(objective, spoilt)).toBe(lossOf(objective, batch));
      const gradient = gradientOf(objective, spoilt);
      expect(gradient).toEqual(gradientOf(objective, batch));
      expect(gradient.filter((_, t) => batch.mask[t] === 0).every((g) => g === 0)).toBe(true);
    });
  });

  test('a correction scales each token’s loss and gradient and takes no gradient itself', () => {
    const batch = randomBatch(name);
    const factors = batch.mask.map((_, t) => 0.5 + (t % 3));
    const corrected: Objective = {
      ...objective,
      loss: (tokens) => objective.loss({ ...tokens, correction: tf.tensor1d(factors) }),
    };
    // the same factors inside the weights: a loss is linear in both
    const weighted = { ...batch, weights: batch.weights.map((w, t) => w * factors[t]!) };
    expectClose([lossOf(corrected, batch)], [lossOf(objective, weighted)], 2e-6);
    expectClose(gradientOf(corrected, batch), gradientOf(objective, weighted), 2e-6);
  });

  test('a batch that is masked throughout gives zero loss and gradient', () => {
    const batch = randomBatch('masked');
    const none = spoil({ ...batch, mask: batch.mask.map(() => 0), weights: batch.mask.map(() => 0) });
    expect(lossOf(objective, none)).toBe(0);
    expect(gradientOf(objective, none).every((g) => g === 0)).toBe(true);
  });

  test('an absurd ratio stays finite', () => {
    const batch = {
      ...randomBatch('far'),
      old: randomBatch('far').logprobs.map((_, t) => (t % 2 ? 300 : -300)),
    };
    expect(Number.isFinite(lossOf(objective, batch))).toBe(true);
    expect(gradientOf(objective, batch).every(Number.isFinite)).toBe(true);
  });
});
