import { expect, test } from 'vitest';
import { wholeEpisodesOf } from '../../core/episodes/play-episodes.ts';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { playWritten } from '../../local/testing/index.ts';
import { rewardsToGo } from '../../protocols/episode-credit.ts';
import { seatItems } from '../../protocols/seat-credit.ts';
import { shipped } from '../../recipes/index.ts';
import { evaluateWritten } from './evaluate-written.ts';
import { groupOf, turnsOf } from './turns.ts';

const marsGames = shipped.find('mars-games');

const centred = (rewards: (number | null)[], groups: readonly unknown[]) =>
  rewards.map((reward, i) => {
    const alike = rewards.filter((_, j) => groups[j] === groups[i]) as number[];
    return reward! - alike.reduce((sum, value) => sum + value, 0) / alike.length;
  });

/** Two episodes of a deal. The guide has two turns and earns by each; the guesser has one. */
const group = groupOf('deal', 0, 'hint 0', [
  ...['a', 'b'].flatMap((episode, e) => {
    const guide = turnsOf(`${episode}/guide`, 'guide', 2, e ? 0 : 3).map((turn, t) => ({
      ...turn,
      rewards: { ...turn.rewards, turn: e ? 0 : [1, 2][t]! },
    }));
    return [
      ...guide,
      ...turnsOf(`${episode}/guesser`, 'guesser', 1, e ? 1 : 5).map((turn) => ({
        ...turn,
        rewards: { ...turn.rewards, turn: e ? 1 : 5 },
      })),
    ];
  }),
]);
const advantagesOf = (credit: Parameters<typeof seatItems>[2]) =>
  [...seatItems([group], ['guide', 'guesser'], credit, centred)].map(([role, items]) => [
    role,
    items.map(({ advantage }) => advantage),
  ]);

test('credit by turn and seat: rewards to go, compared with the turns of the same seat', () => {
  // To go: guide 3, 2 and 0, 0 (mean 5/4); guesser 5 and 1 (mean 3).
  expect(advantagesOf({ by: 'turn', compare: 'seat', within: 'deal' })).toEqual([
    ['guide', [1.75, 0.75, -1.25, -1.25]],
    ['guesser', [2, -2]],
  ]);
  // Discounted by a half: the guide's first turn is worth 1 + 2/2 = 2, so that the mean is 1.
  expect(advantagesOf({ by: 'turn', gamma: 0.5, compare: 'seat', within: 'deal' })).toEqual([
    ['guide', [1, 1, -1, -1]],
    ['guesser', [2, -2]],
  ]);
});

test('pooled: all turns of the deal have one mean; by episode: every turn has the return', () => {
  // 3, 2, 5, 0, 0, 1: mean 11/6.
  const pooled = advantagesOf({ by: 'turn', compare: 'pooled', within: 'deal' }) as [string, number[]][];
  expect(pooled[0]![1]).toEqual([3, 2, 0, 0].map((value) => expect.closeTo(value - 11 / 6, 12)));
  expect(pooled[1]![1]).toEqual([5, 1].map((value) => expect.closeTo(value - 11 / 6, 12)));
  expect(advantagesOf({ by: 'episode', compare: 'seat', within: 'deal' })).toEqual([
    ['guide', [1.5, 1.5, -1.5, -1.5]],
    ['guesser', [2, -2]],
  ]);
  // Returns 3, 5, 0, 1 of four seats: mean 9/4, however many turns each has.
  expect(advantagesOf({ by: 'episode', compare: 'pooled', within: 'game' })).toEqual([
    ['guide', [0.75, 0.75, -2.25, -2.25]],
    ['guesser', [2.75, -1.25]],
  ]);
});

test('a seat without a return is left out, and others keep theirs', () => {
  const missing = {
    ...group,
    samples: group.samples.map((sample) =>
      sample.role === 'guide' ? { ...sample, rewards: { reward: null } } : sample,
    ),
  };
  const items = seatItems(
    [missing],
    ['guide', 'guesser'],
    { by: 'turn', compare: 'seat', within: 'deal' },
    (rewards) => rewards,
  );
  expect([...items].map(([role, own]) => [role, own.length])).toEqual([
    ['guide', 0],
    ['guesser', 2],
  ]);
  expect(
    rewardsToGo([missing])[0]!
      .samples.filter(({ role }) => role === 'guide')
      .every(({ rewards }) => rewards.reward === null),
  ).toBe(true);
});

const play = (prompt: string, i: number) =>
  prompt.includes('hint')
    ? `<answer>${'rgbost'[i % 6]}<eos>`
    : prompt.includes('pick')
      ? `<answer>${1 + (i % 3)}<eos>`
      : `<answer>${i % 2 ? 'bet' : 'pass'}<eos>`;

test('it trains the four seats of two games, and evaluates a third', async () => {
  const { groups, plan } = await playWritten(marsGames, play, { tasks: 2, groupSize: 4 });
  expect(groups.map(({ task }) => task.split(' ')[0])).toEqual(['kuhn', 'hint']);
  for (const turns of wholeEpisodesOf(groups[1]!.samples)) {
    expect(turns.map(({ role }) => role)).toEqual([
      'guide',
      'guesser',
      'guide',
      'guesser',
      'guide',
      'guesser',
    ]);
    // What is paid for a pick is earned by the hint before it as well, and adds up to the return of each seat.
    for (const role of ['guide', 'guesser']) {
      const own = turns.filter((turn) => turn.role === role);
      const earned = own.reduce((sum, { rewards }) => sum + rewards.turn!, 0);
      expect(earned).toBe(own[0]!.rewards.reward);
    }
  }
  const roles = plan.updates.flatMap(({ parts }) => parts.map((part) => (part as PolicyPart).role));
  expect(roles).toEqual(['first', 'second', 'guide', 'guesser']);
  const { figures } = await evaluateWritten(marsGames, 2, play);
  expect(Object.keys(figures!).filter((name) => name.startsWith('score.'))).toEqual([
    'score.kuhn',
    'score.hint',
    'score.tic-tac-toe',
  ]);
});

test('variants: what a turn is credited with, and what it is compared with', async () => {
  const credited = async (variant?: string) => {
    const { groups, plan } = await playWritten(marsGames, play, {
      tasks: 2,
      groupSize: 4,
      ...(variant ? { variant } : {}),
    });
    const parts = plan.updates.flatMap((update) => update.parts) as PolicyPart[];
    return [groups, parts.map(({ role, items }) => [role, items.map(({ advantage }) => advantage)])] as const;
  };
  for (const [variant, credit] of [
    [undefined, { by: 'turn', compare: 'seat', within: 'deal' }],
    ['pooled', { by: 'turn', compare: 'pooled', within: 'deal' }],
    ['episode', { by: 'episode', compare: 'seat', within: 'deal' }],
    ['episode-pooled', { by: 'episode', compare: 'pooled', within: 'deal' }],
    ['discounted', { by: 'turn', gamma: 0.9, compare: 'seat', within: 'deal' }],
  ] as const) {
    const [groups, parts] = await credited(variant);
    const seats = ['first', 'second', 'guide', 'guesser'];
    const wanted = [...seatItems(groups, seats, credit, grpo)];
    expect([variant, parts]).toEqual([
      variant,
      wanted.map(([role, items]) => [role, items.map(({ advantage }) => advantage)]),
    ]);
  }
});
