/** A figure that a recipe reports without a word about it is an error of the quick check. */
import { expect, test } from 'vitest';
import { ownFigures } from '../../core/schema/summary.ts';
import { expectExplained } from '../../local/testing/explained.ts';
import { shipped } from '../../recipes/index.ts';

const dapo = shipped.find('dapo');

const recipe = { ...dapo, figures: { luck: 'The share of luck.' } };
const heldOut = { round: 0, task: 't', n: 1, accuracy: 0, sampled: 0, worked: 0, forcedWorked: 0 };
const reported = (figures: Readonly<Record<string, number>>) =>
  ownFigures({ heldout: [{ ...heldOut, figures: { skill: 1 } }], monitors: [{ round: 1, figures }] });

test('the own figures of a run are those of its rounds and evaluations without the usual ones', () => {
  expect(reported({ reward: 1, gold: 0, klToStart: 0, luck: 0.5, 'luck.late': 1 })).toEqual([
    'skill',
    'luck',
    'luck.late',
  ]);
});

test('a figure is explained by its name, or by that of the figure before a dot', () => {
  expectExplained(recipe, ['luck', 'luck.late', 'main/solver/policy/clipped']);
  expect(() => expectExplained(recipe, ['luck', 'fate', 'fate', 'fate.late'])).toThrow(
    /dapo reports figures without saying what they mean: fate, fate\.late\. Expected a sentence/,
  );
});
