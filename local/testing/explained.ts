/** A recipe says what its figures mean: the page shows each beside its meaning. */
import { wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { meaningOf } from '../../web/dashboard/figures.js';

/**
 * Throws `wrong-input` with the code `recipe.figures` where the recipe reported a figure that its `figures` does not explain. Those of its
 * training parts, `set/role/kind/figure`, are the trainer's own.
 */
export function expectExplained({ name, figures = {} }: Recipe, reported: readonly string[]): void {
  const unexplained = [...new Set(reported)].filter(
    (figure) => !figure.includes('/') && meaningOf(figures, figure) === undefined,
  );
  if (!unexplained.length) return;
  throw wrongInput(
    'recipe.figures',
    `The recipe ${name} reports figures without saying what they mean: ${unexplained.join(', ')}.`,
    {
      expected: 'a sentence for each of them in the recipe’s field `figures`, by its name',
      next: 'Add the sentences: the page shows them beside the figures.',
    },
  );
}
