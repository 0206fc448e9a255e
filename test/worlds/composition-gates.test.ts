/** What a start of compositions is measured for: a policy that does all of it without fault, and one that says nothing. */
import { expect, test } from 'vitest';
import type { Completion } from '../../core/policy/policy.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { readOut } from '../../worlds/composition/demonstrations.ts';
import { exactSolution } from '../../worlds/composition/family.ts';
import { gates, isReady } from '../../worlds/composition/gates.ts';
import { writeSolution } from '../../worlds/composition/text.ts';
import { compositionTokenizer } from '../../worlds/composition/tokenizer.ts';
import { type AskedPolicy, isMet } from '../../worlds/gate.ts';

const tokenizer = openTokenizer(compositionTokenizer().json);

/** A policy that writes what `says` makes of a prompt and the number of the sample. */
const scripted = (says: (prompt: string, sample: number) => string): AskedPolicy => ({
  tokenizer,
  generate: async (prompts) =>
    prompts.map(({ ids, sampleIds }) =>
      sampleIds.map((_, i): Completion => {
        const made = tokenizer.encode(says(tokenizer.decode(ids), i));
        return { ids: made, logprobs: made.map(() => 0), stopped: true };
      }),
    ),
});

/** Is it a task's turn at this sample? At one of every `of` in a row, not the same one for every task. */
const turn = (task: string, sample: number, of: number) =>
  [...task].reduce((sum, letter) => sum + letter.codePointAt(0)!, sample) % of === 0;

/** Every part without fault; two calls once in four samples, three once in `three`. */
const able = (three: number) =>
  scripted((prompt, sample) => {
    if (prompt.includes('Write a task')) return `${'f01 of '.repeat(1 + (sample % 3))}abcd<eos>`;
    const [, verb, task] = /^<start>(What is|Read out) (.*)\? $/.exec(prompt)!;
    if (verb === 'Read out') return `${readOut(task!)}<eos>`;
    const calls = task!.split(' of ').length - 1;
    const solves = calls === 1 || turn(task!, sample, calls === 2 ? 4 : three);
    return solves ? `${writeSolution(exactSolution(task!))}<eos>` : 'Answer: aaaa<eos>';
  });

test('a policy with every part and hardly the whole meets every gate', async () => {
  const policy = able(16);
  const measured = await gates(policy);
  const value = Object.fromEntries(measured.map((gate) => [gate.description, gate.value]));
  expect(value['one call, greedy']).toBe(1);
  expect(value['two calls of functions never shown nested, sampled']).toBe(0.25);
  // Four of sixty-four.
  expect(value['three calls of functions never shown nested, sampled']).toBe(1 / 16);
  expect(value['three calls of such functions, pass@64']).toBe(1);
  expect(value['proposals that are tasks']).toBe(1);
  expect(value['proposals of three calls']).toBeCloseTo(1365 / 4096);
  expect(measured.filter((gate) => !isMet(gate))).toEqual([]);
  expect(await isReady(policy)).toBe(true);
});

test('a policy that does the whole already misses the gates that leave something to teach', async () => {
  const policy = able(4);
  expect((await gates(policy)).filter((gate) => !isMet(gate)).map(({ description }) => description)).toEqual([
    'three calls of functions shown nested, sampled',
    'three calls of functions never shown nested, sampled',
  ]);
  expect(await isReady(policy)).toBe(true);
});

test('a policy that says nothing meets only the gates that ask for little', async () => {
  const silent = scripted(() => '<eos>');
  const met = (await gates(silent)).filter(isMet).map(({ description }) => description);
  expect(met).toEqual(['three calls of functions never shown nested, sampled']);
  expect(await isReady(silent)).toBe(false);
});
