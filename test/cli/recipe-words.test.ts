/** What `npm run recipe -- show NAME` says of a recipe. */
import { expect, test } from 'vitest';
import { describeRecipe, methodOf } from '../../cli/recipe-words.ts';
import { recipes, shipped } from '../../recipes/index.ts';

test.each(recipes)('$name is explained by the comment of its file', async ({ name }) => {
  const method = await methodOf(`recipes/${name}.ts`);
  expect(method.length).toBeGreaterThan(3);
  expect(method.filter((line) => /^ ?\*|\*\//.test(line))).toEqual([]);
});

test('its paper, its method, its rewards and its differences', async () => {
  const words = await describeRecipe(shipped.find('tango'));
  for (const part of [
    'Paper ',
    'three updates of the generator to one',
    '--reward format',
    '--variant constant',
    '12 of the verifier alone',
  ])
    expect(words).toContain(part);
});
