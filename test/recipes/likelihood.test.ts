/** The likelihood of given completions, against probabilities multiplied by hand. */
import { expect, test } from 'vitest';
import { goldLikelihood } from '../../recipes/spin/evaluate.ts';
import { textTokenizer } from '../protocols/scripted-policy.ts';

test('the geometric mean of the completions’ token probabilities; the prompt’s do not count', async () => {
  const tokenizer = textTokenizer();
  /** Probabilities of the second token onwards. */
  const probabilities: Record<string, number[]> = { abcd: [0.9, 0.5, 0.25], xyz: [0.1, 0.125] };
  const score = async (role: string, sequences: readonly (readonly number[])[]) => {
    expect(role).toBe('player');
    return sequences.map((ids) => ({
      logprobs: probabilities[tokenizer.decode(ids)]!.map((p) => Math.log(p)),
      entropy: [],
    }));
  };
  const demonstrations = [
    { prompt: 'ab', completion: 'cd' },
    { prompt: 'xy', completion: 'z' },
  ];
  // (1/2 · 1/4 · 1/8)^(1/3)
  expect(await goldLikelihood({ tokenizer, score }, 'player', demonstrations)).toBeCloseTo(1 / 4, 6);
});
