import { expect, test } from 'vitest';
import type { PolicyPart, Sequence } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { scoreInContexts } from '../../protocols/score-in-other-prompt.ts';
import { shipped } from '../../recipes/index.ts';
import { perplexity, selfAlignment } from '../../recipes/sar/alignment.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';

const sar = shipped.find('sar');

const [half, quarter] = [Math.log(1 / 2), Math.log(1 / 4)];

test('perplexity, and how much of it a question takes away', () => {
  expect(perplexity([half, half, half])).toBeCloseTo(2);
  // √(2 · 4) of a token of probability 1/2 and one of 1/4.
  expect(perplexity([half, quarter])).toBeCloseTo(Math.sqrt(8));
  // (4 - 2) / 4, (2 - 2) / 2, (2 - 4) / 2, and (2 - 16) / 2 = -7, which is cut off.
  expect(selfAlignment([half], [quarter])).toBeCloseTo(0.5);
  expect(selfAlignment([half], [half])).toBe(0);
  expect(selfAlignment([quarter], [half])).toBeCloseTo(-1);
  expect(selfAlignment([2 * quarter], [half])).toBe(-1);
});

test('padding that fits any question lowers the bonus, and so does a wrong answer', () => {
  // Right tokens: certain with the question, 1/16 without. Padding: 1/2 either way. Wrong: 1/4 with it, 1/16 without.
  const [right, pad, wrong] = [
    { with: 0, without: 2 * quarter },
    { with: half, without: half },
    { with: quarter, without: 2 * quarter },
  ];
  const bonus = (tokens: readonly { with: number; without: number }[]) =>
    selfAlignment(
      tokens.map((token) => token.with),
      tokens.map(({ without }) => without),
    );
  // 1 - 1/16; 1 - √2 / √32; 1 - 4/16.
  expect(bonus([right, right])).toBeCloseTo(15 / 16);
  expect(bonus([right, pad])).toBeCloseTo(1 - Math.sqrt(2) / Math.sqrt(32));
  expect(bonus([wrong, wrong])).toBeCloseTo(3 / 4);
});

test('scores come back by context and by sample, from one call', async () => {
  const asked: (readonly Sequence[])[] = [];
  const score = async (_set: string, sequences: readonly Sequence[]) => {
    asked.push(sequences);
    return sequences.map(({ prompt }) => Float32Array.from([prompt[0]!]));
  };
  const samples = [1, 2].map((token) => ({ prompt: [token], ids: [9] }));
  const scores = await scoreInContexts({ score }, samples, [({ prompt }) => prompt, (_, i) => [7 + i]]);
  expect(scores.map((rows) => rows.map((row) => row[0]))).toEqual([
    [1, 2],
    [7, 8],
  ]);
  expect(asked).toHaveLength(1);
});

/** Two right answers, the second padded with checks, a wrong one and none. */
function write(prompt: string, i: number): string {
  const task = prompt.slice('<solve>'.length, -'<sep>'.length);
  const steps = runningTotals(task)
    .map((total) => `<step>${total}`)
    .join('');
  const answer = runningTotals(task).at(-1)!;
  return [
    `${steps}<answer>${answer}<eos>`,
    `${steps}<ok><ok><answer>${answer}<eos>`,
    '<answer>77<eos>',
    'x<eos>',
  ][i]!;
}

/** With a question every token has probability 1/2, and with an empty one 1/4, but that the bonus of number 2 is 0. */
const EMPTY = '<solve><sep>';
const play = (more: WriteOptions = {}) => {
  const seen: string[] = [];
  const played = playWritten(sar, write, {
    tasks: 2,
    groupSize: 4,
    tools: {
      score: async (_set, sequences) =>
        sequences.map(({ prompt, ids }, i) => {
          seen.push(String(prompt.length));
          const unmoved = i % 4 === 2;
          const empty = prompt.length === 2;
          return new Float32Array(ids.length).fill(empty && !unmoved ? quarter : half);
        }),
    },
    ...more,
  });
  return { played, seen };
};
const advantages = async (more?: WriteOptions) => {
  const { plan } = await play(more).played;
  return (plan.updates[0]!.parts[0] as PolicyPart).items.map(({ advantage }) => advantage as number);
};

test('the bonus is a fifth of the alignment, beside 1 for an exact answer', async () => {
  const { groups, plan } = await play().played;
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0, 0]);
  // Rewards 1.1, 1.1, 0, .1: mean .575, deviation √((2 · .525² + .575² + .475²) / 3).
  const deviation = Math.sqrt((2 * 0.525 ** 2 + 0.575 ** 2 + 0.475 ** 2) / 3);
  const wanted = [0.525, 0.525, -0.575, -0.475].map((a) => expect.closeTo(a / deviation, 4));
  expect((plan.updates[0]!.parts[0] as PolicyPart).items.map(({ advantage }) => advantage)).toEqual([
    ...wanted,
    ...wanted,
  ]);
  expect(plan.figures).toEqual({ bonusRight: expect.closeTo(0.5), bonusWrong: expect.closeTo(0.25) });
});

test('each answer is scored after its question, and after none', async () => {
  const { played, seen } = play();
  const { groups } = await played;
  const own = groups.flatMap(({ samples }) => samples.map(({ prompt }) => String(prompt.length)));
  // The empty question has the two tags of a prompt alone.
  expect(EMPTY.match(/<\w+>/g)).toHaveLength(2);
  expect(seen).toEqual([...own, ...own.map(() => '2')]);
});

test('without the bonus nothing is scored; by length what is left of the limit is paid', async () => {
  const none = play({ variant: 'exact' });
  await none.played;
  expect(none.seen).toEqual([]);
  // 1, 1, 0, 0: mean 1/2, deviation 1/√3.
  expect((await advantages({ variant: 'exact' })).slice(0, 4)).toEqual(
    [1, 1, -1, -1].map((sign) => expect.closeTo((sign * Math.sqrt(3)) / 2, 4)),
  );
  const [short, padded] = await advantages({ variant: 'length' });
  expect(short).toBeGreaterThan(padded!);
  const { plan } = await play({ variant: 'length' }).played;
  const lengths = (plan.updates[0]!.parts[0] as PolicyPart).items.map(({ sample }) => sample.ids.length);
  const bonuses = [0, 1, 4, 5].map((i) => 1 - lengths[i]! / 64);
  expect(plan.figures!.bonusRight).toBeCloseTo(bonuses.reduce((a, b) => a + b) / 4);
});

test('shuffled: the question is that of the next task', async () => {
  const prompts: string[] = [];
  const { groups } = await playWritten(sar, write, {
    tasks: 2,
    groupSize: 4,
    variant: 'shuffled-question',
    tools: {
      score: async (_set, sequences) =>
        sequences.map(({ prompt, ids }) => {
          prompts.push(prompt.join());
          return new Float32Array(ids.length).fill(half);
        }),
    },
  });
  const [first, second] = groups.map(({ samples }) => samples[0]!.prompt.join());
  expect(prompts.slice(0, 8)).toEqual([...Array(4).fill(second), ...Array(4).fill(first)]);
});
