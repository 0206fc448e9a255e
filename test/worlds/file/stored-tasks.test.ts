/** Tasks in shards are drawn, and known, as the same tasks are in a recipe. */
import { beforeAll, expect, test } from 'vitest';
import { Random } from '../../../core/random.ts';
import { openRoundContext, type ReadStored, type RoundContext } from '../../../core/recipe/round-context.ts';
import type { RoundSpec } from '../../../core/schema/round.ts';
import type { Tokenizer } from '../../../core/text/tokenizer-port.ts';
import { examplesOf } from '../../../protocols/examples/round.ts';
import { drawFileTasks, drawTask } from '../../../worlds/file/sampler.ts';
import type { StoredTasks } from '../../../worlds/file/stored-set.ts';
import {
  objectsOfTasks,
  sidesOf,
  storedTasks,
  tasksHere,
  traitsOf,
} from '../../../worlds/file/stored-tasks.ts';
import type { PlacedTask } from '../../../worlds/file/task.ts';
import { textKey, writeTask } from '../../../worlds/questions/task-text.ts';

const task = (file: string, line: number): PlacedTask => ({
  // Texts of several lengths, in letters of one to four bytes.
  messages: [{ role: 'user', content: `${file} ${line} ${'aé中🙂'.repeat(line % 5)}\nWhat is it?` }],
  answer: String(line),
  metadata: {},
  difficulty: line,
  file,
  line,
});
const of = (file: string, count: number) => Array.from({ length: count }, (_, i) => task(file, i + 1));
const here = [
  { weight: 3, tasks: of('a', 200) },
  { weight: 1, tasks: of('b', 50) },
];
const heldOut = of('h', 40);

const objects = new Map<string, Uint8Array<ArrayBuffer>>();
let sources: StoredTasks;
let read: string[];
const readStored: ReadStored = async (sha256) => {
  read.push(sha256);
  return objects.get(sha256)!;
};
beforeAll(async () => {
  const stored = await storedTasks(here, heldOut, ['answer'], 1000);
  sources = stored.sources;
  for await (const { sha256, bytes } of stored.objects()) objects.set(sha256, bytes);
});

test('the shards are named by their hashes, and hold every task once', async () => {
  const { stored } = objectsOfTasks({ sources, heldOut: [] });
  expect([...objects.keys()].sort()).toEqual([...stored!].sort());
  // A task has 130 to 190 bytes, so that five to nine of them fill a shard.
  const shards = sources.files.flatMap((file) => file.shards);
  expect(shards.length).toBeGreaterThan(250 / 9);
  for (const [sha256] of shards.slice(0, 3)) {
    const digest = await crypto.subtle.digest('SHA-256', objects.get(sha256)!);
    expect(Buffer.from(digest).toString('hex')).toBe(sha256);
  }
  const lines = shards.flatMap(([sha256]) =>
    new TextDecoder().decode(objects.get(sha256)!).trimEnd().split('\n'),
  );
  expect(lines.map((line) => JSON.parse(line))).toEqual([...here[0]!.tasks, ...here[1]!.tasks]);
  expect(traitsOf({ sources })).toMatchObject({ data: ['answer'], isRated: true });
  expect(objectsOfTasks({ sources: here, heldOut: [] })).toEqual({});
  // Another task, another name.
  const other = [{ weight: 3, tasks: [...here[0]!.tasks.slice(1), task('a', 201)] }, here[1]!];
  expect((await storedTasks(other, heldOut, ['answer'], 1000)).sources).not.toEqual(sources);
});

test('a draw is that of the same tasks in a recipe, by weights and with tasks that are passed over', async () => {
  const weights = (key: string) => Number.parseInt(key[0]!, 16) % 3;
  const accepts = ({ line }: PlacedTask) => line % 2 === 0;
  for (const how of [{}, { accepts }, { weightOf: weights }, { accepts, weightOf: weights }]) {
    read = [];
    const drawn = await drawFileTasks(readStored, new Random('round 1'), sources, 12, how);
    expect(drawn).toEqual(await drawFileTasks(readStored, new Random('round 1'), here, 12, how));
    expect(new Set(drawn.map(writeTask)).size).toBe(12);
    // Its own shards, those of what was passed over, and two objects of keys where they are needed.
    expect(read.length).toBeLessThan(sources.files.flatMap((file) => file.shards).length);
  }
  // Of a file of which nothing is accepted only a part is read: 1 + 50 times as many tasks as are wanted.
  let asked = 0;
  const never = () => ++asked < 0;
  expect(await drawFileTasks(readStored, new Random('r'), sources, 4, { accepts: never })).toEqual([]);
  expect(asked).toBe(204);
  const all = await drawFileTasks(readStored, new Random('all'), sources, 1000);
  expect(new Set(all.map(writeTask)).size).toBe(250);
});

test('a curriculum knows a stored task by the key of its text', async () => {
  const known = writeTask(here[1]!.tasks[6]!);
  const weightOf = (key: string) => Number(key === textKey(known));
  const drawn = await drawFileTasks(readStored, new Random('r'), sources, 250, { weightOf });
  // The first of its file that is drawn.
  expect(drawn.find(({ file }) => file === 'b')).toEqual(here[1]!.tasks[6]);
});

test('examples go around as those in a recipe do', async () => {
  const even = { sources: { ...sources, files: sources.files.map((file) => ({ ...file, weight: 1 })) } };
  const evenHere = { sources: here.map((source) => ({ ...source, weight: 1 })) };
  const used = new Set<string>();
  for (const index of [1, 2, 3]) {
    const round = { id: `r${index}`, run: 'run', index, settings: { tasks: 100 } };
    const examples = await examplesOf(even, round, readStored);
    expect(examples).toEqual(await examplesOf(evenHere, round, readStored));
    for (const example of examples) used.add(writeTask(example));
  }
  expect(used.size).toBe(250);
});

test('questions are known to be trained on, or held out, by what they ask', async () => {
  // A recipe has only the held-out tasks that it asks, and knows the others by their keys.
  const stored = await sidesOf(readStored, { sources, heldOut: heldOut.slice(0, 2) });
  const plain = await sidesOf(readStored, { sources: here, heldOut });
  const asked = (text: string) => ({ messages: [{ role: 'user' as const, content: text }] });
  const texts = [here[0]!.tasks[199]!, here[1]!.tasks[0]!, heldOut[39]!].map(
    ({ messages }) => messages[0]!.content,
  );
  expect(texts.map((text) => stored.isTrained(asked(text)))).toEqual([true, true, false]);
  expect(texts.map((text) => stored.isHeldOut(asked(text)))).toEqual([false, false, true]);
  for (const text of [...texts.map((text) => `  ${text.toUpperCase()} `), 'a question of nobody'])
    for (const side of ['isTrained', 'isHeldOut'] as const)
      expect(stored[side](asked(text))).toBe(plain[side](asked(text)));
});

test('what asks for all of them, and bytes that were changed, are refused', async () => {
  expect(() => tasksHere({ sources })).toThrow(expect.objectContaining({ code: 'tasks.stored' }));
  expect(() => drawTask(new Random('r'), sources)).toThrow(expect.objectContaining({ code: 'tasks.stored' }));
  const parts = {
    recipe: { name: 'r', rewards: {}, roles: {} } as unknown as RoundContext['recipe'],
    round: { id: 'r' } as RoundSpec,
    tokenizer: {} as Tokenizer,
    use: () => Promise.reject(new Error('no policy')),
    recipeState: () => Promise.resolve(undefined),
  };
  const [[sha256]] = sources.files[0]!.shards as [[string, number]];
  const damaged = Uint8Array.from(objects.get(sha256)!);
  damaged[20]!++;
  const context = openRoundContext({ ...parts, readStored: async () => damaged });
  await expect(context.readStored(sha256)).rejects.toMatchObject({ code: 'tasks.damaged' });
  const whole = openRoundContext({ ...parts, readStored });
  expect(await whole.readStored(sha256)).toEqual(objects.get(sha256));
  await expect(openRoundContext(parts).readStored(sha256)).rejects.toMatchObject({
    code: 'tasks.unreachable',
  });
});
