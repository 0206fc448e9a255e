import { expect, test } from 'vitest';
import { episodesOf, playEpisodes } from '../../core/episodes/play-episodes.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { roundOf } from '../../core/schema/round.ts';
import { ragen } from '../../recipes/ragen/recipe.ts';
import { scriptedPolicy, textTokenizer } from '../protocols/scripted-policy.ts';

const settings = {
  recipe: 'ragen',
  seed: 0,
  policy: 'p',
  rewardFunction: 'return',
  freeze: [],
  tasks: 1,
  groupSize: 2,
};

function play(
  write: (prompt: string) => string,
  maxTurns: number,
  starts: readonly string[],
  contextLength?: number,
) {
  const tokenizer = textTokenizer();
  const policy = scriptedPolicy(tokenizer, write);
  const context = openRoundContext({
    recipe: ragen,
    round: roundOf(settings, { agent: {} }, 1, 3),
    tokenizer,
    recipeState: () => Promise.resolve(undefined),
    contextLength,
    use: (_ref, work) => work(policy),
  });
  const beginnings = starts.map((prompt, i) => ({ id: `episode ${i}`, prompt, world: 0 }));
  const played = playEpisodes(context, 'agent', beginnings, {
    maxTurns,
    // Counts down from the number that was written.
    answer: (count, text) => ({
      world: count + 1,
      reply: text === '0<eos>' ? null : `[${text[0]}]`,
      outcome: /^\d<eos>$/.test(text) ? 'ok' : 'off-grammar',
    }),
  });
  return { played, text: (ids: readonly number[]) => tokenizer.decode(ids) };
}

const countDown = (prompt: string) => `${Number(prompt.replace(/\D/g, '').at(-1)) - 1}<eos>`;

test('a turn’s prompt is all before it, its completion is what the role wrote, and an episode ends by itself', async () => {
  const { played, text } = play(countDown, 9, ['3', '1']);
  const [three, one] = await played;
  expect(three!.turns.map(({ prompt }) => text(prompt))).toEqual(['3', '32<eos>[2]', '32<eos>[2]1<eos>[1]']);
  expect(three!.turns.map(({ ids }) => text(ids))).toEqual(['2<eos>', '1<eos>', '0<eos>']);
  expect([three!.world, one!.world]).toEqual([3, 1]);
  expect(three!.turns.map(({ turn, of }) => [turn, of === three!.turns[0]!.id])).toEqual([
    [0, false],
    [1, true],
    [2, true],
  ]);
  expect(episodesOf([...three!.turns, ...one!.turns]).map((turns) => turns.length)).toEqual([3, 1]);
});

test('turns end at their bound, and where no further one fits the context', async () => {
  const bounded = await play(countDown, 2, ['9']).played;
  expect(bounded[0]!.turns).toHaveLength(2);
  // 256 tokens hold a prompt of 240 and one turn of 12, not the reply and a second.
  const full = await play(() => '5<eos>', 9, ['x'.repeat(240), 'x'.repeat(245)], 256).played;
  expect(full.map(({ turns }) => turns.length)).toEqual([1, 0]);
  // The same prompts in a policy of 512 tokens leave room for more turns than are asked for.
  const roomy = await play(() => '5<eos>', 9, ['x'.repeat(240), 'x'.repeat(245)], 512).played;
  expect(roomy.map(({ turns }) => turns.length)).toEqual([9, 9]);
});

test('a turn that is cut off says so', async () => {
  const { played } = play(() => 'far too many words', 1, ['1']);
  expect((await played)[0]!.turns[0]!.outcome).toBe('cut-off');
});
