/**
 * How far the gradients of parts point along that of another one: `LearnTools.alignment`. One gradient is kept on the device, and those of the parts are computed one
 * after the other, multiplied with it and dropped. All that it depends on is in the parent version and in the records, so that it comes to the same bits again.
 */
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { AlignmentHow, UpdatePart } from '../../core/plan/training-plan.ts';
import type { Gradients } from '../nn/loss-and-grads.ts';
import * as tf from '../tfjs.ts';
import { lossReferences, unitsOf } from './parts/index.ts';
import { type FindModel, RoundScores } from './scores.ts';
import { type Learner, stepGradient, stepTokens } from './update.ts';

interface AlignmentSettings extends AlignmentHow {
  readonly tokenBudget: number;
  /** Finds the references that losses read. */
  readonly find: FindModel;
}

/**
 * Products [parts] for one set. A part without items has a gradient of zero.
 * @throws RollmeshError `training-plan.alignment` where the other part has no items, `learner.non-finite` where a gradient is not finite
 */
export async function alignment(
  set: string,
  learner: Learner,
  parts: readonly UpdatePart[],
  against: UpdatePart,
  { tokenBudget, find, measure = 'dot', scaled }: AlignmentSettings,
): Promise<number[]> {
  const theirs = unitsOf(against);
  if (!theirs.length)
    throw wrongInput(
      'training-plan.alignment',
      `The part for ${against.role} has no items to compare with.`,
      {
        expected: 'a part with at least one item',
        next: 'Ask for no alignment in a round without such items.',
      },
    );
  const units = parts.map(unitsOf);
  const scores = new RoundScores(tokenBudget, find);
  const kept: tf.Tensor[] = [];
  const most = stepTokens(learner, tokenBudget);
  const gradientOf = (step: typeof theirs): Gradients => {
    const { total, figures } = stepGradient(learner, step, scores, most);
    tf.dispose([total.loss, ...figures.values()]);
    return total.grads;
  };
  try {
    await scores.add(set, learner, [...theirs, ...units.flat()], lossReferences);
    const direction = gradientOf(theirs);
    kept.push(...direction.values());
    const products = units.map((step) => {
      if (!step.length) return null;
      const plain = gradientOf(step);
      const mine = scaled === 'adam' ? learner.optimizer.scaled(plain) : plain;
      const numbers = tf.keep(tf.tidy(() => tf.stack([product(mine, direction), product(mine, mine)])));
      tf.dispose([...plain.values(), ...mine.values()]);
      kept.push(numbers);
      return numbers;
    });
    const norm = tf.keep(tf.tidy(() => product(direction, direction)));
    kept.push(norm);
    const [[square], ...each] = (await Promise.all(
      [norm, ...products].map((numbers) => numbers?.data() ?? [0, 0]),
    )) as [[number], ...[number, number][]];
    return each.map(([dot, own]) => {
      if (!Number.isFinite(dot) || !Number.isFinite(own) || !Number.isFinite(square)) throw notFinite(dot);
      if (measure === 'dot') return dot;
      return own > 0 && square > 0 ? dot / (Math.sqrt(own) * Math.sqrt(square)) : 0;
    });
  } finally {
    tf.dispose(kept);
    scores.dispose();
  }
}

/** Σ a·b over the tensors that both have; a parameter that a loss does not reach has no gradient. */
function product(a: Gradients, b: Gradients): tf.Scalar {
  const sums = [...a].flatMap(([name, mine]) => {
    const other = b.get(name);
    // Products of one tensor are held at a time.
    return other ? [tf.tidy(() => tf.sum(tf.mul(mine, other)) as tf.Scalar)] : [];
  });
  // Two at a time: a GPU binds few buffers at once.
  return sums.reduce((total, next): tf.Scalar => tf.add(total, next), tf.scalar(0));
}

const notFinite = (dot: number) =>
  new RollmeshError('give-up', 'learner.non-finite', `The product of two gradients is ${dot}.`, {
    expected: 'finite numbers',
    next: 'Nothing of this round is published. Look for damaged samples, or lower the learning rate.',
  });
