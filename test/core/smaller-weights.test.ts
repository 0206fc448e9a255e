/** A run that samples with smaller weights: which refs name them, what makes it a run of its own, and what is allowed for. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { warningsOf } from '../../core/monitor/warnings.ts';
import { type PolicyRef, SMALLER_WEIGHTS, samePolicy } from '../../core/policy/policy.ts';
import { openEvaluationContext, type RoundContextParts } from '../../core/recipe/round-context.ts';
import type { RoundMonitors, TrainingReport } from '../../core/schema/report.ts';
import { roundOf, roundSpec, runIdOf } from '../../core/schema/round.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf, runOrder } from '../../recipes/run-order.ts';

const order = (rest: object = {}) =>
  runOf(shipped, v.parse(runOrder, { recipe: 'trio', freeze: ['judge'], ...rest }));

test('it is another run, with a policy of its own', () => {
  const runs = [order(), ...SMALLER_WEIGHTS.map((weights) => order({ weights }))].map(
    ({ settings }) => settings,
  );
  expect(runs.map(({ policy }) => policy)).toEqual([
    'trio-frozen-judge-0',
    'trio-int8-frozen-judge-0',
    'trio-int4-frozen-judge-0',
    'trio-w8a8-frozen-judge-0',
  ]);
  expect(new Set(runs.map(runIdOf)).size).toBe(4);
  expect(() => order({ weights: 'float16' })).toThrow(/int8/);
});

test('every role samples with them, frozen or not; evaluations do not', async () => {
  const { recipe, settings } = order({ weights: 'w8a8' });
  const round = roundOf(settings, bindingsOf(recipe, settings), 3, 2);
  expect(Object.values(round.roles).map(({ version, weights }) => [version, weights])).toEqual([
    [2, 'w8a8'],
    [2, 'w8a8'],
    [0, 'w8a8'],
  ]);
  const asked: PolicyRef[] = [];
  const use: RoundContextParts['use'] = async (ref) => {
    asked.push(ref);
    throw new Error('no policy');
  };
  const tokenizer = openTokenizer(characterTokenizer().json);
  const recipeState = () => Promise.resolve(null);
  const evaluation = openEvaluationContext({ recipe, round, tokenizer, use, recipeState }, 5, new Map());
  for (const context of [evaluation, evaluation.atStart])
    await context.generate('solver', [{ ids: [1], sampleIds: ['a'] }]).catch(() => {});
  expect(asked).toEqual([
    { name: settings.policy, version: 5 },
    { name: settings.policy, version: 0 },
  ]);
});

test('an engine makes it another run, too, and stays when it is examined', async () => {
  const runs = [{}, { engine: 'onnx' }, { engine: 'kernels' }, { engine: 'kernels', weights: 'int8' }].map(
    order,
  );
  expect(runs.map(({ settings }) => settings.policy)).toEqual([
    'trio-frozen-judge-0',
    'trio-frozen-judge-0',
    'trio-kernels-frozen-judge-0',
    'trio-int8-kernels-frozen-judge-0',
  ]);
  expect(new Set(runs.map(({ settings }) => runIdOf(settings))).size).toBe(3);
  const { recipe, settings } = runs[3]!;
  const round = roundOf(settings, bindingsOf(recipe, settings), 3, 2);
  expect(Object.values(round.roles)).toEqual(
    [2, 2, 0].map((version) => ({ name: settings.policy, version, weights: 'int8', engine: 'kernels' })),
  );
  expect(v.parse(roundSpec, JSON.parse(JSON.stringify(round)))).toEqual(round);
  expect(() => order({ engine: 'torch' })).toThrow(/kernels/);
});

test('a version in another form is another policy', () => {
  const ref = { name: 'p', version: 1 };
  expect(samePolicy(ref, { ...ref })).toBe(true);
  expect(samePolicy(ref, { ...ref, weights: 'int8' })).toBe(false);
  expect(samePolicy({ ...ref, weights: 'int4' }, { ...ref, weights: 'int8' })).toBe(false);
  expect(samePolicy(ref, { ...ref, set: 'verifier' })).toBe(false);
  expect(samePolicy(ref, { ...ref, engine: 'kernels' })).toBe(false);
  expect(samePolicy({ ...ref, engine: 'kernels-plain' }, { ...ref, engine: 'kernels' })).toBe(false);
});

test('how far learner and rollouts may differ depends on what the rollouts were sampled with', () => {
  const monitors = { rollouts: 0, missingRewards: 0 } as RoundMonitors;
  const apart = (mean: number) =>
    ({ mismatch: { mean, max: mean, kl: 0 }, roles: {}, gradientNorm: 1 }) as unknown as TrainingReport;
  const said = [0.0005, 0.03, 0.4].map((mean) =>
    [undefined, 'w8a8' as const].map((weights) => warningsOf(monitors, apart(mean), { weights }).length),
  );
  expect(said).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
  ]);
});
