/** Evaluates a recipe with completions that the test writes. */
import type { TokenIds } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openEvaluationContext } from '../../core/recipe/round-context.ts';
import { roundOf } from '../../core/schema/round.ts';
import { scriptedPolicy, textTokenizer } from '../../local/testing/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';

/** `most`: of how many held-out tasks. `write` gets the prompt's text, which of the samples of that prompt it is, and the version of who writes. */
export function evaluateWritten(
  recipe: Recipe,
  most: number,
  write: (prompt: string, i: number, version: number) => string,
  version = 0,
) {
  const tokenizer = textTokenizer();
  const policyOf = (of: number) => ({
    ...scriptedPolicy(tokenizer, (prompt, _id, i) => write(prompt, i, of)),
    // Every token as likely as any other of the tokenizer's 1000.
    score: async (sequences: readonly TokenIds[]) =>
      sequences.map(({ length }) => {
        const each = (value: number) => Array.from({ length: length - 1 }, () => value);
        return { logprobs: each(-Math.log(1000)), entropy: each(Math.log(1000)) };
      }),
  });
  const { settings } = runOf(registry([recipe]), { recipe: recipe.name, seed: 0, rounds: 1, freeze: [] });
  const context = openEvaluationContext(
    {
      recipe,
      round: roundOf(settings, bindingsOf(recipe, settings), 1, 0),
      tokenizer,
      recipeState: () => Promise.resolve(undefined),
      evaluationTasks: { heldOut: true, most },
      use: (ref, work) => work(policyOf(ref.version)),
    },
    version,
    new Map(),
  );
  return recipe.evaluate(context);
}
