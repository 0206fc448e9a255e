/** What the evaluations of a run share. */
import { expect, test } from 'vitest';
import { openEvaluationContext, type RoundContextParts } from '../../core/recipe/round-context.ts';
import { roundOf } from '../../core/schema/round.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { sppo } from '../../recipes/sppo/recipe.ts';
import { textTokenizer } from '../protocols/scripted-policy.ts';

test('is made once for all of them, and again after it failed', async () => {
  const { settings } = runOf(shipped, { recipe: 'sppo', rounds: 1, freeze: [], seed: 0 });
  const parts: RoundContextParts = {
    recipe: sppo,
    round: roundOf(settings, { responder: {} }, 1, 0),
    tokenizer: textTokenizer(),
    recipeState: () => Promise.resolve(undefined),
    use: () => Promise.reject(new Error('nothing is sampled')),
  };
  const kept = new Map<string, Promise<unknown>>();
  const [start, end] = [0, 1].map((version) => openEvaluationContext(parts, version, kept));
  const failed = start!.once('shared', () => Promise.reject(new Error('a lost connection')));
  await expect(failed).rejects.toThrow('a lost connection');
  expect(await end!.once('shared', () => Promise.resolve('made'))).toBe('made');
  expect(await start!.once('shared', () => Promise.resolve('made again'))).toBe('made');
});
