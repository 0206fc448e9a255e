/** Every number that a schema reads is finite, and every count is one that floating-point numbers count. */
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import * as rewardService from '../../core/net/reward-service.ts';
import { MOST_REWARD, measuredOf } from '../../core/schema/numbers.ts';
import { agreement } from '../../learner/train/agreement.ts';
import { trainingOf } from '../../learner/train/summary.ts';

type Schema = v.GenericSchema & {
  readonly pipe?: readonly Schema[];
  readonly entries?: Readonly<Record<string, Schema>>;
  readonly items?: readonly Schema[];
  readonly options?: readonly Schema[];
  readonly item?: Schema;
  readonly wrapped?: Schema;
  readonly key?: Schema;
  readonly value?: Schema;
  readonly rest?: Schema;
};

/** The schemas of numbers within a schema, pipes whole, by their paths. */
function* numbersIn(schema: Schema, path: string): Generator<readonly [string, Schema]> {
  const { pipe, entries = {}, items, options, item, wrapped, key, value, rest } = schema;
  if (schema.type === 'number') return yield [path, schema];
  for (const [name, entry] of Object.entries(entries)) yield* numbersIn(entry, `${path}.${name}`);
  const parts = [
    ...(items ?? []),
    ...(options ?? []),
    ...(pipe?.slice(1) ?? []),
    item,
    wrapped,
    key,
    value,
    rest,
  ];
  for (const part of parts) if (part && typeof part === 'object') yield* numbersIn(part, path);
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema';

async function exported(): Promise<[string, Schema][]> {
  const modules: [string, object][] = [['reward-service', rewardService]];
  for (const file of readdirSync('core/schema'))
    modules.push([file, (await import(resolve('core/schema', file))) as object]);
  const numbers = modules.flatMap(([file, all]) =>
    Object.entries(all).flatMap(([name, schema]) =>
      isSchema(schema) ? [...numbersIn(schema, `${file} ${name}`)] : [],
    ),
  );
  return numbers.map(([path, schema]) => [path, schema]);
}

test('no number of a record, request or answer may be without end or no number', async () => {
  const numbers = await exported();
  // Reports, samples, work, answers: a walk that finds few has missed the schemas.
  expect(numbers.length).toBeGreaterThan(300);
  const taken = numbers.flatMap(([path, schema]) =>
    ['1e400', '-1e400', '"NaN"', '"Infinity"', '"1"', '[1]', 'true'].flatMap((text) =>
      v.is(schema, JSON.parse(text)) ? [`${path}: ${text}`] : [],
    ),
  );
  expect(taken).toEqual([]);
  for (const [path, schema] of numbers) expect(v.is(schema, Number.NaN), path).toBe(false);
});

test('what is counted is counted exactly', async () => {
  const whole = (await exported()).filter(([, schema]) => !v.is(schema, 1.5) && v.is(schema, 3));
  expect(whole.length).toBeGreaterThan(150);
  for (const [path, schema] of whole)
    for (const huge of [2 ** 53, 1e308]) expect(v.is(schema, huge), path).toBe(false);
});

test('what is paid has squares that float32 holds', () => {
  const largest = Math.fround(MOST_REWARD ** 2) * 1e6;
  expect(Number.isFinite(Math.fround(largest))).toBe(true);
  for (const reward of [1.1e9, -1.1e9, 1e308, -1e308])
    expect(v.is(rewardService.scores, [reward]), String(reward)).toBe(false);
  for (const reward of [1e9, -1e9, 0, -0, 5e-324, 0.1])
    expect(v.is(rewardService.scores, [reward]), String(reward)).toBe(true);
});

test('a figure of a report is finite or null, whatever the log-probabilities are', () => {
  const hostile = [0, -0, -5e-324, -1, -128, -1e4, -3.4e38, -1e308, -Infinity, Number.NaN, 1e308];
  const figuresOf = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null ? Object.values(value).flatMap(figuresOf) : [value];
  for (const learner of hostile)
    for (const rollout of hostile) {
      const scored = {
        logprobs: Float32Array.of(learner),
        entropy: Float32Array.of(rollout),
        start: Float32Array.of(rollout),
      };
      const figures = figuresOf([agreement([learner, -1], [rollout, -1]), trainingOf([scored])]);
      expect(figures.filter((figure) => figure !== null && !Number.isFinite(figure))).toEqual([]);
    }
  expect([measuredOf(-0), measuredOf(Number.NaN), measuredOf(-Infinity)]).toEqual([-0, null, null]);
});
