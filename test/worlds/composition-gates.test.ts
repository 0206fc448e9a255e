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

/** Every part without fault; the whole of three calls once in eleven samples. */
const able = scripted((prompt, sample) => {
  if (prompt.includes('Write a task')) return `${'f01 of '.repeat(1 + (sample % 3))}abcd<eos>`;
  const [, verb, task] = /^<start>(What is|Read out) (.*)\? $/.exec(prompt)!;
  if (verb === 'Read out') return `${readOut(task!)}<eos>`;
  const calls = task!.split(' of ').length - 1;
  const solves = calls === 1 || sample % (calls === 2 ? 4 : 11) === 3;
  return solves ? `${writeSolution(exactSolution(task!))}<eos>` : 'Answer: aaaa<eos>';
});

test('a policy with every part and hardly the whole meets every gate but those of which it does too much', async () => {
  const measured = await gates(able);
  const value = Object.fromEntries(measured.map((gate) => [gate.description, gate.value]));
  expect(value['one call, greedy']).toBe(1);
  // One of four samples, and one of eleven: the 4th, 15th, 26th, 37th, 48th and 59th of sixty-four.
  expect(value['two calls of functions never shown nested, sampled']).toBe(0.25);
  expect(value['three calls of such functions, sampled']).toBeCloseTo(6 / 64);
  expect(value['three calls of such functions, pass@64']).toBe(1);
  expect(value['proposals that are tasks']).toBe(1);
  expect(value['proposals of three calls']).toBeCloseTo(1365 / 4096);
  // The fourth of four samples is right.
  expect(value['three calls of functions shown nested, sampled']).toBe(0.25);
  expect(measured.filter((gate) => !isMet(gate)).map(({ description }) => description)).toEqual([
    'three calls of functions shown nested, sampled',
  ]);
  expect(await isReady(able)).toBe(true);
});

test('a policy that says nothing meets only the gates that ask for little', async () => {
  const silent = scripted(() => '<eos>');
  const met = (await gates(silent)).filter(isMet).map(({ description }) => description);
  expect(met).toEqual(['three calls of such functions, sampled']);
  expect(await isReady(silent)).toBe(false);
});
