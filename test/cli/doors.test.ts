/** Wrong input to the commands that let a recipe of one's own in: each is refused by its own code, and nothing is written. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command as init } from '../../cli/init.ts';
import { prepare, command as start } from '../../cli/start/command.ts';

let folder: string;
let state: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollmesh-doors-'));
  state = join(folder, 'state');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function moduleOf(name: string, code: string): string {
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, code);
  return file;
}

/** A module whose recipe is trio but for what `change` says of `trio`. */
const moduleWith = (name: string, change: string): string =>
  moduleOf(
    name,
    `import { shipped } from ${JSON.stringify(resolve('recipes/index.ts'))};\nexport default { ...shipped.find('trio'), name: '${name}', ${change} };\n`,
  );

const started = async (...options: string[]) =>
  start()
    .exitOverride()
    .parseAsync(await prepare(['--state', state, '--headless', '--rounds', '1', ...options]), {
      from: 'user',
    });

test('a policy that nobody imported is missed before anything is written', async () => {
  await expect(started('--policy', 'mine')).rejects.toMatchObject({
    code: 'policy.missing',
    next: expect.stringContaining('policy import'),
  });
  expect(existsSync(state)).toBe(false);
});

test.each<[string, () => string[], string, RegExp]>([
  ['a name that no recipe has', () => ['--recipe', 'trioo'], 'recipe.unknown', /no recipe "trioo"/],
  [
    'a path where no module is',
    () => ['--recipe', join(folder, 'none.ts')],
    'recipe.path',
    /no recipe module .*none\.ts/,
  ],
  [
    'a module without a default export',
    () => ['--recipe', moduleOf('named', 'export const b = 1;')],
    'recipe.module',
    /has no default export.*exports b/,
  ],
  [
    'a module that does not run',
    () => ['--recipe', moduleOf('broken', 'export default [')],
    'recipe.module',
    /cannot be loaded/,
  ],
  [
    'the name of a shipped recipe',
    () => ['--recipe', moduleWith('second', "name: 'dapo'")],
    'recipe.duplicate',
    /the name "dapo"/,
  ],
  [
    'a start policy that is nowhere',
    () => ['--recipe', moduleWith('nowhere', "startPolicy: 'nowhere'")],
    'start.unknown',
    /"nowhere".*the folder .*models.nowhere, or one of: .*arithmetic-base.*Correct the field `startPolicy`/,
  ],
  [
    'a start policy that cannot speak the family',
    () => ['--recipe', moduleWith('mute', "startPolicy: 'programs'")],
    'recipe.start',
    /mute begins from programs, which was not taught the family "arithmetic"/,
  ],
  [
    'a recipe with a wrong field',
    () => ['--recipe', moduleWith('wrong', 'teach: () => ({})')],
    'recipe.invalid',
    /no field `teach`/,
  ],
  [
    'a task family that the start policy does not speak',
    () => ['--recipe', moduleWith('foreign', "taskName: 'chess'")],
    'recipe.start',
    /foreign begins from arithmetic-base, which was not taught the family "chess"/,
  ],
  [
    'a recipe that does not name its tasks',
    () => ['--recipe', moduleWith('unnamed', 'taskName: undefined')],
    'recipe.invalid',
    /unnamed\.ts is not a recipe: `taskName` is undefined, expected a text/,
  ],
  [
    'a recipe whose method lacks parts',
    () => ['--recipe', moduleWith('methodless', "method: { setting: 'Sums.' }")],
    'recipe.invalid',
    /it lacks `method\.roles`, `method\.rewards`/,
  ],
  [
    'a reward function that the recipe lacks',
    () => ['--reward', 'money'],
    'run.reward',
    /no --reward "money"/,
  ],
  [
    'a configuration with a wrong field',
    () => {
      const file = join(folder, 'own.config.json');
      writeFileSync(file, '{ "recepi": "ttrl" }');
      return ['--config', file];
    },
    'config.field',
    /unknown field "recepi"/,
  ],
  ['a variant that the recipe lacks', () => ['--variant', 'odd'], 'run.variant', /no --variant "odd"/],
])('start with %s', async (_, options, code, said) => {
  await expect(started(...options())).rejects.toMatchObject({
    kind: 'wrong-input',
    code,
    message: expect.stringMatching(said),
  });
  expect(existsSync(state)).toBe(false);
});

test('init into a folder that is not empty', async () => {
  const full = join(folder, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'mine'), '');
  await expect(init().exitOverride().parseAsync([full], { from: 'user' })).rejects.toMatchObject({
    kind: 'wrong-input',
    code: 'init.folder',
  });
  expect(readdirSync(full)).toEqual(['mine']);
});
