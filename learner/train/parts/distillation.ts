/** Distillation part: the divergence of the student's next-token distributions from a teacher's, as the mean over the step's tokens. */
import { wrongInput } from '../../../core/errors.ts';
import type { DistillationPart } from '../../../core/plan/training-plan.ts';
import type { DistillationSpec } from '../../losses/distillation.ts';
import { distilStates } from '../../nn/distil-states.ts';
import { outputWeight } from '../../nn/model.ts';
import * as tf from '../../tfjs.ts';
import { expectPerToken, joined, type PartKind, scoredTokens, sumOf, tokenWeights } from './kind.ts';

export const distillation: PartKind<DistillationPart> = {
  readout: 'states',
  teacher: ({ teacher, items }) => ({
    ref: teacher,
    sequencesOf: ({ item }) => {
      const { prompt, teacherPrompt = prompt, ids } = items[item]!;
      return [{ prompt: teacherPrompt, ids }];
    },
  }),

  sequences(part) {
    expectDivergence(part);
    return part.items.map((item, i) => {
      if (item.weights) expectPerToken('weights', i, item.weights, item);
      return [item];
    });
  },

  weights({ items, weight }, units) {
    const total = sumOf(units, scoredTokens);
    return units.map(({ item }) => {
      const { ids, weights } = items[item]!;
      return { tokens: ids.map((_, t) => (weight * (weights?.[t] ?? 1)) / total), unit: 0 };
    });
  },

  loss({ divergence, top, entropyBeta }, slice) {
    const { params, adapter } = slice.model!;
    const [states] = slice.outputs as [tf.Tensor2D];
    const teachers = slice.scores.map(({ teacher }) => teacher!);
    const { output } = teachers[0]!;
    const theirs = joined(teachers.map((teacher) => teacher.states));
    const loss = distilStates(
      {
        student: { states, output: outputWeight(params) },
        trainsOutput: !adapter,
        teacher: { states: tf.tensor2d(theirs, [states.shape[0], output.shape[1]!]), output },
        weights: tokenWeights(slice),
      },
      { divergence, top, entropyBeta },
    );
    return { loss, counted: tf.scalar(0) };
  },
};

function expectDivergence({ divergence, top, entropyBeta = 0 }: DistillationSpec): void {
  if (divergence.kind === 'jensen-shannon' && !(divergence.beta > 0 && divergence.beta < 1))
    throw wrongInput('training-plan.beta', `A Jensen-Shannon divergence has β = ${divergence.beta}.`, {
      expected: 'a number between 0 and 1, both excluded',
      next: 'For the two ends take forward-kl or reverse-kl.',
    });
  if (top && !(Number.isSafeInteger(top.k) && top.k >= 1))
    throw wrongInput('training-plan.top', `A divergence is taken over the ${top.k} likeliest tokens.`, {
      expected: 'a whole number, at least 1',
    });
  if (!(entropyBeta >= 0 && Number.isFinite(entropyBeta)))
    throw wrongInput(
      'training-plan.entropy-beta',
      `Tokens are weighted by exp(−β·H) of their teacher with β = ${entropyBeta}.`,
      {
        expected: 'a finite number, at least 0',
        next: 'For the same weight on all tokens leave it out.',
      },
    );
}
