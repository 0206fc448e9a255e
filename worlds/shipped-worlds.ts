/** Worlds of the project in which recipes can be played by the world's name: `--world canvas`. */

import { wrongInput } from '../core/errors.ts';
import type { Game } from '../core/game/game.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { canvas, questionOf } from './canvas/family.ts';
import { LARGEST_CANVAS } from './canvas/scene.ts';
import { familyGame } from './family-game.ts';
import { type Place, playedAt } from './own-world.ts';

const canvases = familyGame(canvas, { question: questionOf, write: ({ answer }) => answer });

const PLACES: readonly Place[] = [
  {
    name: 'canvas',
    start: 'canvas',
    // Nobody was taught to verify an answer.
    game: { ...canvases, words: { solve: canvases.words.solve } as Game['words'] },
    asks: 'shows a picture and asks about it in English',
    showsImages: LARGEST_CANVAS,
  },
];

export const SHIPPED_WORLDS: readonly string[] = PLACES.map(({ name }) => name);

export function shippedWorld(name: string): Place {
  const place = PLACES.find((each) => each.name === name);
  if (place) return place;
  throw wrongInput('world.unknown', `There is no shipped world ${name}.`, {
    expected: `one of ${SHIPPED_WORLDS.join(', ')}`,
  });
}

/** A recipe in a shipped world; throws as `playedAt`. */
export const inShippedWorld = (recipe: Recipe, name: string): Recipe => playedAt(recipe, shippedWorld(name));
