/** The larger policies of the table over sizes: the shipped start, widened, and step sizes that fall as the width grows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { argumentsOf } from '../../../cli/claims/run-arms.ts';
import { startOfShape } from '../../../cli/claims/starts.ts';
import { withStepSizes } from '../../../cli/claims/step-sizes.ts';
import { configOf } from '../../../learner/train/frozen-sets.ts';
import { readStart } from '../../../local/starts.ts';
import { parameterCount } from '../../../model/checkpoint.ts';
import { readPolicyFolder } from '../../../model/policy-folder.ts';
import { readSafetensors } from '../../../model/safetensors.ts';
import { shipped } from '../../../recipes/index.ts';
import { referenceLogits } from '../../model/reference.ts';

/** Any ids of the vocabulary will do. */
const IDS = [20, 31];

test.each([
  ['micro', 1_170_240, 0.4],
  ['mini', 2_978_304, 0.25],
] as const)(
  '%s has %d parameters, the context of the shipped start and its log-probabilities',
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
      // In float64, which takes seconds of the larger one; test/model/widen.test.ts has other shapes.
      if (shape === 'mini') return;
      const [a, b] = [small, large].map((files) =>
        referenceLogits(configOf(files), readSafetensors(files['model.safetensors']!), IDS).flat(),
      );
      // The constant of the norms weighs more where the stream has new zeros.
      expect(Math.max(...a!.map((logit, i) => Math.abs(logit - b![i]!)))).toBeLessThan(5e-3);
      expect(Math.max(...a!) - Math.min(...a!)).toBeGreaterThan(5);
    } finally {
      rmSync(state, { recursive: true });
    }
  },
);

test('every set that is trained takes smaller steps, and its other settings stay', () => {
  const tango = shipped.find('tango');
  const { main, verifier } = withStepSizes(tango, 0.25).sets;
  expect(main).toEqual({
    ...tango.sets.main,
    optimizer: { ...tango.sets.main!.optimizer, learningRate: 2.5e-5 },
  });
  expect(verifier!.optimizer!.learningRate).toBe(tango.sets.verifier!.optimizer!.learningRate / 4);
  const { helpers } = withStepSizes(shipped.find('sipretrain'), 0.25).sets;
  expect(helpers).toEqual({ optimizer: null });
});

test('a run says its start and its step sizes to the process that plays it', () => {
  const run = {
    recipe: 'trio',
    arm: { name: 'judge', description: '' },
    seed: 1,
    rounds: 2,
    evalEvery: 2,
    engine: 'kernels',
  } as const;
  expect(argumentsOf({ ...run, start: '/start', stepSizes: 0.4 }).slice(-2)).toEqual([
    '--start=/start',
    '--step-sizes=0.4',
  ]);
  expect(argumentsOf(run).join(' ')).not.toContain('step-sizes');
});
