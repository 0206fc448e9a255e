/** A claim of a recipe that is not shipped: its arms name its module, and what no claim can be read from is refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { claimsNamed, expectPaid } from '../../../cli/claims/command.ts';
import { playClaim } from '../../../cli/claims/play-claim.ts';
import { type ArmRun, argumentsOf, Players } from '../../../cli/claims/run-arms.ts';
import { checkRecipe } from '../../../core/recipe/check-recipe.ts';
import { trio } from '../../../recipes/trio/recipe.ts';
import { runCommand } from '../terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-own-claim-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A module of a recipe like trio, with other fields. */
function moduleOf(name: string, fields: string): string {
  const file = join(folder, `${name}.ts`);
  const trioModule = JSON.stringify(resolve('recipes/trio/recipe.ts'));
  writeFileSync(file, `import { trio } from ${trioModule};\nexport default { ...trio, ${fields} };\n`);
  return file;
}

const ENDED = new Error('no arm is run here');
class Watched extends Players {
  readonly asked: ArmRun[] = [];
  override play(runs: readonly ArmRun[]): Promise<never> {
    this.asked.push(...runs);
    return Promise.reject(ENDED);
  }
}
/** The runs that a quick check of a recipe asks for. */
async function runsOf(reference: string, rounds?: number, without?: string[]): Promise<readonly ArmRun[]> {
  const { chosen, modules } = await claimsNamed([reference]);
  const players = new Watched(1, 'quick');
  const file = (recipe: unknown) => modules.find((module) => module.recipe === recipe)?.file;
  const most = { ...(rounds === undefined ? {} : { rounds }), ...(without && { without }) };
  const settings = { quick: true, pilot: false, engine: 'kernels', moduleOf: file, ...most } as const;
  await expect(playClaim(chosen[0]!, settings, players)).rejects.toBe(ENDED);
  return players.asked;
}

test('every arm of an own recipe is run from its module, those of a shipped one by its name', async () => {
  const file = moduleOf('mine', "name: 'mine'");
  const own = await runsOf(file);
  expect(own.map(({ arm }) => arm.name)).toEqual(trio.claim!.arms.map(({ name }) => name));
  for (const run of own) expect(argumentsOf(run)[0]).toBe(`--recipe=${file}`);
  for (const run of await runsOf('trio')) expect(argumentsOf(run)[0]).toBe('--recipe=trio');
});

test('of a quick check the first arm trains whatever it trains, and the others play no more rounds than is said', async () => {
  // Tango's policy trains in its thirteenth round.
  const roundsOf = async (most?: number) => (await runsOf('tango', most)).map(({ rounds }) => rounds);
  expect(await roundsOf()).toEqual([13, 13, 13, 13, 13, 13]);
  expect(await roundsOf(1)).toEqual([13, 1, 1, 1, 1, 1]);
  expect((await runsOf('trio', 5)).map(({ rounds, evalEvery }) => [rounds, evalEvery])).toEqual(
    Array(7).fill([2, 2]),
  );
});

test('of a quick check the arms that some rewards pay may be left out, but for the first', async () => {
  const armsWithout = async (...rewards: string[]) =>
    (await runsOf('trio', 1, rewards)).map(({ arm }) => [arm.reward, arm.freeze]);
  const rest = [
    ['judge', []],
    ['judge', ['judge']],
    ['self-consistency', []],
  ];
  expect(await armsWithout('random', 'format')).toEqual([['mix', []], ...rest, ['mix', ['proposer']]]);
  expect(await armsWithout('random', 'format', 'mix')).toEqual([['mix', []], ...rest]);
});

test('a reward that pays no arm is named, with those that pay one', async () => {
  const { chosen } = await claimsNamed(['trio']);
  expect(() => expectPaid(chosen, ['random', 'format'])).not.toThrow();
  expect(() => expectPaid(chosen, ['random', 'rnadom'])).toThrow(
    '--without names rnadom, a reward that pays no arm. Expected mix, judge, self-consistency, random, format.',
  );
});

test('a pilot begins from the start that the claim names, and not from the recipe’s', async () => {
  const file = moduleOf('other-start', "name: 'mine', claim: { ...trio.claim, startPolicy: 'nowhere' }");
  const pilot = ['--pilot', '--seeds', '1', '--rounds', '1', '--arms', 'mix'];
  const { code, stderr } = await runCommand('cli/rollmesh.ts', ['claims', file, ...pilot]);
  expect(code).toBe(1);
  expect(stderr).toContain('There is no start policy "nowhere".');
});

test('a path that leads nowhere and a recipe without a claim are refused', async () => {
  const gone = join(folder, 'gone.ts');
  await expect(claimsNamed([gone])).rejects.toThrow(`There is no recipe module ${gone}.`);
  const none = moduleOf('none', "name: 'none', claim: undefined");
  await expect(claimsNamed([none])).rejects.toThrow('Recipe none states no claim.');
});

test('a wrong field of a claim is named', () => {
  const { claim } = trio;
  const wrong = (fields: object) => () => checkRecipe({ ...trio, claim: { ...claim, ...fields } }, 'It');
  expect(wrong({ rounds: 0 })).toThrow('`claim.rounds` is 0, expected a whole number from 1');
  expect(wrong({ arms: [] })).toThrow('at least one arm');
  expect(wrong({ conditions: [{ description: 'rises', atLeast: 1 }] })).toThrow(
    '`claim.conditions.0.measure`',
  );
});
