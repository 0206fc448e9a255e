/** What a start of canvases is measured for: the shipped one, one that knows every answer, and ones that see nothing. */
import { expect, test } from 'vitest';
import { withImages } from '../../core/images/image-tokenizer.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { canvas, promptOf, readTask } from '../../worlds/canvas/family.ts';
import { gates } from '../../worlds/canvas/gates.ts';
import { canvasTokenizer } from '../../worlds/canvas/tokenizer.ts';
import { type AskedPolicy, isMet } from '../../worlds/gate.ts';

const tokenizer = withImages(openTokenizer(canvasTokenizer().json), true);

/** A policy that writes what `says` makes of a prompt. */
const scripted = (says: (prompt: string) => string): AskedPolicy => ({
  tokenizer,
  generate: async (prompts) =>
    prompts.map(({ ids }) => {
      const made = tokenizer.encode(says(tokenizer.decode(ids)));
      return [{ ids: made, logprobs: made.map(() => 0), stopped: true } satisfies Completion];
    }),
});

const measured = async (policy: AskedPolicy) => {
  const all = await gates(policy);
  return {
    value: Object.fromEntries(all.map(({ description, value }) => [description, value])),
    missed: all.filter((gate) => !isMet(gate)).map(({ description }) => description),
  };
};

test('a policy that knows every answer leaves rewards nothing to teach', async () => {
  const answers = new Map(canvas.heldOut().map((task) => [promptOf(task), readTask(task)!.answer]));
  const { value, missed } = await measured(scripted((prompt) => `${answers.get(prompt) ?? '0'}<eos>`));
  expect(value['held-out questions, greedy']).toBe(1);
  expect(missed).toEqual(['held-out questions, greedy']);
});

test('a policy that reads the question alone does not see', async () => {
  const frequent = (prompt: string) =>
    prompt.includes('How many')
      ? '0'
      : prompt.includes('colour')
        ? 'red'
        : prompt.includes('What')
          ? 'circle'
          : 'no';
  const { value, missed } = await measured(scripted((prompt) => `${frequent(prompt)}<eos>`));
  expect(missed).toEqual(['held-out questions, greedy']);
  expect(value['held-out questions, greedy']).toBe(value['with the canvases exchanged, greedy']);
  expect(value['held-out questions, greedy']).toBeLessThanOrEqual(
    value['the most frequent answer of each kind']!,
  );
});

test('the shipped start sees: with the canvases exchanged its answers are no better than guesses', async () => {
  const files = await readPolicyFolder('models/canvas');
  const policy = await openVersion(nodeEngines, { name: 'canvas', version: 0, engine: 'kernels' }, files);
  const { value, missed } = await measured({
    tokenizer: tokenizerOf(files, 'canvas'),
    generate: (...asked) => policy.generate(...asked),
  });
  expect(missed).toEqual([]);
  const guesses = value['the most frequent answer of each kind']!;
  // Three standard errors of a share of 252 questions are 0.09.
  expect(value['held-out questions, greedy']).toBeGreaterThan(guesses + 0.09);
  expect(value['with the canvases exchanged, greedy']).toBeLessThan(guesses + 0.03);
  await policy.dispose();
});
