/** Rations: what does not fit is put off, nothing is made twice, and the end is the same. */
import { expect, test } from 'vitest';
import type { Policy, SamplingSettings } from '../../core/policy/policy.ts';
import { oneOf } from '../../core/text/token-grammar.ts';
import {
  BudgetExceeded,
  budgeted,
  CpuBudget,
  cpuBudgetMs,
  PartialResults,
} from '../../workers/shared/cpu-budget.ts';

const settings: SamplingSettings = { maxNew: 4, temperature: 1, stop: [0] };
const prompts = [
  { ids: [1, 2, 3, 4, 5, 6], sampleIds: ['a', 'b', 'c'] },
  { ids: [7], sampleIds: ['d', 'e'] },
];

/** Of a million weights: a token takes 1 + 1 ms, so a row of 6 + 4 tokens 20 ms. Says what it was asked for. */
function countingPolicy(parameters?: number): { policy: Policy; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    policy: {
      ref: { name: 'p', version: 3 },
      ...(parameters === undefined ? {} : { parameters }),
      generate: async (wanted) =>
        wanted.map(({ ids, sampleIds }) =>
          sampleIds.map((id) => {
            asked.push(id);
            return { ids: [ids.length, id.charCodeAt(0)], logprobs: [-0.5, -0.25], stopped: true };
          }),
        ),
      score: () => Promise.reject(new Error('not asked for')),
      dispose: () => Promise.resolve(),
    },
  };
}

test('three invocations of two rows each come to what one would have', async () => {
  const { policy, asked } = countingPolicy(1e6);
  const whole = await policy.generate(prompts, settings);
  asked.length = 0;
  let stored = {};
  const invoke = async () => {
    const kept = new PartialResults();
    kept.add(JSON.parse(JSON.stringify(stored)));
    try {
      return await budgeted(policy, kept, new CpuBudget(45)).generate(prompts, settings);
    } catch (error) {
      expect(error).toBeInstanceOf(BudgetExceeded);
      kept.takeTouched();
      await expect(budgeted(policy, kept, null).generate(prompts, settings)).rejects.toThrow(BudgetExceeded);
      stored = kept.takeTouched();
      return null;
    }
  };
  expect(await invoke()).toBeNull();
  expect(asked).toEqual(['a', 'b']);
  expect(await invoke()).toBeNull();
  // The third row of the long prompt decides what a row takes: two again.
  expect(asked).toEqual(['a', 'b', 'c', 'd']);
  expect(await invoke()).toEqual(whole);
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('each engine and form is reckoned with its own time', async () => {
  for (const [ref, ms, rows] of [
    [{ weights: 'w8a8' }, 45, 2],
    // Ten tokens of 1 + 1 + 1.7 ms: weights that are unpacked at every use.
    [{ weights: 'int8' }, 45, 1],
    [{ weights: 'int4' }, 45, 1],
    // Ten tokens of .1 + .5 ms, and of .1 + .25 ms.
    [{ engine: 'kernels' }, 20, 3],
    [{ engine: 'kernels-plain' }, 20, 3],
    [{ engine: 'kernels', weights: 'int8' }, 15, 4],
  ] as const) {
    const { policy, asked } = countingPolicy(1e6);
    const rounded = { ...policy, ref: { ...policy.ref, ...ref } };
    await expect(
      budgeted(rounded, new PartialResults(), new CpuBudget(ms)).generate(prompts, settings),
    ).rejects.toThrow(BudgetExceeded);
    expect(asked).toHaveLength(rows);
  }
});

test('attention is reckoned with what it reads of earlier tokens', async () => {
  const { policy, asked } = countingPolicy(1e6);
  const wide = { ...policy, attended: 400_000, ref: { ...policy.ref, engine: 'kernels' as const } };
  // Ten tokens of .1 + .5 ms, and five of .2 ms a token before each, ten times: 6 + 10 ms.
  await expect(
    budgeted(wide, new PartialResults(), new CpuBudget(35)).generate(prompts, settings),
  ).rejects.toThrow(BudgetExceeded);
  expect(asked).toHaveLength(2);
});

test('a row that is larger than the CPU budget is made all the same, one an invocation', async () => {
  const { policy, asked } = countingPolicy(1e9);
  await expect(
    budgeted(policy, new PartialResults(), new CpuBudget(1)).generate(prompts, settings),
  ).rejects.toThrow(BudgetExceeded);
  expect(asked).toEqual(['a']);
});

test('one CPU budget for all calls of an invocation', () => {
  const cpuBudget = new CpuBudget(100);
  expect([cpuBudget.take(3, 20), cpuBudget.take(3, 20), cpuBudget.take(1, 20)]).toEqual([3, 2, 0]);
});

test('what another version, set, prompt or way of sampling made is not taken for it', async () => {
  const kept = new PartialResults();
  const { policy, asked } = countingPolicy(1);
  const one = [{ ids: [1], sampleIds: ['a'] }];
  const generous = () => new CpuBudget(1e9);
  await budgeted(policy, kept, generous()).generate(one, settings);
  await budgeted({ ...policy, ref: { name: 'p', version: 4 } }, kept, generous()).generate(one, settings);
  await budgeted({ ...policy, ref: { ...policy.ref, set: 'x' } }, kept, generous()).generate(one, settings);
  await budgeted(policy, kept, generous()).generate([{ ids: [2], sampleIds: ['a'] }], settings);
  await budgeted(policy, kept, generous()).generate(one, { ...settings, temperature: 0.5 });
  await budgeted(policy, kept, generous()).generate(one, { ...settings, topK: 2 });
  const grammar = oneOf([[1, 0]], 8);
  await budgeted(policy, kept, generous()).generate(one, { ...settings, grammar });
  expect(asked.length).toBe(7);
  await budgeted(policy, kept, generous()).generate(one, settings);
  await budgeted(policy, kept, generous()).generate(one, { ...settings, grammar });
  expect(asked.length).toBe(7);
});

test('a policy that computes elsewhere is never put off', async () => {
  const { policy, asked } = countingPolicy();
  await budgeted(policy, new PartialResults(), new CpuBudget(1)).generate(prompts, settings);
  expect(asked.length).toBe(5);
});

test('the setting in seconds; what is none is the default', () => {
  expect(['2.5', '0', '-1', 'x', undefined].map(cpuBudgetMs)).toEqual([
    2500, 150_000, 150_000, 150_000, 150_000,
  ]);
});
