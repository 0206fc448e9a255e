/** Files that are too large for a Worker's code: what is read, stored and named, and what is refused. */

import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { imagesBeside, taskFileBytes } from '../../cli/policy/task-file-options.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { modulesInUse, storeTasks } from '../../cli/shared/store-tasks.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import type { TrainingTaskOptions } from '../../cli/training-task-options.ts';
import { pixmap } from '../../core/images/image.ts';
import { pngOf } from '../core/images/png.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-large-tasks-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const row = (i: number) => `{"question": "What is ${i} + 1?", "answer": ${i + 1}}\n`;
function rowsFile(name: string, count: number, more = ''): string {
  const path = join(root, name);
  writeFileSync(path, `${Array.from({ length: count }, (_, i) => row(i)).join('')}${more}`);
  return path;
}
const asked = (path: string, more: Partial<TrainingTaskOptions> = {}): TrainingTaskOptions => ({
  ...{ recipe: 'grpo', policy: 'mine', tasks: [path], heldOut: '0.1' },
  ...{ checker: 'number', extract: ['whole'], set: ['examined=40'] },
  ...more,
});
/** Everything is too large for the code, and a few rows fill a shard. */
const SMALL = { inCode: 12_000, shard: 1000 };

test('60,000 questions are stored whole, once, beside a small module', async () => {
  const path = rowsFile('many.jsonl', 60_000);
  const made = (await taskRecipe(asked(path)))!;
  expect(made.report).toEqual([
    expect.stringMatching(
      /^60000 tasks of \d+\.\d MB are more than a Worker’s code may hold: they are stored in \d+ shards, and a round reads those of its tasks\.$/,
    ),
  ]);
  const folder = join(root, 'recipes');
  const module = await made.write(folder);
  expect(statSync(module).size).toBeLessThan(40_000);
  const [recipe] = (await openRecipes([module])).named;
  expect(recipe).toMatchObject({ name: made.recipe.name, stored: made.recipe.stored, hosted: [] });

  const objects = readdirSync(join(folder, 'tasks'));
  expect(objects.sort()).toEqual([...made.recipe.stored!].sort());
  const lines = objects.flatMap((name) => {
    const text = readFileSync(join(folder, 'tasks', name), 'utf8');
    return text.startsWith('{') ? text.trimEnd().split('\n') : [];
  });
  const questions = new Set(lines.map((line) => JSON.parse(line).messages[0].content as string));
  expect(questions.size).toBe(lines.length);
  // All but the tenth that is held out, 6000 ± 73 of them: each is one of the file's.
  expect(Math.abs(lines.length - 54_000)).toBeLessThan(400);
  expect([...questions].every((text) => Number(/^What is (\d+) \+ 1\?$/.exec(text)![1]) < 60_000)).toBe(true);
  // Keys of 16 bytes for each task.
  const bytes = objects.map((name) => statSync(join(folder, 'tasks', name)).size);
  expect(bytes).toContain(16 * lines.length);
  expect(bytes).toContain(16 * (60_000 - lines.length));
});

test('the name says what the tasks are: the same again, and another where one has changed', async () => {
  const path = rowsFile('named.jsonl', 300);
  const name = async (options: TrainingTaskOptions, limits = SMALL) =>
    (await taskRecipe(options, limits))!.recipe.name;
  const first = await name(asked(path));
  expect(await name(asked(path))).toBe(first);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"answer": 4}', '"answer": 5}'));
  expect(await name(asked(path))).not.toBe(first);
});

test('a file that is written while it is read is refused by name', async () => {
  const path = rowsFile('growing.jsonl', 40_000);
  const bytes = (await taskFileBytes(path)) as AsyncIterable<Uint8Array>;
  let parts = 0;
  const read = async () => {
    // It has more than one part, and grows while the first is looked at.
    for await (const _ of bytes) if (parts++ === 0) appendFileSync(path, row(40_000));
  };
  await expect(read()).rejects.toMatchObject({
    code: 'file.changed',
    message: expect.stringMatching(/growing\.jsonl has changed while it was read.*Nothing was trained on it/),
  });
  expect(parts).toBeGreaterThan(1);
  // Whoever reads it again reads it whole.
  parts = 1;
  await expect(read()).resolves.toBeUndefined();
});

test('files for which memory has no room together are refused before one is read', async () => {
  const [one, two] = ['one.jsonl', 'two.jsonl'].map((name) => {
    const path = rowsFile(name, 1);
    truncateSync(path, 150 * 2 ** 20);
    return path;
  }) as [string, string];
  for (const more of [{ tasks: [one, `${two}@2`] }, { heldOut: two }])
    await expect(taskRecipe(asked(one, more))).rejects.toMatchObject({
      code: 'file.size',
      message: expect.stringMatching(/one\.jsonl, .*two\.jsonl have 314572800 bytes together.*268435456/),
    });
});

test('recipes that read other tasks than those of a round take no such file', async () => {
  const path = rowsFile('refused.jsonl', 300);
  const withDocuments = join(root, 'documents.jsonl');
  writeFileSync(
    withDocuments,
    Array.from(
      { length: 300 },
      (_, i) => `{"question": "Where is ${i}?", "answer": "here ${i}", "documents": ["It is here ${i}."]}\n`,
    ).join(''),
  );
  for (const [recipe, file] of [
    ['weak-sup', path],
    ['svs', path],
    ['reseek', withDocuments],
  ] as const) {
    const options = asked(file, { recipe, checker: 'exact' });
    await expect(taskRecipe(options, SMALL)).rejects.toMatchObject({
      code: 'tasks.size',
      message: expect.stringMatching(new RegExp(`Recipe ${recipe} takes no files of this size: its? `)),
    });
    // A small one is as ever.
    expect((await taskRecipe(options))!.recipe.stored).toBeUndefined();
  }
  await expect(taskRecipe(asked(path, { set: ['examined=400'], heldOut: '0.5' }), SMALL)).rejects.toThrow(
    /held-out tasks of an evaluation are \d+ bytes of JSON\. .* --set examined=N/,
  );
});

test('a mesh is sent what it lacks, and no more; what is nowhere is said', async () => {
  const made = (await taskRecipe(asked(rowsFile('sent.jsonl', 300)), SMALL))!;
  const file = await made.write(join(root, 'sent'));
  const { modules } = await openRecipes([file]);
  const stored = new Map<string, Uint8Array>();
  const said: string[] = [];
  const gateway = {
    missingTasks: async (hashes: readonly string[]) => hashes.filter((sha256) => !stored.has(sha256)),
    putTasks: async (sha256: string, bytes: Uint8Array) => void stored.set(sha256, bytes),
  };
  const send = () => storeTasks(gateway, modules, (line) => said.push(line));
  expect(await send()).toBe(new Set(made.recipe.stored).size);
  expect([...stored.keys()].sort()).toEqual(readdirSync(join(root, 'sent', 'tasks')).sort());
  expect(await send()).toBe(0);
  const [one, two] = stored.keys();
  stored.delete(one!);
  stored.delete(two!);
  rmSync(join(root, 'sent', 'tasks', one!));
  expect(await send()).toBe(1);
  expect(said.at(-1)).toMatch(
    /^1 of the objects of the tasks of grpo on sent\.jsonl are neither in the mesh nor/,
  );
  // The same start writes it again.
  await made.write(join(root, 'sent'));
  expect(await send()).toBe(1);
  // One that a disk has damaged is not sent, and the same start mends it.
  stored.delete(two!);
  const path = join(root, 'sent', 'tasks', two!);
  const whole = readFileSync(path);
  writeFileSync(path, new Uint8Array(whole.length));
  expect([await send(), stored.has(two!)]).toEqual([0, false]);
  expect(said.at(-1)).toMatch(/nor whole beside/);
  await made.write(join(root, 'sent'));
  expect(await send()).toBe(1);
  expect(Buffer.from(stored.get(two!)!)).toEqual(whole);
});

test('a mesh is sent the tasks of recipes that are named, and of runs that nobody deleted', async () => {
  const made = [];
  for (const name of ['kept', 'deleted', 'named']) {
    const { recipe, write } = (await taskRecipe(asked(rowsFile(`${name}.jsonl`, 300)), SMALL))!;
    made.push({ recipe, file: await write(join(root, 'in-use')) });
  }
  const [kept, deleted, named] = made;
  const gateway = { listRuns: async () => [{ settings: { recipe: kept!.recipe.name } }] };
  const opened = { named: [named!.recipe], modules: [named!, kept!, deleted!] };
  expect(await modulesInUse(gateway, opened)).toEqual([named, kept]);
});

test('images lie beside the module, each once under its hash, and the recipe says how large they are', async () => {
  const image = (seed: number) => ({ width: 20, height: 33, pixels: new Uint8Array(1980).fill(seed) });
  for (const seed of [1, 2]) writeFileSync(join(root, `${seed}.png`), pngOf(image(seed)));
  const shown = (i: number) => ({ question: `What is ${i}?`, image: `${1 + (i % 2)}.png`, answer: i });
  const path = join(root, 'shown.jsonl');
  writeFileSync(path, Array.from({ length: 40 }, (_, i) => `${JSON.stringify(shown(i))}\n`).join(''));
  const made = (await taskRecipe(asked(path)))!;
  expect(made.report[0]).toBe('The tasks show 2 different images, of 0.0 MB of pixels.');
  const [module] = [await made.write(join(root, 'shown'))];
  const pixmaps = [1, 2].map((seed) => Buffer.from(pixmap(image(seed))));
  const hashes = pixmaps.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
  const [recipe] = (await openRecipes([module!])).named;
  expect([...recipe!.stored!].sort()).toEqual(hashes.toSorted());
  expect(recipe!.showsImages).toEqual({ rows: 5, columns: 3 });
  for (const [i, sha256] of hashes.entries())
    expect(readFileSync(join(root, 'shown', 'tasks', sha256)).equals(pixmaps[i]!)).toBe(true);
  await expect(taskRecipe(asked(path), { inCode: 1000, shard: 1000 })).rejects.toThrow(
    /bytes of JSON beside their images/,
  );
  // Of the same questions without images another recipe is made, which stores nothing.
  writeFileSync(path, Array.from({ length: 40 }, (_, i) => row(i)).join(''));
  const plain = (await taskRecipe(asked(path)))!.recipe;
  expect([plain.stored, plain.showsImages]).toEqual([undefined, undefined]);
});

test('an image is read from the folder of its file of tasks alone, up to 4 MB', async () => {
  const folder = join(root, 'inside');
  mkdirSync(folder);
  writeFileSync(join(root, 'outside.png'), 'x');
  writeFileSync(join(folder, 'here.png'), 'y');
  writeFileSync(join(folder, 'large.png'), '');
  truncateSync(join(folder, 'large.png'), 4 * 1024 * 1024 + 1);
  const read = imagesBeside(join(folder, 't.jsonl'));
  expect(await read('here.png')).toEqual(Uint8Array.of(121));
  for (const path of ['../outside.png', join(root, 'outside.png'), 'nowhere.png', 'a\0.png', '..', '.'])
    await expect(read(path)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:image\.missing|file\.kind)$/),
    });
  await expect(read('../outside.png')).rejects.toThrow('There is no such file in');
  await expect(read('large.png')).rejects.toMatchObject({ code: 'image.size' });
});
