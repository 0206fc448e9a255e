/** A name that an order asks for is looked up in a recipe's own table. */
import { expect, test } from 'vitest';
import { entryNamed, rewardNamed } from '../../protocols/solver.ts';
import { methodOf } from '../../recipes/grpo/plan.ts';

const table = { gold: 1, format: 0 };

test('an entry is found by its name, also one that is falsy', () => {
  expect([entryNamed('variant', table, 'gold'), rewardNamed(table, 'format')]).toEqual([1, 0]);
});

test.each([
  'gould',
  '',
  // Every object has these.
  'constructor',
  'toString',
  '__proto__',
])('%j is refused, and the names that there are are told', (name) => {
  for (const kind of ['reward', 'variant'] as const)
    expect(() => entryNamed(kind, table, name)).toThrow(
      expect.objectContaining({ code: `recipe.${kind}`, expected: 'one of gold, format' }),
    );
  expect(() => methodOf(name)).toThrow(expect.objectContaining({ code: 'recipe.variant' }));
});
