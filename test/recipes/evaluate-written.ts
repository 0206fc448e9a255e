/** Evaluates a recipe with completions that the test writes. */
import type { TokenIds } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openEvaluationContext } from '../../core/recipe/round-context.ts';
import { roundOf } from '../../core/schema/round.ts';
import { scriptedPolicy, textTokenizer } from '../../local/testing/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';

/** `most`: of how many held-out tasks. `write` gets the prompt's text, and which of the samples of that prompt it is. */
export function evaluateWritten(recipe: Recipe, most: number, write: (prompt: string, i: number) => string) {
  const tokenizer = textTokenizer();
  const policy = {
    ...scriptedPolicy(tokenizer, (prompt, _id, i) => write(prompt, i)),
    // Every token as likely as any other of the tokenizer's 1000.
    score: async (sequences: readonly TokenIds[]) =>
      sequences.map(({ length }) => {
        const each = (value: number) => Array.from({ length: length - 1 }, () => value);
        return { logprobs: each(-Math.log(1000)), entropy: each(Math.log(1000)) };
      }),
  };
  const { settings } = runOf(registry([recipe]), { recipe: recipe.name, seed: 0, rounds: 1, freeze: [] });
  const context = openEvaluationContext(
    {
      recipe,
      round: roundOf(settings, bindingsOf(recipe, settings), 1, 0),
      tokenizer,
      recipeState: () => Promise.resolve(undefined),
      evaluationTasks: { heldOut: true, most },
      use: (_ref, work) => work(policy),
    },
    0,
    new Map(),
  );
  return recipe.evaluate(context);
}
