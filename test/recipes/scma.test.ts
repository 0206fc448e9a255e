import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { SCORER, SEGMENTER, unimportantTokens } from '../../recipes/scma/compress.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { evaluateWritten } from './evaluate-written.ts';

const scma = shipped.find('scma');

const isEven = (task: string) => Number(task[0]) % 2 === 0;

test('a token costs nothing in a chunk of the greatest importance, and all in one of none', () => {
  expect(
    unimportantTokens([
      { tokens: 3, importance: 0 },
      { tokens: 4, importance: 1 },
      { tokens: 2, importance: 0.5 },
    ]),
  ).toBe(4);
});

interface Texts {
  /** What the second solver writes; the first writes `hm`, the first total and the exact answer. */
  readonly second?: string;
  readonly marks?: (lines: number) => string;
  /** Scores by the first line of the prompt. */
  readonly scores?: Readonly<Record<string, string>>;
}

/** Plays one task with two answers. */
async function play({
  second = '<step>so<answer>99<eos>',
  marks = (lines) => ';'.repeat(lines),
  scores = { hm: '15', so: '3' },
  ...more
}: WriteOptions & Texts = {}) {
  const prompts: string[] = [];
  const played = await playWritten(
    scma,
    (prompt, i) => {
      const lines = prompt.split('<step>').slice(1);
      if (!prompt.startsWith('<solve>')) prompts.push(prompt);
      if (prompt.startsWith('<propose>')) return `${marks(lines.length)}<eos>`;
      if (prompt.startsWith('<judge>')) return `${scores[lines[0]!.replace(/[;<].*/, '')]}<eos>`;
      const totals = runningTotals(prompt.slice('<solve>'.length, -'<sep>'.length));
      return i === 0 ? `<step>hm<step>${totals[0]}<answer>${totals.at(-1)}<eos>` : second;
    },
    { tasks: 1, groupSize: 2, ...more },
  );
  const group = played.groups[0]!;
  const total = String(runningTotals(group.task)[0]);
  const rewardOf = new Map(group.samples.map(({ id, rewards }) => [id, rewards.reward]));
  return {
    ...played,
    group,
    prompts,
    total,
    rewards: group.samples.map(({ rewards }) => rewards.reward),
    /** Each reader's samples earn what the answer earns that they are about. */
    shared: group.judgments.every(({ of, rewards }) => rewards.reward === rewardOf.get(of!)),
    readers: group.judgments.map(({ role }) => role),
  };
}

test('tokens cost by the importance of their chunk, and all three roles have the answer’s advantage', async () => {
  const { group, rewards, prompts, total, shared, readers, plan } = await play();
  expect(prompts).toEqual([
    `<propose><step>hm<step>${total}<sep>`,
    '<propose><step>so<sep>',
    `<judge><step>hm;<step>${total}<sep>`,
    '<judge><step>so<sep>',
  ]);
  // `<step>hm` has 3 tokens of score 1, the total scores 5: 1 - 0.05 · 3. `<step>so` has 3 tokens of score 3: 0 - 0.05 · 3 / 2.
  expect(rewards).toEqual([0.85, -0.075].map((r) => expect.closeTo(r, 12)));
  expect([shared, readers]).toEqual([true, [SEGMENTER, SEGMENTER, SCORER, SCORER]]);
  // The mean is 0.3875 and the deviation 0.925 / √2: advantages ±1/√2.
  const parts = plan.updates[0]!.parts as PolicyPart[];
  expect(parts.map(({ role }) => role)).toEqual(['solver', SEGMENTER, SCORER]);
  for (const { role, items } of parts) {
    expect(items.map(({ advantage }) => advantage)).toEqual(
      [Math.SQRT1_2, -Math.SQRT1_2].map((a) => expect.closeTo(a, 3)),
    );
    expect(items.map(({ sample }) => sample.of ?? sample.id)).toEqual(group.samples.map(({ id }) => id));
    expect(items.every(({ sample }) => sample.role === role)).toBe(true);
  }
  // Totals: one, of score 5. Filler: two lines, of scores 1 and 3.
  expect(plan.figures).toEqual({ readable: 1, totalImportance: 5, fillerImportance: 2 });
});

test('what cannot be read costs all of its tokens', async () => {
  // A segmentation with too few marks: nobody is asked for scores.
  const unread = await play({ marks: (lines) => ';'.repeat(Math.max(1, lines - 1)) });
  expect(unread.readers).toEqual([SEGMENTER, SEGMENTER, SCORER]);
  expect(unread.rewards[0]).toBeCloseTo(1 - 0.05 * (3 + 1 + unread.total.length), 12);
  expect(unread.shared).toBe(true);
  expect(unread.plan.figures!.readable).toBe(0.5);
  // Scores that are too few.
  const unscored = await play({ scores: { hm: '1', so: '3' } });
  expect(unscored.rewards[0]).toBeCloseTo(1 - 0.05 * (3 + 1 + unscored.total.length), 12);
  // A text without an answer: 6 tokens, and nobody reads it.
  const cutOff = await play({ second: '<step>so<step>so' });
  expect([cutOff.rewards[1], cutOff.readers]).toEqual([expect.closeTo(-0.3, 12), [SEGMENTER, SCORER]]);
  // An answer without lines costs nothing, and there is nothing to read.
  const terse = await play({ second: '<answer>99<eos>' });
  expect([terse.rewards[1], terse.readers]).toEqual([0, [SEGMENTER, SCORER]]);
});

test('without readers tokens cost nothing, or all the same', async () => {
  const exact = await play({ variant: 'exact' });
  expect([exact.rewards, exact.prompts, exact.plan.figures]).toEqual([[1, 0], [], {}]);
  expect(exact.plan.updates[0]!.parts.map(({ role }) => role)).toEqual(['solver']);
  const length = await play({ variant: 'length' });
  expect(length.rewards).toEqual(
    [1 - 0.05 * (3 + 1 + length.total.length), -0.15].map((r) => expect.closeTo(r, 12)),
  );
  expect(length.prompts).toEqual([]);
});

test('shuffled, the scores of all answers to a task change places', async () => {
  const seen = new Set<string>();
  for (const seed of Array.from({ length: 12 }, (_, i) => i)) {
    const { rewards, total } = await play({ variant: 'shuffled-importance', seed });
    // The second answer has one chunk of 3 tokens, and so costs 0.15, 0.075 or 0 by the score that it gets.
    const second = Math.round(-rewards[1]! * 1000) / 1000;
    const left = { 0.15: [5, 3], 0.075: [1, 5], 0: [1, 3] }[second]!;
    const costs = [left, [...left].reverse()].map(
      ([a, b]) => 1 - 0.05 * ((3 * (5 - a!)) / 4 + ((1 + total.length) * (5 - b!)) / 4),
    );
    expect(costs.some((cost) => Math.abs(cost - rewards[0]!) < 1e-9)).toBe(true);
    seen.add(second.toFixed(3));
  }
  expect([...seen].sort()).toEqual(['0.000', '0.075', '0.150']);
});

test('a coin and the format are paid less what tokens cost', async () => {
  const cost = [0.15, 0.075];
  const { rewards: format } = await play({ rewardFunction: 'format' });
  expect(format).toEqual(cost.map((c) => expect.closeTo(1 - c, 12)));
  const { rewards: random } = await play({ rewardFunction: 'random' });
  random.forEach((reward, i) => {
    expect([0, 1]).toContain(Math.round((reward! + cost[i]!) * 1e9) / 1e9);
  });
});

test('an evaluation counts filler and totals in the sampled answers that parse', async () => {
  // A line of filler, the first total and the exact answer where a task begins with an even digit, and no answer elsewhere.
  const asked = new Set<string>();
  const { heldOut, figures } = await evaluateWritten(scma, 30, (prompt) => {
    const task = prompt.slice('<solve>'.length, -'<sep>'.length);
    asked.add(task);
    const totals = runningTotals(task);
    return isEven(task) ? `<step>hm<step>${totals[0]}<answer>${totals.at(-1)}<eos>` : '<answer><eos>';
  });
  const read = [...asked].filter(isEven);
  const share = read.length / 30;
  expect(heldOut).toMatchObject({ n: 30, accuracy: share, sampled: share, formatRate: share });
  // `<step>hm` has 3 tokens. One total is stated, of as many as there are operators.
  const kept = read.reduce((sum, task) => sum + 1 / task.match(/[+-]/g)!.length, 0) / read.length;
  expect(figures).toEqual({ filler: 3, kept: expect.closeTo(kept, 12) });
});
