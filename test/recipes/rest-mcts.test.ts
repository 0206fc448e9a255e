import { expect, test } from 'vitest';
import { type RoundRecord, redrawRound, rereadRound } from '../../core/audit/audit-round.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import type { SftPart, ValuePart } from '../../core/plan/training-plan.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { shipped } from '../../recipes/index.ts';
import { exactSolution } from '../../worlds/composition/family.ts';
import { playTree, type WrittenTree, written } from './play-trees.ts';
import { openMoment } from './played-plan.ts';

const restMcts = shipped.find('rest-mcts');

const TASK = 'f07 of f12 of bdca';
const [FIRST, SECOND] = exactSolution(TASK).steps.map((step) => `${step}. `) as [string, string];
const ANSWER = `Answer: ${exactSolution(TASK).answer}<eos>`;
const WRONG = 'f12 gives hhhh. ';
const NO_ANSWER = 'Answer: hhhh<eos>';

/** Of three first steps one is right; after it one of three second ones; whatever is wrong ends with a wrong answer. */
const write: WrittenTree['write'] = (before, i) => {
  if (before === '') return [FIRST, WRONG, WRONG][i % 3]!;
  if (before === FIRST) return [SECOND, NO_ANSWER, NO_ANSWER][i % 3]!;
  return before === FIRST + SECOND ? ANSWER : NO_ANSWER;
};
/** It knows what it reads. */
const values = (text: string) => (text.startsWith(FIRST) ? 0.8 : 0.1);

const play = (more: Partial<WrittenTree> = {}) =>
  playTree({ recipe: restMcts, task: TASK, write, values, ...more });

const partOf = <T>({ plan }: Awaited<ReturnType<typeof play>>, kind: string) =>
  plan.updates.flatMap(({ set, parts }) =>
    parts.flatMap((part) => (part.kind === kind ? [{ set, part: part as unknown as T }] : [])),
  )[0];

test('right answers teach the policy, and their tree teaches the value model what each step is worth', async () => {
  const played = await play();
  const [{ samples, answersExact, measurements }] = played.groups as [(typeof played.groups)[0]];
  const { set, part } = partOf<SftPart>(played, 'sft')!;
  expect([set, part.items.map(written)]).toEqual(['main', [FIRST + SECOND + ANSWER]]);
  const taught = partOf<ValuePart>(played, 'value')!;
  expect(taught.set).toBe('value');
  const worth = new Map(
    taught.part.items.flatMap(({ prompt, ids, targets, weights }) =>
      targets.flatMap((target, t): [string, number][] =>
        weights![t] ? [[written({ prompt, ids: ids.slice(0, t + 1) }), target]] : [],
      ),
    ),
  );
  // The right way has three steps: 1/3, 2/3, 1. A wrong answer after the first one is worth 1/3 − (2/3)/3, and a wrong first step nothing.
  expect(worth.get(FIRST)).toBeCloseTo(1 / 3, 12);
  expect(worth.get(FIRST + SECOND)).toBeCloseTo(2 / 3, 12);
  expect(worth.get(FIRST + SECOND + ANSWER)).toBe(1);
  expect(worth.get(FIRST + NO_ANSWER)).toBeCloseTo(1 / 9, 12);
  expect(worth.get(WRONG)).toBe(0);
  // The group's rollouts are its answers; every other draw belongs to one of them, and all tokens are there once.
  const answers = samples.filter(({ of }) => of === undefined);
  expect(answers.every(({ ids }) => ids.at(-1) === 2)).toBe(true);
  for (const { of } of samples) if (of !== undefined) expect(answers.map(({ id }) => id)).toContain(of);
  expect(new Set(samples.map(({ id }) => id)).size).toBe(samples.length);
  for (const [i, sample] of samples.entries()) {
    const exact = sample.of === undefined ? written(sample) === FIRST + SECOND + ANSWER : null;
    expect([answersExact[i], sample.rewards.reward ?? null]).toEqual([
      exact,
      exact === null ? null : Number(exact),
    ]);
    expect(sample.rewards.visits).toBeGreaterThanOrEqual(1);
  }
  // What was measured is in the record: a number or two for each node, not for each token.
  expect(Object.values(measurements!).every(({ values: of }) => of!.length === 1)).toBe(true);
  expect(played.plan.figures!.solvedTrees).toBe(1);
});

test('a tree without a right answer teaches nothing', async () => {
  const { plan } = await play({ write: (before) => (before === '' ? WRONG : NO_ANSWER) });
  expect(plan.updates).toEqual([]);
  expect(plan.figures!.solvedTrees).toBe(0);
});

test('before the value model has learnt anything every step counts one half', async () => {
  const { groups } = await playTree({ recipe: restMcts, task: TASK, write });
  const first = groups[0]!.samples.find((sample) => written(sample) === WRONG)!;
  expect(first.rewards.estimate).toBe(0.5);
});

test('variants: values by outcome, no value at all, and sampling for as many tokens', async () => {
  const outcome = await play({ variant: 'outcome-values' });
  const values = partOf<ValuePart>(outcome, 'value')!.part.items.flatMap(({ targets, weights }) =>
    targets.filter((_, t) => weights![t]),
  );
  // An answer is worth 0 or 1, and a step the share of right ones after it.
  expect(values).toContain(0);
  expect(values).toContain(1);
  expect(values.some((value) => value > 0 && value < 1)).toBe(true);
  const blind = await play({ variant: 'no-value' });
  expect(blind.groups[0]!.measurements).toBeUndefined();
  const sampled = await playTree({
    recipe: restMcts,
    task: TASK,
    write: (before, i) => (before === '' && i % 4 === 0 ? FIRST + SECOND + ANSWER : NO_ANSWER),
    variant: 'sampling',
  });
  const [{ samples }] = sampled.groups as [(typeof sampled.groups)[0]];
  expect(samples.every(({ of, turn }) => of === undefined && turn === 0)).toBe(true);
  const tokens = samples.reduce((sum, { ids }) => sum + ids.length, 0);
  const drawn = outcome.groups[0]!.samples.reduce((sum, { ids }) => sum + ids.length, 0);
  // Two answers of 56 tokens, and what the last draws go beyond.
  for (const of of [tokens, drawn]) expect(of).toBeGreaterThanOrEqual(112);
  for (const of of [tokens, drawn]) expect(of).toBeLessThan(112 + 3 * 20);
});

test('an audit plays the tree of a record back without a model, draws it again to the same bits, and finds a changed value', async () => {
  const moment = { index: 1 };
  const {
    policies,
    tokenizer: text,
    round,
    context,
  } = await openMoment(restMcts, moment, { seed: 3, tasks: 2 });
  try {
    const played = JSON.parse(JSON.stringify(await playStages({ ...context, recipe: restMcts })));
    const record: RoundRecord = { recipe: restMcts, round, ...played };
    const tools = { tokenizer: text, use: policies.use, recipeState: async () => undefined };
    const audit = async (of: RoundRecord) => {
      const ledger = new AuditLedger();
      await rereadRound(ledger, of, { ...tools, use: () => Promise.reject(new Error('no model')) });
      await redrawRound(ledger, of, tools, 1, 'secret');
      return ledger;
    };
    const honest = await audit(record);
    expect(honest.findings).toEqual([]);
    expect(honest.checked('token')).toBeGreaterThan(20);
    expect(honest.checked('measurement')).toBeGreaterThan(10);
    const [first, ...others] = record.groups;
    const [node, ...rest] = first!.samples;
    const better = { ...node!, rewards: { ...node!.rewards, value: 0.99 } };
    const forged = { ...record, groups: [{ ...first!, samples: [better, ...rest] }, ...others] };
    expect((await audit(forged)).findings).not.toEqual([]);
  } finally {
    await policies.dispose();
  }
});
