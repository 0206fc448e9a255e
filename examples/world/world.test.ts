/** What the world calls right and how it reads, and a round of a recipe in it with the real policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inGame, inWorld } from 'rollmesh';
import { shipped } from 'rollmesh/recipes';
import { playRounds } from 'rollmesh/testing';
import game from './game.ts';
import world from './world.ts';

test('the sum is right, and no other number', () => {
  assert.equal(world.isRight('3+4-9+2', '0'), true);
  assert.equal(world.isRight('3+4-9+2', '1'), false);
});

test('an answer is read from the end of the text alone', () => {
  const read = (text: string) => world.words.solve.read(text, { task: '3+4-9+2' });
  assert.deepEqual(read('<step>7<step>-2<answer>0'), {
    ok: true,
    value: { steps: ['7', '-2', '0'], answer: '0' },
  });
  assert.equal(read('0').ok, false);
});

test('a round of dapo is played and evaluated', async () => {
  const dapo = inWorld(shipped.find('dapo'), world);
  const { lines, summary } = await playRounds(dapo, { tasks: 2, groupSize: 4 });
  assert.equal(lines[0]!.groups.failed, 0);
  assert.deepEqual(
    summary.heldout.map(({ round, n }) => [round, n]),
    [
      [0, 100],
      [1, 100],
    ],
  );
});

test('a round of self-play in the game is played', async () => {
  const spiral = inGame(shipped.find('spiral'), game);
  const { lines } = await playRounds(spiral, { tasks: 2, groupSize: 2 });
  assert.equal(lines[0]!.groups.failed, 0);
});
