/** What the world calls right and how it reads, and a round of a recipe in it with the real policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inWorld } from 'rollmesh';
import { shipped } from 'rollmesh/recipes';
import { playRounds } from 'rollmesh/testing';
import world from './world.ts';

test('the product is right, and no other number', () => {
  assert.equal(world.isRight('12 * 3', '36'), true);
  assert.equal(world.isRight('12 * 3', '37'), false);
});

test('an answer is read from its tags alone', () => {
  const read = (text: string) => world.words.solve.read(text, { task: '12 * 3' });
  assert.deepEqual(read('12 * 3 is <answer>36</answer>'), {
    ok: true,
    value: { steps: ['12 * 3 is <answer>36</answer>'], answer: '36' },
  });
  assert.equal(read('36').ok, false);
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
