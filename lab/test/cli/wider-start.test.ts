/** The larger policies of the table over sizes: the claimed start, widened, and step sizes that fall as the width grows. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configOf, parameterCount, readPolicyFolder, readStart } from 'rollmesh/local';
import { expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { orderOf } from '../../cli/run-arms.ts';
import { startOfShape } from '../../cli/starts.ts';
import { withStepSizes } from '../../cli/step-sizes.ts';

test.each([
  ['micro', 1_170_240, 0.4],
  ['mini', 2_978_304, 0.25],
] as const)(
  '%s has %d parameters and the context of the shipped start',
  async (shape, parameters, stepSizes) => {
    const state = mkdtempSync(join(tmpdir(), 'rollmesh-wider-'));
    try {
      const wider = await startOfShape(state, 'arithmetic-base', shape);
      expect(parameterCount(wider.config)).toBe(parameters);
      expect(wider.stepSizes).toBe(stepSizes);
      const [small, large] = [await readStart('arithmetic-base'), await readPolicyFolder(wider.folder)];
      expect(configOf(large)).toEqual(wider.config);
      expect(wider.config.maxPositions).toBe(configOf(small).maxPositions);
      expect(large['tokenizer.json']).toEqual(small['tokenizer.json']);
      expect((await startOfShape(state, 'arithmetic-base', shape)).sha256).toBe(wider.sha256);
    } finally {
      rmSync(state, { recursive: true });
    }
  },
);

test('every set that is trained takes smaller steps, and its other settings stay', () => {
  const tango = claimed.find('tango');
  const { main, verifier } = withStepSizes(tango, 0.25).sets;
  expect(main).toEqual({
    ...tango.sets.main,
    optimizer: { ...tango.sets.main!.optimizer, learningRate: 2.5e-5 },
  });
  expect(verifier!.optimizer!.learningRate).toBe(tango.sets.verifier!.optimizer!.learningRate / 4);
  const { helpers } = withStepSizes(claimed.find('sipretrain'), 0.25).sets;
  expect(helpers).toEqual({ optimizer: null });
});

test('a run says its start and its step sizes to the process that plays it', () => {
  const run = {
    claim: 'trio',
    recipe: 'trio',
    arm: { name: 'judge', description: '' },
    seed: 1,
    rounds: 2,
    evalEvery: 2,
    engine: 'kernels',
  } as const;
  expect(orderOf({ ...run, start: '/start', stepSizes: 0.4 })).toEqual({
    claim: 'trio',
    order: { recipe: 'trio', seed: 1, rounds: 2, freeze: [], engine: 'kernels' },
    evalEvery: 2,
    start: '/start',
    stepSizes: 0.4,
  });
  expect(orderOf(run)).not.toHaveProperty('stepSizes');
});
