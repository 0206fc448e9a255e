import { expect, test } from 'vitest';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { admit, refuseRepeated } from '../../core/round/admit.ts';
import { scriptedPolicy, textTokenizer } from '../../local/testing/index.ts';
import { passed, proposeThrough } from '../../protocols/proposals.ts';
import { stp } from '../../recipes/stp/recipe.ts';
import { recordsOf } from '../recipes/records.ts';

const tokenizer = textTokenizer();
const { round } = recordsOf('stp', []);

const contextOf = (write: (prompt: string, i: number) => string) =>
  openRoundContext({
    recipe: stp,
    round: { ...round, roles: { conjecturer: { name: 'p', version: 2 } } },
    tokenizer,
    recipeState: () => Promise.resolve(undefined),
    use: (_ref, work) => work(scriptedPolicy(tokenizer, (prompt, _, i) => write(prompt, i))),
  });

test('the gate refuses by form, by side and by what the recipe says, in this order, and keeps every text', async () => {
  // Two requests; what the second writes first is what the first wrote.
  const texts: Record<string, readonly string[]> = {
    A: ['7<eos>', '7', 'x<eos>', '9<eos>'],
    B: ['7<eos>', '8<eos>'],
  };
  const requests = [
    { prompt: 'A', sampleIds: ['a0', 'a1', 'a2', 'a3'], adds: 0 },
    { prompt: 'B', sampleIds: ['b0', 'b1'], adds: 0 },
  ];
  const proposals = await proposeThrough(
    contextOf((prompt, i) => texts[prompt]![i]!),
    'conjecturer',
    requests,
    {
      parse: (text, { adds }) => {
        const digit = text.replace('<eos>', '');
        return /^\d$/.test(digit) ? ok(String(Number(digit) + adds)) : invalid('off-grammar');
      },
      isHeldOut: (task) => task === '9',
      refuse: refuseRepeated(['8']),
    },
  );
  expect(proposals.map(({ task, sample: { id, outcome } }) => [id, task, outcome])).toEqual([
    ['a0', '7', 'ok'],
    // It was not ended.
    ['a1', '7', 'cut-off'],
    ['a2', '', 'off-grammar'],
    ['a3', '9', 'held-out'],
    ['b0', '7', 'duplicate'],
    // It was known before.
    ['b1', '8', 'duplicate'],
  ]);
  expect(proposals[4]!.request).toBe(requests[1]);
  expect(passed(proposals)).toEqual([{ task: '7', proposal: 'a0' }]);
});

test('admitted tasks are numbered in their order, each in a group of its own', () => {
  const tasks = admit(round, [
    { task: 'x', proposal: 'p' },
    { task: 'y', proposal: null },
  ]);
  expect(tasks.map(({ index, task, proposal }) => [index, task, proposal])).toEqual([
    [0, 'x', 'p'],
    [1, 'y', null],
  ]);
  expect(new Set(tasks.map(({ group }) => group)).size).toBe(2);
});
