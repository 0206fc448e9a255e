/** The recipes that the project ships. */
import type { Recipe } from '../core/recipe.ts';
import { type Registry, registry } from '../core/registry.ts';
import { azr } from './azr.ts';
import { dapo } from './dapo.ts';
import { genrm } from './genrm.ts';
import { llamaRl } from './llama-rl.ts';
import { mae } from './mae.ts';
import { oneShot } from './one-shot.ts';
import { prime } from './prime.ts';
import { rZero } from './r-zero.ts';
import { ragen } from './ragen.ts';
import { rise } from './rise.ts';
import { selfRewarding } from './self-rewarding.ts';
import { selfTaughtEvaluators } from './self-taught-evaluators.ts';
import { spin } from './spin.ts';
import { sppo } from './sppo.ts';
import { ssp } from './ssp.ts';
import { tango } from './tango.ts';
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
  spin,
  selfTaughtEvaluators,
  mae,
  dapo,
  oneShot,
  ttrl,
  llamaRl,
  rise,
  tango,
  prime,
  genrm,
];

/** Every recipe of the project, as Workers, learner and commands take them. */
export const shipped: Registry = registry(recipes);
