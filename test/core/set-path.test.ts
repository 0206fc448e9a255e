import { expect, test } from 'vitest';
import { pathsOf, withSettings } from '../../core/runs/set-path.ts';
import { editDistance, nearest } from '../../core/text/nearest.ts';
import { type GrpoData, grpo } from '../../recipes/grpo/recipe.ts';

test('edits between names, by hand', () => {
  expect(editDistance('kitten', 'sitting')).toBe(3);
  expect(editDistance('', 'abc')).toBe(3);
  expect(editDistance('same', 'same')).toBe(0);
  expect(editDistance('grop', 'grpo')).toBe(1);
  expect(editDistance('ca', 'abc')).toBe(3);
  expect(nearest('learningrate', ['warmup', 'learningRate'])).toBe('learningRate');
  expect(nearest('zzzzzz', ['warmup', 'learningRate'])).toBeUndefined();
});

test('settings are typed by their schema', () => {
  expect(pathsOf(grpo.settings)).toEqual([
    'maxNew',
    'temperature',
    'epochs',
    'examined',
    'heldOutSamples.samples',
    'heldOutSamples.temperatures',
    'optimizer.learningRate',
    'optimizer.warmup',
    'optimizer.weightDecay',
    'optimizer.clipNorm',
    'optimizer.minibatches',
    'optimizer.schedule',
    'optimizer.totalSteps',
    'optimizer.floor',
    'optimizer.moments',
    'optimizer.publish',
    'curriculum.unanimousWeight',
    'curriculum.lowest',
    'curriculum.highest',
    'adapter.rank',
    'adapter.alpha',
    'turnRewards',
    // Of episodes.
    'toolTurns',
    'heldOutEpisodes.tasks',
    'heldOutEpisodes.every',
    'heldOutEpisodes.success',
    // The choices of method that every recipe with a policy gradient takes.
    'objective.kind',
    'objective.clipLow',
    'objective.clipHigh',
    'objective.dualClip',
    'objective.maxRatio',
    'objective.tauPositive',
    'objective.tauNegative',
    'objective.delta',
    'objective.squareWeight',
    'objective.cap',
    'estimator',
    'convention',
    'aggregation',
    'kl.weight',
    'kl.estimator',
    'entropy',
  ]);
  const set = (...assignments: string[]) =>
    withSettings(grpo.settings, {}, assignments) as GrpoData['settings'];
  expect(set()).toMatchObject({ maxNew: 256, optimizer: { learningRate: 1e-5 } });
  expect(set()).not.toHaveProperty('adapter');
  expect(set('optimizer.learningRate=3e-4', 'maxNew=64', 'adapter.rank=8')).toMatchObject({
    maxNew: 64,
    optimizer: { learningRate: 3e-4, warmup: 20 },
    adapter: { rank: 8, alpha: 16 },
  });
  expect(set('maxNew=64', 'maxNew=32').maxNew).toBe(32);
  expect(() => set('optimizer.lerningRate=1')).toThrow(
    /no setting "optimizer\.lerningRate"\. Expected optimizer\.learningRate, perhaps, or another of maxNew/,
  );
  expect(() => set('optimizer=1')).toThrow(/no setting "optimizer"/);
  expect(() => set('maxNew=many')).toThrow(/^maxNew=many: .*for maxNew/);
  expect(() => set('epochs=0')).toThrow(/^epochs=0: .*>=1 for epochs/);
  expect(() => set('adapter.alpha=4')).toThrow(/adapter\.alpha=4: .*for adapter\.rank/);
  expect(() => set('maxNew')).toThrow(/"maxNew" sets nothing\. Expected PATH=VALUE/);
});
