/** Every recipe by name. */
import { wrongInput } from '../core/errors.ts';
import type { Recipe } from '../core/recipe.ts';
import { azr } from './azr.ts';
import { dapo } from './dapo.ts';
import { llamaRl } from './llama-rl.ts';
import { oneShot } from './one-shot.ts';
import { rZero } from './r-zero.ts';
import { ragen } from './ragen.ts';
import { selfRewarding } from './self-rewarding.ts';
import { sppo } from './sppo.ts';
import { ssp } from './ssp.ts';
import { trio } from './trio.ts';
import { ttrl } from './ttrl.ts';

export const recipes: readonly Recipe[] = [
  trio,
  azr,
  rZero,
  ragen,
  ssp,
  selfRewarding,
  sppo,
  dapo,
  oneShot,
  ttrl,
  llamaRl,
];

export function findRecipe(name: string): Recipe {
  const found = recipes.find((recipe) => recipe.name === name);
  if (found) return found;
  throw wrongInput('recipe.unknown', `There is no recipe "${name}".`, {
    expected: `one of ${recipes.map((recipe) => recipe.name).join(', ')}`,
    next: 'Run `npm run recipe -- list`.',
  });
}
