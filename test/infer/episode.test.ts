import { expect, test } from 'vitest';
import { playSeats } from '../../core/episodes/play-seats.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { ragen } from '../../recipes/ragen/recipe.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import { TESTED_ENGINES } from './engines.ts';

const config = smallConfig({ num_hidden_layers: 2, num_key_value_heads: 2 });
/** Reads numbers as token ids. */
const numbers = {
  encode: (text: string) => text.split(' ').map(Number),
  decode: (ids: readonly number[]) => ids.join(' '),
  id: () => 3,
} as unknown as Tokenizer;
const settings = {
  recipe: 'ragen',
  seed: 0,
  policy: 'p',
  rewardFunction: 'return',
  freeze: [],
  tasks: 1,
  groupSize: 2,
};

test.each(TESTED_ENGINES)(
  '$name: turns go on after what a seat reads, alone as in company, and scoring agrees with what was sampled',
  async ({ open }) => {
    const policy = await open(config, randomTensors(config));
    const context = openRoundContext({
      recipe: ragen,
      round: roundOf(settings, { agent: {} }, 1, 3),
      tokenizer: numbers,
      recipeState: () => Promise.resolve(undefined),
      use: (_ref, work) => work(policy),
    });
    const play = (ids: readonly string[]) =>
      playSeats(
        context,
        ids.map((id, i) => ({ seats: { agent: { role: 'agent', id } }, world: { turn: 0, i } })),
        {
          maxTurns: 2,
          sampling: { maxNew: 7, temperature: 1 },
          next: ({ turn, i }) => [{ seat: 'agent', reads: turn === 0 ? '10 11 12' : `${20 + i} 30` }],
          answer: ({ turn, i }) => ({ world: { turn: turn + 1, i }, outcomes: ['ok'] }),
        },
      );
    const together = await play(['a', 'b', 'c']);
    const [alone] = await play(['a']);
    expect(alone).toEqual(together[0]);

    for (const [i, { turns }] of together.entries()) {
      const [first, second] = turns as [(typeof turns)[0], (typeof turns)[0]];
      expect(first.prompt).toEqual([10, 11, 12]);
      expect(second.prompt).toEqual([10, 11, 12, ...first.ids, 20 + i, 30]);
      for (const { prompt, ids, logprobs } of turns) {
        const [score] = await policy.score([[...prompt, ...ids]]);
        for (const [t, logprob] of logprobs.entries())
          expect(logprob).toBeCloseTo(score!.logprobs[prompt.length + t - 1]!, 4);
      }
    }
    // The random numbers of a turn are its own: equal text before would otherwise repeat itself.
    expect(new Set(together.map(({ turns }) => turns[0]!.ids.join())).size).toBe(3);
    await policy.dispose();
  },
);
