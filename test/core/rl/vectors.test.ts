/** Every reference vector of test/oracle/vectors.json, against the plain functions and, where there is one, the tfjs version. */
import * as v from 'valibot';
import { afterAll, expect, test } from 'vitest';
import * as tf from '../../../learner/tfjs.ts';
import file from '../../oracle/vectors.json' with { type: 'json' };
import { advantageCases } from './vectors/advantages.ts';
import { aggregationCases } from './vectors/aggregation.ts';
import { type Case, vectorFile } from './vectors/case.ts';
import { correctionCases } from './vectors/corrections.ts';
import { lossCases } from './vectors/losses.ts';

await tf.setBackend('cpu');

const { vectors } = v.parse(vectorFile, file);
const cases: readonly Case[] = [...advantageCases, ...lossCases, ...aggregationCases, ...correctionCases];
let passed = 0;

test.for(vectors)('$id', (vector) => {
  const mine = cases.filter(({ ids }) => ids.test(vector.id));
  if (mine.length === 0) expect.fail(`no case handles ${vector.id}`);
  for (const { check } of mine) tf.tidy(() => check(vector));
  passed++;
});

test('every case has a vector', () => {
  const idle = cases.filter(({ ids }) => !vectors.some(({ id }) => ids.test(id)));
  expect(idle.map(({ ids }) => String(ids))).toEqual([]);
});

afterAll(() => console.log(`reference vectors: ${passed} of ${vectors.length} pass`));
