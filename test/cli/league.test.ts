/** `policy eval --recipe` and `policy league`, on a version that was not trained and its equal. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluateByRecipe, playLeague, solveHeldOut } from '../../cli/policy/by-recipe.ts';
import { recipeIn, recipeSolvedLines } from '../../cli/policy/recipe-commands.ts';
import { importPolicy } from '../../local/starts.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { openScene, type Scene, temporaryFolder } from '../mesh/scene.ts';

const stateDir = temporaryFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ stateDir });
  for (const name of ['one', 'other'])
    await importPolicy(scene.gateway, name, await readPolicyFolder('models/games'), {});
});
afterAll(async () => {
  await scene?.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

const ref = (name: string) => ({ name, version: 0, engine: 'kernels' as const });
const spiral = shipped.find('spiral');

test('versions meet in every game, from both sides of the same deals', async () => {
  const rows = await playLeague(scene.gateway, spiral, [ref('one'), ref('other')], 6);
  expect(rows.map(({ game, player, against }) => [game, player, against])).toEqual(
    ['kuhn', 'tic-tac-toe'].flatMap((game) => [
      [game, 'one@0', 'one@0'],
      [game, 'one@0', 'other@0'],
      [game, 'other@0', 'one@0'],
      [game, 'other@0', 'other@0'],
    ]),
  );
  // The same weights draw by the same ids: whoever they are called, they come to the same.
  const [first] = rows;
  for (const row of rows.slice(0, 4))
    expect([row.score, row.return, row.n]).toEqual([first!.score, first!.return, 12]);
  for (const {
    score,
    interval: [low, high],
  } of rows) {
    expect(low).toBeLessThanOrEqual(score);
    expect(high).toBeGreaterThanOrEqual(score);
  }
});

test('a version is evaluated as the runs of a recipe are, beside another', async () => {
  const evaluated = await evaluateByRecipe(scene.gateway, spiral, ref('one'), 0);
  expect(evaluated.heldOut.n).toBe(200);
  expect(evaluated.compared!.changes.accuracy).toMatchObject({ verdict: 'chance' });
  expect(evaluated.figures!.exploitability).toBeGreaterThan(0);
});

test('sampling takes the place of greedy answers in the evaluation of a recipe that asks for such', async () => {
  await importPolicy(scene.gateway, 'composer', await readPolicyFolder('models/composition'), {});
  const settings = {
    tokens: 256,
    temperatures: [1],
    alphas: [],
    ways: ['samples'],
    seed: 0,
    limit: 8,
  } as const;
  const trio = shipped.find('trio-in-composition');
  const ways = await solveHeldOut(scene.gateway, trio, ref('composer'), settings);
  expect(ways.map(({ way }) => way)).toEqual([
    'greedy',
    'one sample at temperature 1',
    'majority at temperature 1',
  ]);
  expect(ways[2]!.tokens).toBeGreaterThan(ways[1]!.tokens);
  for (const { evaluation } of ways) expect(evaluation.heldOut.n).toBe(ways[0]!.evaluation.heldOut.n);
  const lines = recipeSolvedLines('trio', 'composer', 0, ways);
  expect(lines[0]).toBe(`composer 0 as trio is evaluated, on ${ways[0]!.evaluation.heldOut.n}`);
  expect(lines).toHaveLength(2 + ways.length);
  // Games are sampled: there is no greedy answer whose place could be taken.
  await expect(solveHeldOut(scene.gateway, spiral, ref('one'), settings)).rejects.toMatchObject({
    code: 'solve.recipe',
  });
});

test('a recipe without games has no league', async () => {
  await expect(
    playLeague(scene.gateway, shipped.find('trio'), [ref('one'), ref('other')], 2),
  ).rejects.toMatchObject({
    code: 'league.recipe',
  });
});

test('a recipe that exists on files alone is not called unknown', async () => {
  await expect(recipeIn('grpo')).rejects.toMatchObject({
    code: 'recipe.files',
    next: expect.stringContaining('start --recipe grpo --policy NAME --tasks FILE.jsonl'),
  });
  await expect(recipeIn('spirla')).rejects.toMatchObject({ code: 'recipe.unknown' });
});
