import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Environment,
  ILLEGAL_REWARD,
  parseActions,
  playTurn,
  type Situation,
} from '../../worlds/environment.ts';
import { kuhn } from '../../worlds/games/kuhn.ts';
import {
  bestResponseValue,
  exploitability,
  kuhnEquilibrium,
  kuhnValue,
} from '../../worlds/games/kuhn-strategy.ts';
import { bestMoves, minimax, ticTacToe, winnerOf } from '../../worlds/games/tic-tac-toe.ts';
import { lake } from '../../worlds/grids/lake.ts';
import { boxPush } from '../../worlds/grids/push.ts';
import { anyText } from './any-text.ts';

function play<State>(
  environment: Environment<State>,
  actions: readonly string[],
  seed = 'game',
): Situation<State> {
  let now = environment.reset(seed);
  for (const action of actions) now = environment.step(now.state, action);
  return now;
}

/** Plays arbitrary actions and checks what every environment promises. */
function checkEpisode<State>(
  environment: Environment<State>,
  seed: string,
  choices: readonly (number | string)[],
) {
  let now = environment.reset(seed);
  expect(environment.reset(seed)).toEqual(now);
  let turns = 0;
  for (const choice of choices) {
    if (now.done) break;
    expect(now.actions.length).toBeGreaterThan(0);
    const action = typeof choice === 'string' ? choice : now.actions[choice % now.actions.length]!;
    const wasLegal = now.actions.includes(action);
    const mover = now.player;
    const next = environment.step(now.state, action);
    expect(environment.step(now.state, action)).toEqual(next);
    expect(next.legal).toBe(wasLegal);
    expect(next.rewards).toHaveLength(environment.players);
    if (!wasLegal) {
      expect(next.rewards[mover]).toBeLessThanOrEqual(ILLEGAL_REWARD);
      if (!next.done) expect(next).toMatchObject({ observation: now.observation, player: mover });
    }
    now = next;
    turns++;
  }
  expect(turns).toBeLessThanOrEqual(environment.maxTurns);
  if (choices.length >= environment.maxTurns) expect(now.done).toBe(true);
  if (!now.done) return;
  expect(now.actions).toEqual([]);
  const after = environment.step(now.state, 'u');
  expect(after).toMatchObject({ observation: now.observation, done: true, legal: false });
  expect(after.rewards.every((reward) => reward === 0)).toBe(true);
}

const choices = fc.array(fc.oneof({ weight: 4, arbitrary: fc.nat(20) }, anyText), { maxLength: 20 });
test.each<[string, (seed: string, choices: (number | string)[]) => void]>([
  ['tic-tac-toe', (seed, all) => checkEpisode(ticTacToe, seed, all)],
  ['kuhn', (seed, all) => checkEpisode(kuhn, seed, all)],
  ['lake', (seed, all) => checkEpisode(lake({ slip: 0.5 }), seed, all)],
  ['push', (seed, all) => checkEpisode(boxPush(), seed, all)],
])('%s: any actions end in time, refused ones change nothing but cost', (_, check) => {
  fc.assert(
    fc.property(fc.nat(30), choices, (seed, all) => check(String(seed), all)),
    { numRuns: 60 },
  );
});

test('a turn is read strictly', () => {
  expect(parseActions('<answer>u<eos>')).toEqual({ ok: true, value: ['u'] });
  expect(parseActions('<step>go up<answer>u l<eos>')).toEqual({ ok: true, value: ['u', 'l'] });
  expect(parseActions('<answer>u u u u u u<eos>')).toEqual({ ok: false, reason: 'too-many-actions' });
  for (const bad of [
    'u<eos>',
    '<answer>u',
    '<answer> u<eos>',
    '<answer>u  l<eos>',
    '<answer><eos>',
    '<answer>U<eos>',
  ])
    expect(parseActions(bad).ok, bad).toBe(false);
  fc.assert(fc.property(anyText, (text) => typeof parseActions(text).ok === 'boolean'));
});

test('a turn of several actions adds up, and stops when it is another player’s move', () => {
  const start = ticTacToe.reset('turn');
  const after = playTurn(ticTacToe, start, '<answer>5 1<eos>');
  expect(after.state.cells).toBe('....x....');
  expect(playTurn(ticTacToe, start, 'nonsense')).toMatchObject({
    rewards: [ILLEGAL_REWARD, 0],
    legal: false,
    player: 0,
  });
});

/** Plain negamax over arrays, without memory: a second opinion. */
function negamax(board: number[], mover: 1 | -1): number {
  const lines = [0, 3, 6]
    .map((i) => [i, i + 1, i + 2])
    .concat(
      [0, 1, 2].map((i) => [i, i + 3, i + 6]),
      [
        [0, 4, 8],
        [2, 4, 6],
      ],
    );
  if (lines.some((line) => line.every((i) => board[i] === -mover))) return -1;
  if (!board.includes(0)) return 0;
  let best = -1;
  for (let i = 0; i < 9; i++) {
    if (board[i] !== 0) continue;
    const next = [...board];
    next[i] = mover;
    best = Math.max(best, 0 - negamax(next, mover === 1 ? -1 : 1));
  }
  return best;
}

test('tic-tac-toe is a draw, and minimax agrees with a second search after any three moves', () => {
  expect(minimax('.........')).toBe(0);
  expect(bestMoves('.........')).toHaveLength(9);
  // Against a corner only the centre holds the draw.
  expect(bestMoves('x........')).toEqual(['5']);
  // x wins at once by completing the top row; o must stop it, and cannot stop two.
  expect(bestMoves('xx.oo....')).toEqual(['3']);
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8], { minLength: 3, maxLength: 9 }), (moves) => {
      const board = new Array<number>(9).fill(0);
      let situation = ticTacToe.reset('walk');
      for (const [i, at] of moves.entries()) {
        if (situation.done) break;
        board[at] = i % 2 === 0 ? 1 : -1;
        situation = ticTacToe.step(situation.state, String(at + 1));
      }
      const mover = situation.player === 0 ? 1 : -1;
      expect(minimax(situation.state.cells)).toBe(negamax(board, mover));
    }),
    { numRuns: 40 },
  );
});

test('tic-tac-toe: wins pay, stalling loses', () => {
  expect(play(ticTacToe, ['1', '4', '2', '5', '3'])).toMatchObject({ rewards: [1, -1], done: true });
  expect(play(ticTacToe, ['1', '1']).rewards).toEqual([0, ILLEGAL_REWARD]);
  expect(play(ticTacToe, ['1', '1', 'x', ''])).toMatchObject({ rewards: [1, -1], done: true });
  expect(winnerOf('x.o.xo..x')).toBe(0);
  expect(play(ticTacToe, []).observation).toBe('...\n...\n...\nyou x');
});

test.each([
  [['pass', 'pass'], 1],
  [['bet', 'bet'], 2],
  [['bet', 'pass'], 1],
  [['pass', 'bet', 'bet'], 2],
  [['pass', 'bet', 'pass'], -1],
] as const)('kuhn: %j is worth %d to a first player with the higher card', (moves, worth) => {
  const seed = Array.from({ length: 50 }, (_, i) => String(i)).find((id) => {
    const [first, second] = kuhn.reset(id).state.cards;
    return first > second;
  })!;
  expect(play(kuhn, moves, seed)).toMatchObject({ rewards: [worth, -worth], done: true });
});

test('kuhn: a player sees the own card alone, and all six deals come', () => {
  const deals = new Set<string>();
  for (let i = 0; i < 80; i++) {
    const start = kuhn.reset(String(i));
    const [first, second] = start.state.cards;
    deals.add(`${first}${second}`);
    expect(start.observation).toBe('-jqk'[first]);
    expect(kuhn.step(start.state, 'bet').observation).toBe(`${'-jqk'[second]} b`);
  }
  expect(deals.size).toBe(6);
});

test('kuhn: the known equilibria are worth -1/18 and cannot be exploited', () => {
  for (const bluff of [0, 0.1, 1 / 3]) {
    const strategy = kuhnEquilibrium(bluff);
    expect(kuhnValue(strategy, strategy)).toBeCloseTo(-1 / 18, 12);
    expect(exploitability(strategy)).toBeCloseTo(0, 12);
  }
});

test('kuhn: hand-worked strategies', () => {
  // Both always check: the higher card wins one, half of the time each.
  expect(kuhnValue({}, {})).toBe(0);
  // Who always bets against who always folds wins the ante.
  const bets = { j: 1, q: 1, k: 1, 'j p': 1, 'q p': 1, 'k p': 1, 'j b': 1, 'q b': 1, 'k b': 1 };
  expect(kuhnValue(bets, {})).toBe(1);
  expect(bestResponseValue(0, {})).toBe(1);
  // Against a caller of everything, bet the king (+2) always, check the jack (-1 to a checker; he bets: fold -1), and the queen breaks even.
  expect(bestResponseValue(0, bets)).toBeCloseTo((2 + 0 - 1) / 3, 12);
  expect(exploitability({})).toBeGreaterThan(0.5);
});
