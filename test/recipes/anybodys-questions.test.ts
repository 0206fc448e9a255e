/**
 * Every recipe that says it runs on a user's questions, documents, conversations or pairs, two rounds over a file of twelve, by a checkpoint of random
 * weights with a byte-level tokenizer and a chat template. Such a policy answers nothing right: what is tested is that each recipe asks, reads, pays and
 * trains without knowing it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'fast-png';
import { afterAll, expect, test } from 'vitest';
import { neededOfFiles } from '../../cli/recipe/runs-on.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { checkRecipe } from '../../core/recipe/check-recipe.ts';
import { playRounds } from '../../local/testing/index.ts';
import { FROM_FILES } from '../../recipes/from-files.ts';
import { recipes } from '../../recipes/index.ts';
import { anybody, anybodyWhoSees } from './anybody.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-questions-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'twelve.jsonl');
const rows = Array.from({ length: 12 }, (_, i) => ({
  question: `A shelf holds ${i + 3} books and ${i} more are bought. How many are there?`,
  answer: String(2 * i + 3),
  solution: `There are ${i + 3} at first.\nWith ${i} more there are ${i + 3} + ${i} = ${2 * i + 3}.`,
  documents: [
    `A shelf of ${i + 3} books: ${i} more were bought, so that it holds ${2 * i + 3}.`,
    `There are ${i} cups.`,
  ],
  chosen: `There are ${2 * i + 3}.`,
  rejected: 'There are none.',
}));
writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));

/** The same questions, each with three pictures, for recipes of pictures. */
const pictures = join(folder, 'pictures.jsonl');
const picture = (shade: number): string => {
  const data = new Uint8Array(3 * 24 * 24).fill(shade);
  const png = encode({ width: 24, height: 24, channels: 3, depth: 8, data });
  return `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
};
writeFileSync(
  pictures,
  rows.map((row, i) => JSON.stringify({ ...row, images: [i, 100 + i, 200 + i].map(picture) })).join('\n'),
);
const OF_PICTURES = ['evolmm', 'vision-zero', 'videossr'];

const ON_FILES = [...FROM_FILES.keys()];
/** A teacher has the same tokens: here it is the policy itself, as it was. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  distil: ['maxNew=8', 'teacher.policy=anybody'],
  ...Object.fromEntries(['sft', 'dpo', 'reward-model'].map((name) => [name, []])),
};

test('every recipe that is listed as running on files is played here', () => {
  const listed = recipes.flatMap((recipe) => (neededOfFiles(recipe) ? [recipe.name] : []));
  expect(ON_FILES).toEqual(expect.arrayContaining(listed));
});

test.each(ON_FILES)('%s', async (name) => {
  const made = await taskRecipe({
    recipe: name,
    policy: 'anybody',
    tasks: [OF_PICTURES.includes(name) ? pictures : file],
    heldOut: '0.25',
    checker: 'number',
    extract: ['boxed', 'answer', 'whole'],
    set: SETTINGS[name] ?? ['maxNew=8'],
  });
  const { recipe } = made!;
  // What a mesh asks of the module that is written for it.
  checkRecipe(recipe, name);
  const { lines, version } = await playRounds(recipe, {
    start: OF_PICTURES.includes(name) ? anybodyWhoSees : anybody,
    policy: 'anybody',
    rounds: 2,
    tasks: 2,
    groupSize: 4,
  });
  expect(lines).toHaveLength(2);
  const asked = lines.map(({ report: { monitors } }) => monitors!.rollouts + monitors!.proposals);
  expect(Math.min(...asked)).toBeGreaterThan(0);
  expect(Object.keys(await version(2))).toContain('tokenizer.json');
});
