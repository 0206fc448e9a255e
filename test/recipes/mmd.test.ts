import { expect, test } from 'vitest';
import { wholeEpisodesOf } from '../../core/episodes/play-episodes.ts';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { noughtsAndCrosses } from '../../worlds/games/seated.ts';
import { inGame } from '../../worlds/own-game.ts';
import { evaluateWritten } from './evaluate-written.ts';

const mmd = shipped.find('mmd');

/** The first player bets and passes in turn; the second does what the first did. */
const play = (prompt: string, i: number) => {
  const bets = /[jqk] b/.test(prompt) || (!/[jqk] p/.test(prompt) && i % 2 === 0);
  return `<answer>${bets ? 'bet' : 'pass'}<eos>`;
};
const played = (variant?: string, index = 1) =>
  playWritten(mmd, play, { tasks: 1, groupSize: 2, index, ...(variant ? { variant } : {}) });
const parts = ({ plan }: Awaited<ReturnType<typeof played>>) => plan.updates[0]!.parts as PolicyPart[];

test('each seat is compared with itself in the other episodes of the deal', async () => {
  const round = await played();
  const episodes = wholeEpisodesOf(round.groups[0]!.samples);
  // Bet and call for two antes, then pass and pass for one: 2 or 1 to whoever holds the higher card.
  const [called, checked] = episodes.map(([first]) => first!.rewards.reward!) as [number, number];
  expect([Math.abs(called), called / checked]).toEqual([2, 2]);
  const advantages = parts(round).map(({ role, items }) => [role, items.map(({ advantage }) => advantage)]);
  expect(advantages).toEqual([
    ['first', [called / 4, -called / 4]],
    ['second', [-called / 4, called / 4]],
  ]);
});

test('without a baseline the return itself is the advantage', async () => {
  for (const { items } of parts(await played('no-baseline')))
    for (const { sample, advantage } of items) expect(advantage).toBe(sample.rewards.reward);
});

test('the magnet is version 0 for forty versions, then version 40', async () => {
  for (const [index, version] of [
    [1, 0],
    [40, 0],
    [41, 40],
    [80, 40],
    [121, 120],
  ] as const) {
    const round = await played(undefined, index);
    expect(round.plan.figures).toMatchObject({ magnet: version });
    for (const { kl, objective } of parts(round)) {
      expect(objective).toEqual({ kind: 'reinforce' });
      expect(kl).toEqual({ weight: 0.4, estimator: 'k2', reference: { set: 'main', version } });
    }
  }
  const plain = await played('no-magnet', 41);
  expect(plain.plan.figures).not.toHaveProperty('magnet');
  for (const part of parts(plain)) expect(part).not.toHaveProperty('kl');
});

test('against a fixed opponent the learner holds one seat after the other, and version 0 the other', async () => {
  const round = await played('fixed-opponent', 4);
  expect(wholeEpisodesOf(round.groups[0]!.samples).map((turns) => turns.map(({ role }) => role))).toEqual([
    ['first', 'opponent'],
    ['opponent', 'second'],
  ]);
  expect([round.round.roles['opponent']!.version, round.round.roles['second']!.version]).toEqual([0, 3]);
  expect(parts(round).map(({ role, items }) => [role, items.length])).toEqual([
    ['first', 1],
    ['second', 1],
  ]);
});

test('exploitability is measured in poker, and in a game of one’s own it is not', async () => {
  const { figures } = await evaluateWritten(mmd, 3, play);
  // As in the test of spiral: `bet` is 1000 times as likely as `pass` here, and whoever always bets and calls loses a third of an ante.
  expect(figures!['exploitability']).toBeCloseTo(1 / 3, 2);
  const elsewhere = inGame(mmd, noughtsAndCrosses);
  expect(elsewhere.name).toBe('mmd-in-tic-tac-toe');
  const { figures: own } = await evaluateWritten(elsewhere, 3, (prompt) => {
    const board = prompt.replace(/<solve>|you.*$/gs, '').replaceAll('\n', '');
    return `<answer>${board.indexOf('.') + 1}<eos>`;
  });
  expect(own).toMatchObject({ 'score.tic-tac-toe': 0.5 });
  expect(own).not.toHaveProperty('exploitability');
});
