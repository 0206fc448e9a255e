/** The settings of the page /try in its address, and the files that it reads from disk. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MOST_BYTES, readChosen } from '../../local/try/chosen-files.ts';
import { hashOf, settingsIn } from '../../local/try/settings.ts';

const settings = fc.record({
  recipe: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
  reward: fc.string({ minLength: 1, maxLength: 64 }),
  variant: fc.string({ minLength: 1, maxLength: 64 }),
  seed: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  rounds: fc.integer({ min: 1, max: 1000 }),
  tasks: fc.integer({ min: 1, max: 4096 }),
  group: fc.integer({ min: 1, max: 64 }),
  freeze: fc.stringMatching(/^[a-z]{1,9}(,[a-z]{1,9}){0,3}$/),
  start: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
  registered: fc.stringMatching(/^[a-z0-9.-]{1,60}\.svg$/),
});

test('a link says all settings', () => {
  fc.assert(
    fc.property(settings, (given) => {
      expect(settingsIn(hashOf(given))).toEqual(given);
    }),
  );
});

test('what of a link is no setting is left to the page', () => {
  expect(
    settingsIn(
      '#recipe=../x&seed=-1&rounds=0&tasks=1e3&group=0&start=..&registered=..%2Fx.svg&reward=mix&else=1',
    ),
  ).toEqual({
    reward: 'mix',
  });
  fc.assert(
    fc.property(fc.string(), (hash) => {
      settingsIn(hash);
    }),
  );
});

test('a file that is larger than what a tab holds is refused before it is read', async () => {
  // Only what is asked of it before it is read.
  const large = { name: 'huge.safetensors', size: MOST_BYTES.checkpoint + 1 } as File;
  await expect(readChosen([large], 'checkpoint')).rejects.toMatchObject({
    code: 'try.size',
    message: expect.stringMatching(/huge\.safetensors has 257 MB\. Expected at most 256 MB/),
  });
  expect(await readChosen([], 'questions')).toBeUndefined();
  expect(await readChosen([new File(['abc'], 'a.jsonl')], 'questions')).toEqual({
    'a.jsonl': new TextEncoder().encode('abc'),
  });
});
