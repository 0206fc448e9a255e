/** What the recipe pays and teaches, by words that the test writes; and a round of it with the real policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRounds, playWritten } from 'rollmesh/testing';
import recipe from './recipe.ts';

/** The sum of a chain such as <solve>3+4-9+2<sep>. */
const sumOf = (prompt: string) =>
  (prompt.match(/[+-]?\d/g) ?? []).reduce((total, number) => total + Number(number), 0);

test('an exact answer earns more than a wrong one, and the median gets no advantage', async () => {
  const words = (prompt: string, i: number) => `<answer>${i === 0 ? sumOf(prompt) : 99}<eos>`;
  const { groups, plan } = await playWritten(recipe, words, { tasks: 1, groupSize: 3 });
  const rewards = groups[0]!.samples.map((sample) => sample.rewards.reward!);
  assert.ok(rewards[0]! > 0.9 && rewards[0]! < 1);
  assert.ok(rewards[1]! < 0 && rewards[2]! < 0);
  const part = plan.updates[0]!.parts[0]!;
  assert.ok(part.kind === 'policy');
  assert.deepEqual(
    part.items.map(({ advantage }) => advantage),
    rewards.map((reward) => reward - rewards[1]!),
  );
});

test('a round with the start policy is trained and evaluated', async () => {
  const { summary, lines } = await playRounds(recipe, { tasks: 4, groupSize: 4 });
  assert.equal(lines[0]!.groups.trained, 4);
  assert.deepEqual(
    summary.heldout.map(({ round, n }) => [round, n]),
    [
      [0, 100],
      [1, 100],
    ],
  );
});
