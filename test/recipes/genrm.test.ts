import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { ClassificationPart, LearnTools, SftPart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { bestOf, verdictProbabilities, withoutVerifier } from '../../protocols/evaluate/best-of-n.ts';
import { planVerifier } from '../../recipes/genrm/own-verdicts.ts';
import { genrm } from '../../recipes/genrm/recipe.ts';
import { CHECK_TOKENS, checkOf, glancePrompt, writeCheck } from '../../worlds/arithmetic/answer-checks.ts';
import { scriptedPolicy } from '../protocols/scripted-policy.ts';
import { recordsOf, solved, tokenizer, verdict } from './records.ts';

const solution = { steps: ['3', '1'], answer: '1' };
const task = '1+2-3';

test('a check does the sums again and compares; what does not lead to the label is left out', () => {
  const random = new Random('check');
  const checks = (answer: typeof solution, right: boolean) =>
    Array.from({ length: 400 }, () => checkOf({ task, solution: answer, right }, random)).filter(
      (check) => check !== null,
    );
  const wrong = checks(solution, false);
  const exact = wrong.filter(({ totals }) => totals.join() === '3,0');
  // One script in ten slips; where it slips one up, two times in twelve, it finds the answer 1 right.
  expect(wrong.length / 400).toBeGreaterThan(0.95);
  expect(exact.length / 400).toBeGreaterThan(0.85);
  expect(exact.length).toBeLessThan(wrong.length);
  expect(wrong.every(({ totals, right }) => !right && totals.at(-1) !== '1')).toBe(true);
  // A slip never agrees with a right answer, with steps or without.
  const right = checks({ steps: [], answer: '0' }, true);
  expect(right.length / 400).toBeGreaterThan(0.85);
  expect(right.length / 400).toBeLessThan(0.95);
  expect(right.every(({ totals }) => totals.join() === '3,0')).toBe(true);
  // What is wrong and called right finds a script that agrees only by a slip: one time in sixty.
  expect(checks(solution, true).length).toBeLessThan(20);
  expect(writeCheck(exact[0]!)).toBe('<step>3<step>0<answer>0!<wrong><eos>');
});

test('the longest check fits the tokens it is given', () => {
  const totals = ['-10', '-20', '-30', '-40', '-45'];
  expect(tokenizer.encode(writeCheck({ totals, right: true }))).toHaveLength(CHECK_TOKENS);
});

test('the best of each task by its score; a task without an answer counts as wrong', () => {
  const candidates = [{ exact: [false, true] }, { exact: [true, false] }, { exact: [] }];
  expect(bestOf(candidates, [[0.1, 0.9], [0.5, 0.5], []])).toBeCloseTo(2 / 3);
  expect(bestOf(candidates, [[0.9, 0.1], [0.1, 0.9], []])).toBe(0);
});

test('without a verifier: the mean answer, the vote, and the best there is', () => {
  const at = (answer: string) => ({ steps: [], answer });
  const candidates = [
    { task: 'a', solutions: [at('1'), at('2'), at('2')], exact: [true, false, false] },
    { task: 'b', solutions: [at('5'), at('5')], exact: [true, true] },
  ];
  expect(withoutVerifier(candidates)).toEqual({ one: (1 / 3 + 1) / 2, vote: 0.5, oracle: 1 });
});

test('p(right) is the mark’s own probability, the rest where it says wrong, a half where it says nothing', async () => {
  const policy = scriptedPolicy(
    tokenizer,
    (_prompt, _id, i) => ['<ok><ok><right><eos>', '<ok><bad><wrong><eos>', '<ok><eos>'][i]!,
  );
  const generate = (_role: string, prompts: Parameters<typeof policy.generate>[0]) =>
    policy.generate(prompts, { maxNew: 9, temperature: 1, stop: [] });
  const [[[right, wrong, none]]] = (await verdictProbabilities(
    { tokenizer, generate },
    'verifier',
    [{ task, solutions: [solution], exact: [false] }],
    { prompt: () => 'x', votes: 3, temperature: 1 },
  )) as [[[number, number, number]]];
  // A scripted token has log-probability -1.
  expect(right).toBeCloseTo(Math.exp(-1));
  expect(wrong).toBeCloseTo(1 - Math.exp(-1));
  expect(none).toBe(0.5);
});

const groups = [
  {
    task,
    samples: [
      solved('<step>3<step>0<answer>0<eos>', 1),
      solved('<step>3<step>0<answer>0<eos>', 1),
      solved('<step>3<step>1<answer>1<eos>', 0),
    ],
  },
];
const tools = {
  encode: tokenizer.encode,
  decode: tokenizer.decode,
  score: (_set: string, sequences: readonly object[]) =>
    Promise.resolve(sequences.map((_, i) => Float32Array.of(-i))),
  classes: (_set: string, sequences: readonly object[]) =>
    Promise.resolve(sequences.map((_, i) => Float32Array.of(0, i))),
} as unknown as LearnTools;
const plan = (variant?: string) =>
  planTraining(genrm, recordsOf('genrm', groups, variant ? { variant } : {}), tools);

test('as many right as wrong answers are taught, beside the right answers themselves', async () => {
  const [verifying, solving] = (await plan('direct')).updates[0]!.parts as SftPart[];
  expect(verifying!.items.map(({ ids }) => tokenizer.decode(ids)).sort()).toEqual([
    '<right><eos>',
    '<wrong><eos>',
  ]);
  expect(tokenizer.decode(verifying!.items.at(-1)!.prompt)).toBe(glancePrompt({ task, solution }));
  expect(solving!.weight).toBe(0.3);
  expect(solving!.items).toHaveLength(2);
});

test('the head reads the whole answer; baselines are asked on fresh tasks before they learn', async () => {
  const { updates, figures } = await plan('head');
  const part = updates[0]!.parts[0] as ClassificationPart;
  expect(part.items.map(({ label }) => label).sort()).toEqual([0, 1]);
  const [{ prompt, ids }] = part.items as [ClassificationPart['items'][number]];
  expect(tokenizer.decode([...prompt, ...ids]).startsWith('<judge>1+2-3<sep>')).toBe(true);
  expect(prompt).toHaveLength(1);
  // The head likes the last answer most, which is wrong; the glance the first, which is right.
  expect(figures).toEqual({ bestFresh: 0 });
  expect((await plan('direct')).figures).toEqual({ bestFresh: 1 });
});

test('on questions the verifier learns its own verdicts that the checker confirms, as many of each kind', () => {
  const right = [solved('1', 1), solved('2', 1)] as const;
  const wrong = [solved('3', 0), solved('4', 0), solved('5', 0)] as const;
  // Both right answers are found right; one wrong one is found wrong, one is missed, and one verdict cannot be read.
  const judgments = [
    verdict(right[0], '11', 1),
    verdict(right[1], '12', 1),
    verdict(wrong[0], '21', 1),
    verdict(wrong[1], '22', 0),
    verdict(wrong[2], '23', 0, 'off-grammar'),
  ];
  const groups = [{ samples: [...right, ...wrong], judgments }];
  const tools = { encode: tokenizer.encode, renderer: () => ({ stops: [7] }) } as unknown as LearnTools;
  const plan = (variant?: string, of = groups) =>
    planVerifier(recordsOf('genrm', of, variant === undefined ? {} : { variant }), tools);
  const { updates, figures } = plan();
  const [verifying, solving] = updates[0]!.parts as SftPart[];
  expect(figures).toEqual({ agreeing: 3, taught: 2 });
  const texts = verifying!.items.map(({ ids }) => tokenizer.decode([...ids])).sort();
  expect(texts).toContain('21');
  expect(['11', '12']).toContain(texts[0]);
  expect(solving).toMatchObject({ role: 'solver', weight: 0.3 });
  expect(solving!.items.map(({ ids }) => tokenizer.decode([...ids]))).toEqual(['1', '2']);

  // The bare words: two right answers and as many of the three wrong ones, whatever the verifier said.
  const [bare] = plan('direct').updates[0]!.parts as SftPart[];
  const words = ['yes', 'no'].map((word) => [...tokenizer.encode(`<answer>${word}</answer>`), 7].join());
  const counts = words.map((word) => bare!.items.filter(({ ids }) => ids.join() === word).length);
  expect(counts).toEqual([2, 2]);

  // With right answers alone there is nothing to tell apart.
  expect(
    plan(undefined, [{ samples: [...right], judgments: judgments.slice(0, 2) }] as typeof groups).updates,
  ).toEqual([]);
});
