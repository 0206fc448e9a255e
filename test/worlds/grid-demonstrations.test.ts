import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { isHeldOutKey } from '../../core/recipe/split.ts';
import { parseActions } from '../../worlds/environment.ts';
import { demonstrateGrid } from '../../worlds/grids/demonstrations.ts';
import { gridOutcome, openGrid } from '../../worlds/grids/play.ts';

const random = new Random('grid-demonstrations');
const demonstrations = Array.from({ length: 400 }, () => demonstrateGrid(random));
const tokens = (text: string) => text.replace(/<[a-z]+>/g, '#').length;

test('every turn keeps to the grammar and fits the context with all before it', () => {
  for (const { role, prompt, completion } of demonstrations) {
    expect(role).toBe('agent');
    expect(parseActions(completion).ok, completion).toBe(true);
    expect(tokens(prompt) + tokens(completion)).toBeLessThanOrEqual(256);
    expect(prompt).toMatch(/^<solve>[.owgptbqx\n]+<sep>(<answer>[urdl ]+<eos>[.owgptbqx\n]+<sep>){0,4}$/);
  }
});

test('each observation follows from the one before it by the moves between them', () => {
  const two = demonstrations.filter(
    ({ prompt }) => prompt.split('<answer>').length === 2 && !prompt.includes('b'),
  );
  expect(two.length).toBeGreaterThan(10);
  for (const { prompt } of two) {
    const [, before = '', moves = '', after = ''] = /^<solve>(.*?)<sep><answer>(.*?)<eos>(.*)<sep>$/s.exec(
      prompt,
    )!;
    let [row, column] = [before.indexOf('p') / 5, before.indexOf('p') % 5].map(Math.floor) as [
      number,
      number,
    ];
    for (const move of moves.split(' ')) {
      if (move === 'u') row = Math.max(0, row - 1);
      if (move === 'd') row = Math.min(3, row + 1);
      if (move === 'l') column = Math.max(0, column - 1);
      if (move === 'r') column = Math.min(3, column + 1);
    }
    expect(after.indexOf('p')).toBe(5 * row + column);
  }
});

test('no lake is held out', () => {
  for (const { prompt } of demonstrations) {
    const board = /^<solve>(.*?)<sep>/s.exec(prompt)![1]!.replaceAll('\n', '');
    if (board.length === 16) expect(isHeldOutKey('lake', board.replace('p', '.'))).toBe(false);
  }
});

test('an episode comes to the sum of its rewards', () => {
  const game = openGrid('lake a1');
  // Three refused actions, one a turn, and one turn outside the grammar.
  expect(gridOutcome(game, ['<answer>x<eos>', '<answer>x x<eos>', 'up'])).toEqual({
    total: expect.closeTo(-0.4, 12),
    success: false,
    wellFormed: 2,
    turns: 3,
    actions: 4,
  });
  expect(() => openGrid('sea 1')).toThrow(/names no grid world/);
});
