import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeOf, codeOfRelease } from '../../local/mesh/code-hashes.ts';
import { moduleFile } from '../../local/mesh/installation.ts';
import { type Code, comparedCode } from '../../local/verify/code.ts';
import { recipes } from '../../recipes/index.ts';

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

test('every shipped recipe has a hash of its own', async () => {
  const { recipes: hashes } = await codeOfRelease();
  expect(Object.keys(hashes).sort()).toEqual(recipes.map(({ name }) => name).sort());
  expect(new Set(Object.values(hashes)).size).toBe(recipes.length);
});

test('a hash is of the module and of all that it imports, and of nothing else', async () => {
  /** What a module leads to, by the text of its imports: the second implementation of what the bundler says. */
  const reached = new Set<string>(['recipes/trio/recipe.ts']);
  for (const file of reached)
    for (const [, types, path] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) (type )?[^;]*? from '(\.[^']+)';|import\('(\.[^']+)'\)/gms,
    ))
      if (!types) reached.add(join(dirname(file), path!));
  const lines = [...reached].sort().map((file) => `${file} ${sha256(readFileSync(file))}\n`);
  expect((await codeOfRelease()).recipes.trio).toBe(sha256(lines.join('')));
});

test('a recipe of the user has the hash of its own files, wherever they lie', async () => {
  const write = (text: string, beside = 'export default 1;') => {
    const folder = mkdtempSync(join(tmpdir(), 'rollmesh-code-'));
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data/own.mjs'), beside);
    writeFileSync(
      join(folder, 'own.mjs'),
      `import { recipeFrom } from '${moduleFile('recipes/from-files')}';\nimport data from './data/own.mjs';\n${text}`,
    );
    return codeOf(['own', 'trio', 'of-others'], [{ recipe: { name: 'own' }, file: join(folder, 'own.mjs') }]);
  };
  const first = await write('export default recipeFrom(data);');
  expect(await write('export default recipeFrom(data);')).toEqual(first);
  expect((await write('export default recipeFrom(data, 1);')).recipes.own).not.toBe(first.recipes.own);
  expect((await write('export default recipeFrom(data);', 'export default 2;')).recipes.own).not.toBe(
    first.recipes.own,
  );
  expect(first.recipes).toMatchObject({ trio: expect.stringMatching(/^[0-9a-f]{64}$/), 'of-others': null });
});

describe('what a reader is told', () => {
  const here: Code = { recipes: { trio: 'a'.repeat(64), tango: 'b'.repeat(64) }, release: 'c'.repeat(64) };
  test.each<[string, Code | undefined, string]>([
    ['of an older receipt', undefined, 'The receipt names no code, as those of 0.1.0 do not.'],
    [
      'of the same code',
      { recipes: { trio: 'a'.repeat(64) }, release: here.release },
      'The code of recipe trio is the same here (aaaaaaaaaaaa).',
    ],
    [
      'where the recipe differs',
      { recipes: { trio: 'd'.repeat(64), tango: 'b'.repeat(64) }, release: here.release },
      'The receipt is of another version of the code of recipe trio (dddddddddddd; here aaaaaaaaaaaa): other bytes may follow. The code of recipe tango is the same here (bbbbbbbbbbbb).',
    ],
    [
      'where the recipe is not here',
      { recipes: { own: 'd'.repeat(64) }, release: here.release },
      'The receipt is of another version of the code of recipe own (dddddddddddd; here none): other bytes may follow.',
    ],
    [
      'where the recipe’s module was not at hand',
      { recipes: { own: null }, release: here.release },
      'The receipt does not say of which code its recipe own is.',
    ],
    [
      'where the learner differs',
      { recipes: { trio: 'a'.repeat(64) }, release: 'd'.repeat(64) },
      'The code of recipe trio is the same here (aaaaaaaaaaaa). The code of the release, with its learner, is another here: other bytes may follow.',
    ],
  ])('%s', (_, wrote, told) => {
    expect(comparedCode(wrote, here)).toBe(told);
  });
});
