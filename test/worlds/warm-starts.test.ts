/** What must hold for every warm start by name: it fits the model that it teaches, and follows from its seed alone. */
import { describe, expect, test } from 'vitest';
import { withImages } from '../../core/images/image-tokenizer.ts';
import { Random } from '../../core/random.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { warmStarts } from '../../worlds/warm-starts.ts';

const characters = characterTokenizer();
/** Positions of the models by their shapes. */
const POSITIONS = { nano: 256, micro: 512, small: 1024, calls: 128 };
const draw = (demonstrate: (typeof warmStarts)[string]['demonstrate'], seed: string) => {
  const random = new Random(seed);
  return Array.from({ length: 200 }, () => demonstrate(random));
};

describe.each(Object.entries(warmStarts))(
  '%s',
  (_, { demonstrate, shape = 'nano', weights = {}, ...start }) => {
    const drawn = draw(demonstrate, 'a');

    test('its demonstrations fit the model, in tokens that the tokenizer has', () => {
      const { json } = start.tokenizer?.() ?? characters;
      const tokenizer = withImages(openTokenizer(json), start.patchToken !== undefined);
      const unknown = start.tokenizer ? -1 : tokenizer.id('<unk>');
      for (const { prompt, completion } of drawn) {
        const ids = tokenizer.encode(prompt + completion);
        expect(ids.length).toBeLessThanOrEqual(POSITIONS[shape]);
        expect(ids).not.toContain(unknown);
        expect(completion.length).toBeGreaterThan(0);
      }
    });

    test('they follow from the seed alone', () => {
      expect(draw(demonstrate, 'a')).toEqual(drawn);
      expect(draw(demonstrate, 'b')).not.toEqual(drawn);
    });

    test('it weighs only roles that it demonstrates', () => {
      const roles = new Set(drawn.map(({ role }) => role));
      for (const role of Object.keys(weights)) expect(roles).toContain(role);
    });
  },
);
