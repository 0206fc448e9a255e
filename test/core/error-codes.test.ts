/** Every error code has one form, so that programs can compare it and people can search for it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOMS = [
  'core',
  'worlds',
  'protocols',
  'recipes',
  'model',
  'infer',
  'learner',
  'workers',
  'local',
  'cli',
];
const sources = ROOMS.flatMap((room) =>
  readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(room, file)),
);

/** What stands before a code where an error is made: by its class, or by the function that makes one of wrong input. */
const MADE = [
  String.raw`\bwrongInput\(\s*`,
  String.raw`new RollmeshError\(\s*'[a-z-]+',\s*`,
  String.raw`new HttpError\(\s*\d+,\s*`,
].join('|');

/** What clients of OpenAI's API compare. */
const FOREIGN = ['model_not_found'];

test('codes are words of lower case with dashes, joined by points', () => {
  const made = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(new RegExp(`(?:${MADE})'([^']*)'`, 'g'))].map(([, code]) => ({
      file,
      code,
    })),
  );
  expect(made.length).toBeGreaterThan(300);
  const codes = made.filter(({ code }) => !FOREIGN.includes(code!));
  expect(codes.filter(({ code }) => !/^[a-z-]+(\.[a-z-]+)+$/.test(code!))).toEqual([]);
});
