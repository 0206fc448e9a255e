import { expect, test } from 'vitest';
import { insertTokens, nextTurn, startEpisode } from '../../core/episodes/episode.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import { TESTED_ENGINES } from './engines.ts';

const config = smallConfig({ num_hidden_layers: 2, num_key_value_heads: 2 });

test.each(TESTED_ENGINES)(
  '$name: turns go on after inserted tokens, each token knows who made it, and scoring agrees with what was sampled',
  async ({ open }) => {
    const policy = await open(config, randomTensors(config));
    const settings = { maxNew: 7, temperature: 1, stop: [3, 4, 5, 6] };
    const start = ['a', 'b', 'c'].map((id) => startEpisode(id, [10, 11, 12]));
    const first = await nextTurn(policy, start, settings);
    const moved = first.map((episode, i) => insertTokens(episode, [20 + i, 30]));
    const second = await nextTurn(policy, moved, settings);
    const [alone] = await nextTurn(policy, [moved[1]!], settings);
    expect(alone).toEqual(second[1]);

    for (const [i, episode] of second.entries()) {
      const firstTurn = first[i]!.ids.length - 3;
      const secondTurn = episode.ids.length - moved[i]!.ids.length;
      expect(episode.made).toEqual([
        ...[false, false, false],
        ...new Array<boolean>(firstTurn).fill(true),
        ...[false, false],
        ...new Array<boolean>(secondTurn).fill(true),
      ]);
      expect(episode.turns).toBe(2);
      const [score] = await policy.score([episode.ids]);
      for (const [at, made] of episode.made.entries())
        if (made) expect(episode.logprobs[at]).toBeCloseTo(score!.logprobs[at - 1]!, 4);
        else expect(episode.logprobs[at]).toBe(0);
    }
    // The random numbers of a turn are its own: equal text before would otherwise repeat itself.
    expect(new Set(first.map(({ ids }) => ids.join())).size).toBe(3);
    await policy.dispose();
  },
);
