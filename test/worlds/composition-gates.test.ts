/** What a start of compositions is measured for: a policy that does all of it without fault, and one that says nothing. */
import { expect, test } from 'vitest';
import type { Completion } from '../../core/policy/policy.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { readOut } from '../../worlds/composition/demonstrations.ts';
import { composition, exactSolution } from '../../worlds/composition/family.ts';
import { FUNCTIONS } from '../../worlds/composition/functions.ts';
import { gates, seeAll, seeParts } from '../../worlds/composition/gates.ts';
import { parseSolution, writeSolution } from '../../worlds/composition/text.ts';
import { compositionTokenizer } from '../../worlds/composition/tokenizer.ts';
import { type AskedPolicy, isMet } from '../../worlds/gate.ts';
import { writeJudgment } from '../../worlds/worked.ts';

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

/** Every part without fault; three calls once in `three` samples, more of them once in `four`. */
const able = (three: number, four: number, unknown = '') =>
  scripted((prompt, sample) => {
    if (prompt.includes('Write a task')) return `${'f01 of '.repeat(1 + (sample % 3))}abcd<eos>`;
    const [, verb, task, rest] = /^<start>(What is|Read out|Check) (.*?)\? (.*)$/.exec(prompt)!;
    if (verb === 'Read out') return `${readOut(task!)}<eos>`;
    if (verb === 'Check') {
      const read = parseSolution(`${rest!.slice(0, -2)}<eos>`);
      if (!read.ok) throw new Error(read.reason);
      return `${writeJudgment(composition.exactJudgment(task!, read.value))}<eos>`;
    }
    const calls = task!.split(' of ').length - 1;
    const knows = !unknown || !task!.includes(unknown);
    const solves = knows && turn(task!, sample, [1, 1, three][calls - 1] ?? four);
    return solves ? `${writeSolution(exactSolution(task!))}<eos>` : 'Answer: aaaa<eos>';
  });

const missed = async (policy: AskedPolicy) =>
  (await gates(policy)).filter((gate) => !isMet(gate)).map(({ description }) => description);

test('a policy with every part and hardly the whole meets every gate', async () => {
  const policy = able(4, 8);
  const measured = await gates(policy);
  const value = Object.fromEntries(measured.map((gate) => [gate.description, gate.value]));
  for (const name of FUNCTIONS) expect(value[`${name} alone, greedy`]).toBe(1);
  // Each of four samples in a row is the turn of one.
  expect(value['three calls, sampled']).toBe(0.25);
  expect(value['proposals that are tasks']).toBe(1);
  expect(value['proposals of three calls']).toBeCloseTo(1365 / 4096);
  expect(value['wrong solutions that are judged wrong']).toBe(1);
  expect(value['right solutions that are judged right']).toBe(1);
  expect(measured.filter((gate) => !isMet(gate))).toEqual([]);
  expect(await seeAll(policy)).toMatchObject({ done: true, said: 'nothing is missing' });
});

test('one function that is not known is missed, however well the others are', async () => {
  const policy = able(4, 8, 'f09');
  expect(await missed(policy)).toContain('f09 alone, greedy');
  const seen = await seeParts(policy);
  expect(seen.done).toBe(false);
  expect(seen.faults).toEqual({ ...Object.fromEntries(FUNCTIONS.map((name) => [name, 0])), f09: 1 });
  expect(seen.said).toBe('unknown: f09 0; read-outs 100 100 100 100 100');
  expect((await seeParts(able(4, 8))).done).toBe(true);
});

test('a policy that does the whole already misses the gates that leave something to teach', async () => {
  const policy = able(1, 1);
  expect(await missed(policy)).toEqual(['three calls, sampled', 'four calls, greedy']);
  expect((await seeAll(policy)).done).toBe(true);
});

test('a policy that solves three calls now and then is a start, and its training would go on', async () => {
  const policy = able(16, 32);
  expect(await missed(policy)).toEqual([]);
  expect(await seeAll(policy)).toMatchObject({ done: false, said: 'missing: three calls, sampled 6' });
});

test('a policy that says nothing meets only the gate that asks for little', async () => {
  const silent = scripted(() => '<eos>');
  const met = (await gates(silent)).filter(isMet).map(({ description }) => description);
  expect(met).toEqual([
    'right solutions that are judged right',
    'wrong solutions that are judged wrong',
    'four calls, greedy',
  ]);
  expect((await seeAll(silent)).done).toBe(false);
});
