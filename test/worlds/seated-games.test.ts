import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { wholeEpisodesOf } from '../../core/episodes/play-episodes.ts';
import type { SeatedGame } from '../../core/game/seated-game.ts';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { checkRecipe } from '../../core/recipe/check-recipe.ts';
import sticks from '../../examples/world/game.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { hintGame, tellingWords } from '../../worlds/games/hint.ts';
import { type Match, moveOn, openMatch, returnsOf, whyUnpaid } from '../../worlds/games/match.ts';
import { kuhnPoker, noughtsAndCrosses } from '../../worlds/games/seated.ts';
import { advisedSplit, bothAdvisedSplit, type SplitState, split } from '../../worlds/games/split.ts';
import {
  bestReturn,
  fewestSteps,
  type MeetBatch,
  meet,
  resetMeet,
  STEPS,
  stepMeet,
} from '../../worlds/grids/meet.ts';
import { defineGame, inGame, lackedInGame } from '../../worlds/own-game.ts';

const GAMES = [
  kuhnPoker,
  noughtsAndCrosses,
  hintGame,
  split,
  advisedSplit,
  bothAdvisedSplit,
  meet,
] as readonly SeatedGame[];

test.each(GAMES)('$name passes what is asked of anybody’s game', (game) => {
  expect(defineGame(game)).toBe(game);
});

/** Plays moves one after the other; a list moves at once. */
function play(game: SeatedGame, moves: readonly (string | readonly string[])[], state?: unknown): Match {
  let match = openMatch([game], `${game.name} 0`);
  if (state !== undefined)
    match = { ...match, state, readings: game.toMove(state).map((seat) => ({ seat, reads: '' })) };
  for (const move of moves) {
    const texts = typeof move === 'string' ? [move] : move;
    const bySeat = Object.fromEntries(match.readings.map(({ seat }, i) => [seat, `<answer>${texts[i]}`]));
    ({ match } = moveOn(match, bySeat));
  }
  return match;
}

test('a hint pays both for the right card, and one of the two words tells while the other does not', () => {
  const { rounds } = hintGame.deal(new Random('hint'));
  const moves = rounds.flatMap((round) => [tellingWords(round)[0]!, String(round.meant + 1)]);
  const state = hintGame.deal(new Random('hint'));
  const match = play(hintGame as SeatedGame, moves, state);
  expect(returnsOf(match)).toEqual({ guide: 3, guesser: 3 });
  expect([hintGame.score!(match.state as typeof state, 'guide'), match.readings]).toEqual([1, []]);
  for (const round of rounds) {
    const [word] = tellingWords(round);
    const other = [...round.cards[round.meant]!].find((one) => one !== word)!;
    expect(round.cards.filter((card) => card.includes(word!))).toHaveLength(1);
    expect(round.cards.filter((card) => card.includes(other)).length).toBeGreaterThan(1);
  }
  // What is no word costs both .1, and so does a pick that is no card.
  const wrong = play(hintGame as SeatedGame, ['blue', '4'], state);
  expect(returnsOf(wrong).guide).toBeCloseTo(-0.2, 12);
});

test('a split shrinks by a coin an offer, and no deal leaves the outside options', () => {
  const state: SplitState = { outside: [2, 3], offers: [], advice: null, got: null };
  // Keep 7 of 10 and be refused; keep 6 of 9; the actor takes the 3 that are left.
  const deal = play(split as SeatedGame, ['ask 7', 'ask 6', 'take'], state);
  expect(returnsOf(deal)).toEqual({ actor: 0.3, partner: 0.6 });
  expect(returnsOf(play(split as SeatedGame, ['ask 6', 'ask 6', 'ask 6', 'ask 6'], state))).toEqual({
    actor: 0.2,
    partner: 0.3,
  });
  // Nothing stands to be taken at first, and a coin must be left: both cost .1.
  expect(returnsOf(play(split as SeatedGame, ['take', 'ask 9', 'ask 7', 'ask 6'], state))).toEqual({
    actor: expect.closeTo(0.1, 12),
    partner: expect.closeTo(0.2, 12),
  });
  expect(split.view({ ...state, offers: [4] }, 'partner')).toBe('split 9 out 3 offer 4');
});

test('a strategist reads before its actor, whose view has the word, and is paid as the actor', () => {
  const state: SplitState = { outside: [2, 3], offers: [], advice: null, got: null };
  const begun = play(advisedSplit as SeatedGame, ['fair'], state);
  expect(begun.readings).toMatchObject([
    { seat: 'actor', reads: '<solve>split 10 out 2 offer none fair<sep>' },
  ]);
  const match = play(advisedSplit as SeatedGame, ['fair', 'ask 5', 'take'], state);
  expect(returnsOf(match)).toEqual({ strategist: 0.5, actor: 0.5, partner: 0.5 });
});

test('two agents are paid when both stand on the goals, and two who want one cell stay', () => {
  // Cells by rows of four: agents at 0 and 3, goals at 4 and 7.
  const world: MeetBatch = {
    at: Uint8Array.of(0, 3),
    goals: Uint8Array.of(4, 7),
    steps: new Uint8Array(1),
    over: new Uint8Array(1),
  };
  const match = play(
    meet as SeatedGame,
    [
      ['r', 'l'],
      ['r', 'l'],
      ['r', 'l'],
    ],
    world,
  );
  // 0→1→(2 and 2 are one cell, so both stay)→ again; nobody is at a goal.
  expect([...(match.state as MeetBatch).at]).toEqual([1, 2]);
  expect(returnsOf(match)['agent-1']).toBeCloseTo(-0.15, 12);
  const there = play(meet as SeatedGame, [['d', 'd']], world);
  expect(returnsOf(there)).toEqual({ 'agent-1': 0.95, 'agent-2': 0.95 });
  expect([fewestSteps(world), bestReturn(world)]).toEqual([1, 0.95]);
  // Neighbours that want each other's cells stay: the goals are theirs the other way round, and each is on one already.
  const neighbours = { ...world, at: Uint8Array.of(0, 1), goals: Uint8Array.of(2, 3) };
  // The second goes 1 → 2 → 3 while the first goes 0 → 1 → 2.
  expect(fewestSteps(neighbours)).toBe(2);
  expect(meet.view(world, 'agent-2')).toBe('o..p\ng..g\n....\n....');
});

test('a batch of worlds comes to the same as each alone, by the byte', () => {
  const seeds = Array.from({ length: 64 }, (_, i) => String(i));
  const random = new Random('batch');
  const moves = Array.from({ length: STEPS + 2 }, () =>
    Uint8Array.from({ length: 2 * seeds.length }, () => random.int(6)),
  );
  const batch = resetMeet(seeds);
  const alone = seeds.map((seed) => resetMeet([seed]));
  for (const step of moves) {
    const rewards = new Float64Array(2 * seeds.length);
    stepMeet(batch, step, rewards);
    for (const [b, world] of alone.entries()) {
      const own = new Float64Array(2);
      stepMeet(world, step.subarray(2 * b, 2 * b + 2), own);
      expect([...rewards.subarray(2 * b, 2 * b + 2)]).toEqual([...own]);
      expect([...batch.at.subarray(2 * b, 2 * b + 2), batch.over[b], batch.steps[b]]).toEqual([
        ...world.at,
        world.over[0],
        world.steps[0],
      ]);
    }
  }
  expect(batch.over.every((over) => over > 0)).toBe(true);
});

/** A game of three moves for two seats, as somebody's own. */
const own: SeatedGame<number> = {
  name: 'own',
  seats: ['buyer', 'seller'],
  maxTurns: 3,
  maxNew: 8,
  deal: () => 0,
  toMove: (turn) => (turn === 3 ? [] : [turn % 2 ? 'seller' : 'buyer']),
  view: (turn) => `Move ${turn}`,
  move: (turn) => ({ state: turn + 1, ...(turn === 2 ? { rewards: { buyer: 1, seller: -1 } } : {}) }),
};

test.each<[string, Partial<SeatedGame<number>>, string, RegExp]>([
  [
    'names a seat that nobody holds',
    { toMove: () => ['banker'] },
    'game.to-move',
    /"banker", which nobody holds.*buyer, seller/,
  ],
  [
    'lets a seat move twice at once',
    { toMove: () => ['buyer', 'buyer'] },
    'game.to-move',
    /names a seat twice/,
  ],
  [
    'never ends',
    { toMove: () => ['buyer'] },
    'game.endless',
    /not over after 3 moves.*could delay it for ever/,
  ],
  [
    'pays one seat alone',
    { move: (turn) => ({ state: turn + 1, rewards: { buyer: 1 } }) },
    'game.rewards',
    /leaves out seller/,
  ],
  [
    'pays somebody else',
    { move: (turn) => ({ state: turn + 1, rewards: { banker: 1 } }) },
    'game.move',
    /pays the seat "banker"/,
  ],
  [
    'pays what is no number',
    { move: (turn) => ({ state: turn + 1, rewards: { buyer: Number.NaN, seller: 0 } }) },
    'game.move',
    /pays buyer null/,
  ],
  ['shows nothing', { view: () => ' ' }, 'game.view', /returns " " for buyer/],
  [
    'throws',
    {
      move: () => {
        throw new Error('no such card');
      },
    },
    'game.move',
    /throws: no such card/,
  ],
  [
    'has chance of its own',
    { view: () => String(Math.random()) },
    'game.chance',
    /came to something else when played again/,
  ],
  ['has no seats', { seats: [] }, 'game.invalid', /seats/],
  ['scores beyond 1', { score: () => 2 }, 'game.score', /returns 2 for buyer/],
])('a game that %s is refused by name', (_, change, code, message) => {
  const game = { ...own, ...change };
  expect(() => defineGame(game)).toThrow(message);
  expect(() => defineGame(game)).toThrow(expect.objectContaining({ code, kind: 'wrong-input' }));
});

test('rules that break while they are played end the match as missing data, and keep what was written', () => {
  let broken = play(
    { ...own, toMove: (turn: number) => (turn === 2 ? ['banker'] : own.toMove(turn)) } as SeatedGame,
    ['a', 'b'],
  );
  expect([broken.turns, whyUnpaid(broken), broken.fault?.code]).toEqual([2, 'broken-rules', 'game.to-move']);
  broken = play(
    {
      ...own,
      move: () => {
        throw new Error('x');
      },
    } as SeatedGame,
    ['a'],
  );
  expect([broken.readings, whyUnpaid(broken)]).toEqual([[], 'broken-rules']);
  expect(whyUnpaid(play(own as SeatedGame, ['a']))).toBe('unended');
  const unpaid = play(
    { ...own, move: (turn: number) => ({ state: turn + 1, rewards: { buyer: 1 } }) } as SeatedGame,
    ['a', 'b', 'c'],
  );
  expect([whyUnpaid(unpaid), returnsOf(unpaid)]).toEqual([null, { buyer: 3, seller: null }]);
});

test('the game of docs/games.md is that of the template, and has at most 60 lines', () => {
  const text = readFileSync('examples/world/game.ts', 'utf8');
  expect(readFileSync('docs/games.md', 'utf8')).toContain(`\`\`\`ts\n${text}\`\`\``);
  expect(text.trim().split('\n').length).toBeLessThanOrEqual(60);
});

test('recipes play a game of somebody’s own under a name of its own, from the start that it names', async () => {
  const recipe = inGame(shipped.find('spiral'), sticks as SeatedGame);
  expect([recipe.name, recipe.startPolicy, Object.keys(recipe.roles)]).toEqual([
    'spiral-in-sticks',
    'arithmetic-base',
    ['opener', 'replier', 'opponent'],
  ]);
  expect(() => checkRecipe(recipe, 'it')).not.toThrow();
  expect(lackedInGame(shipped.find('mars-games'))).toEqual([]);
  expect(lackedInGame(shipped.find('trio'))).toBeNull();
  expect(() => inGame(shipped.find('trio'), sticks as SeatedGame)).toThrow(
    /Recipe trio plays no game of somebody/,
  );
});

test('in a round, an episode whose rules break or whose limit comes first has missing rewards, and the others are trained on', async () => {
  /** Breaks where the buyer writes `break`, and goes on for ever where it writes `on`. */
  const fragile: SeatedGame<number> = {
    ...own,
    name: 'fragile',
    tags: true,
    toMove: (turn) => (turn < 0 ? ['buyer'] : own.toMove(turn)),
    move: (turn, { buyer = '' }) => {
      if (buyer.includes('break')) throw new Error('no such card');
      return buyer.includes('on') || turn < 0 ? { state: -1 } : own.move(turn, {});
    },
  };
  const recipe = { ...inGame(shipped.find('spiral'), fragile as SeatedGame), stop: '<eos>' };
  const writes = ['break', 'on', 'fair', 'fair'];
  const { groups, plan } = await playWritten(
    recipe,
    (prompt, i) =>
      `<answer>${prompt.includes('Move 0') ? writes[i % 4] : prompt.includes('Move -1') ? 'on' : 'fair'}<eos>`,
    { tasks: 1, groupSize: 4, policy: 'anybody' },
  );
  const ofEpisode = wholeEpisodesOf(groups[0]!.samples).map((turns) =>
    turns.map(({ role, rewards, missing }) => [role, rewards.reward, missing?.reward]),
  );
  expect(ofEpisode[0]).toEqual([['buyer', null, 'broken-rules']]);
  expect(ofEpisode[1]!.every(([, reward, why]) => reward === null && why === 'unended')).toBe(true);
  expect(ofEpisode[2]).toEqual([
    ['buyer', 1, undefined],
    ['seller', -1, undefined],
    ['buyer', 1, undefined],
  ]);
  const trained = plan.updates.flatMap(({ parts }) => parts.map((part) => (part as PolicyPart).items.length));
  // Two whole episodes: two turns of the buyer and one of the seller in each.
  expect(trained).toEqual([4, 2]);
});
