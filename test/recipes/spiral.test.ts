import { expect, test } from 'vitest';
import { wholeEpisodesOf } from '../../core/episodes/play-episodes.ts';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { evaluateWritten } from './evaluate-written.ts';

const spiral = shipped.find('spiral');

const isBoard = (prompt: string) => prompt.includes('you');
/** Bets in poker, and puts its mark into the first empty cell. */
const play = (prompt: string) => {
  if (!isBoard(prompt)) return '<answer>bet<eos>';
  const board = prompt.replace(/<solve>|you.*$/gs, '').replaceAll('\n', '');
  return `<answer>${board.indexOf('.') + 1}<eos>`;
};

test('each seat is paid what it wins, by the turn and in all, and has its own baseline in each game', async () => {
  const { groups, plan } = await playWritten(spiral, play, {
    tasks: 2,
    groupSize: 2,
    recipeState: { baselines: { 'kuhn/first': 1 } },
  });
  const [poker, board] = groups as [(typeof groups)[0], (typeof groups)[0]];
  // Bet and call: one move each, for two antes.
  const hands = wholeEpisodesOf(poker.samples);
  expect(hands.map((turns) => turns.map(({ role }) => role))).toEqual([
    ['first', 'second'],
    ['first', 'second'],
  ]);
  const [first, second] = hands[0]!.map(({ rewards }) => rewards.reward!) as [number, number];
  expect([Math.abs(first), first + second]).toEqual([2, 0]);
  // Cells 1 to 7 in order: x has 1 3 5 7, the diagonal 3 5 7, and wins by its fourth move.
  const game = wholeEpisodesOf(board.samples)[0]!;
  expect(game.map(({ role }) => role)).toEqual([
    'first',
    'second',
    'first',
    'second',
    'first',
    'second',
    'first',
  ]);
  expect(game.map(({ rewards }) => rewards.reward)).toEqual([1, -1, 1, -1, 1, -1, 1]);
  // The loser is paid by the move after its last one.
  expect(game.map(({ rewards }) => rewards.turn)).toEqual([0, 0, 0, 0, 0, -1, 1]);

  const parts = plan.updates.flatMap((update) => update.parts) as PolicyPart[];
  expect(plan.updates.map(({ set }) => set)).toEqual(['main']);
  expect(parts.map(({ role, objective }) => [role, objective.kind])).toEqual([
    ['first', 'reinforce'],
    ['second', 'reinforce'],
  ]);
  // RAE by hand, the two hands in order: A = R − b, then b ← .95 b + .05 R.
  const bFirst = 0.95 * 1 + 0.05 * first;
  const bSecond = 0.05 * second;
  const credit = (part: PolicyPart, episodes: readonly (typeof game)[]) =>
    episodes.map((turns) => {
      const own = part.items.filter(({ sample }) => turns.some(({ id }) => id === sample.id));
      return own.map(({ advantage }) => advantage as number);
    });
  const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 12));
  expect(credit(parts[0]!, hands)).toEqual([near([first - 1]), near([first - bFirst])]);
  expect(credit(parts[1]!, hands)).toEqual([near([second]), near([second - bSecond])]);
  // In the other game the baselines begin at 0, and all moves of a seat have one advantage.
  expect(credit(parts[0]!, [game])).toEqual([near([1, 1, 1, 1])]);
  expect(credit(parts[1]!, [game])).toEqual([near([-1, -1, -1])]);
  expect(plan.recipeState).toEqual({
    baselines: {
      'kuhn/first': expect.closeTo(0.95 * bFirst + 0.05 * first, 12),
      'kuhn/second': expect.closeTo(0.95 * bSecond + 0.05 * second, 12),
      'tic-tac-toe/first': expect.closeTo(0.95 * 0.05 + 0.05, 12),
      'tic-tac-toe/second': expect.closeTo(-0.95 * 0.05 - 0.05, 12),
    },
  });
});

test('without baselines the return itself is the advantage', async () => {
  const { plan } = await playWritten(spiral, play, { tasks: 2, groupSize: 2, variant: 'no-rae' });
  for (const { items } of plan.updates[0]!.parts as PolicyPart[])
    for (const { sample, advantage } of items) expect(advantage).toBe(sample.rewards.reward);
});

test('against a fixed opponent the learner holds one seat after the other, and trains its own moves alone', async () => {
  const { groups, plan, round } = await playWritten(spiral, play, {
    tasks: 2,
    groupSize: 2,
    index: 4,
    variant: 'fixed-opponent',
  });
  expect(wholeEpisodesOf(groups[0]!.samples).map((turns) => turns.map(({ role }) => role))).toEqual([
    ['first', 'opponent'],
    ['opponent', 'second'],
  ]);
  expect([round.roles['opponent']!.version, round.roles['first']!.version]).toEqual([0, 3]);
  const parts = plan.updates[0]!.parts as PolicyPart[];
  expect(parts.map(({ role }) => role)).toEqual(['first', 'second']);
  // Both learn from 1 of 2 hands, and of the boards the first from 4 moves and the second from 3.
  expect(parts.map(({ items }) => items.length)).toEqual([5, 4]);
});

test('a move that is refused costs .1, and the third one the game', async () => {
  const { groups } = await playWritten(spiral, (prompt) => (isBoard(prompt) ? play(prompt) : 'I fold<eos>'), {
    tasks: 1,
    groupSize: 2,
  });
  const [turns] = wholeEpisodesOf(groups[0]!.samples);
  expect(turns!.map(({ role, outcome }) => [role, outcome])).toEqual([
    ['first', 'off-grammar'],
    ['first', 'off-grammar'],
    ['first', 'off-grammar'],
  ]);
  for (const { rewards } of turns!) expect(rewards.reward).toBeCloseTo(-2.2, 12);
  expect(turns!.map(({ rewards }) => rewards.turn)).toEqual([-0.1, -0.1, -2]);
});

test('the controls know nothing of who wins', async () => {
  const paid = async (rewardFunction: string) => {
    const { groups } = await playWritten(spiral, play, { tasks: 1, groupSize: 4, rewardFunction });
    return groups[0]!.samples.map(({ rewards }) => rewards.reward);
  };
  expect(await paid('format')).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  const coins = await paid('random');
  for (const coin of coins) expect([0, 1]).toContain(coin);
});

test('both seats are played on held-out deals against version 0, and exploitability is exact', async () => {
  const { heldOut, figures, tallies } = await evaluateWritten(spiral, 3, play);
  expect(heldOut.n).toBe(12);
  // The same player on both sides: of each deal one seat wins and the other loses.
  expect(heldOut.accuracy).toBe(0.5);
  expect(tallies!.accuracy!.points).toMatch(/^[0u]+$/);
  expect(figures).toMatchObject({
    'score.kuhn': 0.5,
    'score.tic-tac-toe': 0.5,
    'turns.kuhn': 2,
    'turns.tic-tac-toe': 7,
  });
  // Every token has the same probability in this test, so `bet` (3 letters) is 1000 times as likely as `pass` (4). Against a
  // player who always bets and always calls: the best answer to it bets the king and folds the jack, and calls with a queen or not.
  // As first: pass jack, lose 1; king bet, win 2; queen is even: (2 − 1)/3. As second: fold the jack, call with the king: (2 − 1)/3.
  expect(figures!['exploitability']).toBeCloseTo(1 / 3, 2);
});
