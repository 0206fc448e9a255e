/** `recipe list` says which recipes a server of Tinker's API can train. */
import { expect, test } from 'vitest';
import { FILE_RECIPES } from '../../../cli/file-recipes.ts';
import { ASKS, byServer, notByServer } from '../../../cli/recipe/by-server.ts';
import { unmappedSets } from '../../../core/plan/by-server.ts';
import { recipes, shipped } from '../../../recipes/index.ts';

test('of recipes with one trained set those can be trained that ask for log-probabilities alone', () => {
  const why = (name: string) => notByServer(shipped.find(name));
  expect(['trio', 'sppo', 'llama-rl', 'laser'].map(why)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(why('tango')).toMatch(/main and verifier/);
  expect(why('qwen-prm')).toMatch(/head of kind classes/);
  expect(why('rlp')).toMatch(/set slow averages main/);
  expect(byServer(shipped.find('ragen'))).toBe('not by --backend tinker:URL: its loss has an entropy term');
});

test('the critic of grpo is trained by one variant alone', () => {
  const grpo = FILE_RECIPES.find(({ name }) => name === 'grpo')!;
  expect(notByServer(grpo)).toBeUndefined();
  expect(unmappedSets(grpo, 'rloo')).toBeUndefined();
  expect(unmappedSets(grpo, 'ppo')).toMatch(/main and critic/);
});

test('the list of what plans ask for names recipes that their sets do not refuse', () => {
  const all = [...recipes, ...FILE_RECIPES];
  for (const name of Object.keys(ASKS)) {
    const recipe = all.find((one) => one.name === name);
    expect(recipe && unmappedSets(recipe), name).toBeUndefined();
    expect(recipe, name).toBeDefined();
  }
});
