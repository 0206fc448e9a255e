import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { afterAll, expect, test } from 'vitest';
import { openRecipesOf } from '../../cli/recipe-modules.ts';
import { tasksOption } from '../../cli/shared/run-options.ts';
import { writtenRecipes } from '../../cli/shared/state-folder.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import type { TrainingTaskOptions } from '../../cli/training-task-options.ts';
import { weighted } from '../../cli/training-tasks.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { build } from '../../local/mesh/esbuild.ts';
import { FROM_FILES } from '../../recipes/from-files.ts';
import { type GrpoData, grpo } from '../../recipes/grpo/recipe.ts';
import { recipes } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { tasksHere } from '../../worlds/file/stored-tasks.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-tasks-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function file(name: string, rows: readonly unknown[]): string {
  const path = join(root, name);
  writeFileSync(path, rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));
  return path;
}
const sums = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ question: `${from + i} + 1`, answer: from + i + 1 }));
/** The recipe grpo over files, and its data. */
async function read(tasks: readonly string[], more: Partial<TrainingTaskOptions> = {}) {
  const made = await taskRecipe({
    ...{ recipe: 'grpo', policy: 'mine', tasks },
    ...{ heldOut: '0.2', checker: 'number', extract: ['whole'], set: [] },
    ...more,
  });
  return { ...made!, data: v.parse(grpo.data, made!.data) as GrpoData };
}

test('files become a recipe whose name says which data and settings it has', async () => {
  const [a, b] = [file('a.jsonl', sums(40)), file('b.jsonl', sums(20, 100))];
  const { data, report } = await read([`${a}@3`, b]);
  // A fifth of 60 is held out, and of fewer than 30 nothing can be told.
  expect(report).toEqual([
    `${data.heldOut.length} held-out questions are too few to tell a change from chance (30 are needed): name a file of more by --held-out FILE, or hold out a larger share of the tasks.`,
  ]);
  const many = [file('many.jsonl', sums(300))];
  expect((await read(many)).report).toEqual([]);
  expect((await read(many, { set: ['examined=29'] })).report).toEqual([
    expect.stringContaining('29 held-out'),
  ]);
  expect(data.sources).toMatchObject([{ weight: 3 }, { weight: 1 }]);
  expect(data.heldOut.length + tasksHere(data).length).toBe(60);
  const recipe = grpo.make(data);
  expect(recipe.name).toMatch(/^grpo-[0-9a-f]{10}$/);
  expect(recipe.taskName).toBe('a.jsonl, b.jsonl');
  expect(grpo.make((await read([`${a}@3`, b])).data).name).toBe(recipe.name);
  expect(grpo.make((await read([`${a}@2`, b])).data).name).not.toBe(recipe.name);
  const hot = grpo.make((await read([`${a}@3`, b], { set: ['temperature=1.2', 'adapter.rank=4'] })).data);
  expect(hot.name).not.toBe(recipe.name);
  expect(hot.roles.solver!.sampling).toEqual({ maxNew: 256, temperature: 1.2 });
  expect(hot.sets.main!.adapter).toEqual({ rank: 4, alpha: 16 });
});

test('a file of another kind names the recipes that run on it as it is', async () => {
  const pairs = file('pairs.jsonl', [{ prompt: '1 + 1', chosen: '2', rejected: '3' }]);
  await expect(read([pairs], { recipe: 'fb-align' })).rejects.toMatchObject({
    code: 'tasks.lines',
    message: expect.stringMatching(/line 1: .*--recipe: dpo, reward-model run on the file as it is\.$/),
  });
  const asked = await read([file('asked.jsonl', sums(3))], { recipe: 'dpo' }).catch((fault) => fault.message);
  expect(asked).toMatch(/line 1: it has no "chosen".* ttrl, .* grpo, distil/);
  // Neither has a worked solution.
  expect(asked).not.toMatch(/\b(?:fb-align|sage)\b/);
  const nothing = file('nothing.jsonl', [{ text: 'no task' }]);
  await expect(read([nothing])).rejects.not.toThrow(/run on the file/);
});

test('a second file is held out, and what stands in both is left out of training', async () => {
  const held = file('held.jsonl', sums(5));
  const { data, report } = await read([file('train.jsonl', sums(10))], { heldOut: held });
  expect(data.heldOut).toHaveLength(5);
  expect(tasksHere(data)).toHaveLength(5);
  expect(report.join()).toContain(
    '5 tasks were left out of training because the question is held out (train.jsonl:1 as held.jsonl:1',
  );
});

test('a round’s recipe is found where `npx rollmesh start` wrote it, without --recipe; a name that leads elsewhere opens nothing', async () => {
  const state = join(root, 'state');
  const made = await read([file('again.jsonl', sums(12))]);
  const path = await made.write(writtenRecipes(state));
  const { name } = grpo.make(made.data);
  const { registry, modules } = await openRecipesOf(['trio', name], state, []);
  expect(registry.find(name).name).toBe(name);
  expect(modules.map((module) => module.file)).toEqual([path]);
  // Named as well, as it had to be before.
  expect((await openRecipesOf([name], state, [path])).modules).toHaveLength(1);
  writeFileSync(join(state, 'out.mjs'), 'throw new Error("this module must not be loaded")');
  const other = await openRecipesOf(['grpo-0000000000', '../out'], state, []);
  expect(other.modules).toEqual([]);
  expect(() => other.registry.find('grpo-0000000000')).toThrowError(
    expect.objectContaining({ code: 'recipe.unknown' }),
  );
});

test('the module that is written is the recipe, in Node and in a Worker’s bundle', async () => {
  const made = await read([file('c.jsonl', sums(30))]);
  const { data } = made;
  const path = await made.write(join(root, 'recipes'));
  expect(await made.write(join(root, 'recipes'))).toBe(path);
  const { default: recipe } = (await import(pathToFileURL(path).href)) as { default: Recipe };
  expect(recipe.name).toBe(grpo.make(data).name);
  const { outputFiles } = await build({
    entryPoints: [path, 'recipes/index.ts'],
    outdir: join(root, 'bundled'),
    bundle: true,
    write: false,
    format: 'esm',
    minify: true,
    conditions: ['workerd', 'worker', 'browser'],
  });
  // Reading files is the command's part: neither parser is in a Worker.
  expect(outputFiles[0]!.text).not.toMatch(/parquet|CsvError/i);
  expect(outputFiles[0]!.text).not.toMatch(/new Function\(/);
  // Every Worker has the shipped recipes; on top come checkers, chat templates and the recipes that need files.
  expect(outputFiles[0]!.contents.length - outputFiles[1]!.contents.length).toBeLessThan(500_000);
});

test('bad files and settings are refused before anything is written', async () => {
  const good = file('good.jsonl', sums(20));
  await expect(read([file('bad.jsonl', [{ question: 'a', answer: '1' }, '{'])])).rejects.toThrow(
    /A line of bad\.jsonl cannot be used: line 2/,
  );
  await expect(read([good], { heldOut: '1.5' })).rejects.toThrow(/share of 1\.5 cannot be held out/);
  await expect(read([good], { heldOut: 'none.jsonl' })).rejects.toThrow(/no file none\.jsonl/);
  await expect(read([good], { set: ['temprature=1'] })).rejects.toThrow(/Expected temperature, perhaps/);
  await expect(read([good], { checker: 'numbr' })).rejects.toThrow(/no checker "numbr"/);
  await expect(
    read([file('large.jsonl', [{ question: 'x'.repeat(9_000_000), answer: '1' }, ...sums(20)])]),
  ).rejects.toThrow(/Line 1 of large\.jsonl is a task of \d+ bytes\. Expected at most/);
  expect(() => weighted('a.jsonl@0')).toThrow(/weight 0/);
  expect(weighted('a@b.jsonl')).toEqual({ path: 'a@b.jsonl', weight: 1 });
});

test('what is missing for a run on files is said', async () => {
  const good = file('ready.jsonl', sums(20));
  const ask = (more: object) =>
    taskRecipe({
      recipe: 'grpo',
      policy: 'small',
      tasks: [good],
      heldOut: '0.2',
      checker: 'number',
      extract: ['whole'],
      set: [],
      ...more,
    });
  expect((await ask({}))?.recipe.name).toMatch(/^grpo-/);
  expect(await ask({ recipe: 'trio', tasks: [] })).toBeNull();
  await expect(ask({ tasks: [] })).rejects.toThrow(/grpo has no tasks\..*--tasks FILE\.jsonl/);
  await expect(ask({ policy: undefined })).rejects.toThrow(/No policy is named.*policy import DIR/);
  await expect(ask({ recipe: 'azr' })).rejects.toThrow(
    /azr takes no files of tasks: it needs programs that the policy writes.*one of grpo, distil, .*\bdapo\b/s,
  );
  await expect(ask({ recipe: 'fb-align' })).rejects.toThrow(
    /fb-align needs a worked solution to each task, and line \d+ of ready\.jsonl has none\. Expected a field "solution".*\bdapo\b/s,
  );
  const worked = sums(20).map((row) => ({
    ...row,
    solution: `It is asked.\nIt is ${row.answer}.`,
    documents: ['It can be read.'],
  }));
  const onOneLine = [
    file(
      'line.jsonl',
      worked.map((row) => ({ ...row, solution: 'It is that.' })),
    ),
  ];
  await expect(ask({ recipe: 'mr-rlvr', tasks: onOneLine })).rejects.toThrow(
    /needs a worked solution of several lines.*Expected a field "solution" of several lines.*\bsage\b/s,
  );
  const solved = [file('worked.jsonl', worked)];
  for (const { name } of recipes)
    if (!FROM_FILES.has(name))
      await expect(ask({ recipe: name })).rejects.toThrow(
        new RegExp(`${name} takes no files of tasks: it needs .{20,}`),
      );
  await expect(ask({ recipe: 'gropo' })).rejects.toThrow(
    /no recipe "gropo"\. Expected grpo, perhaps\..*recipe list`/,
  );
  // The file shows no pictures.
  const onText = recipes.filter(
    ({ written }) => written && !written.needs.data.some((datum) => ['pictures', 'frames'].includes(datum)),
  );
  for (const { name: recipe } of onText) {
    expect((await ask({ recipe, tasks: solved }))?.recipe.name).toMatch(new RegExp(`^${recipe}-`));
    expect(await ask({ recipe, tasks: [] })).toBeNull();
  }
  await expect(ask({ recipe: 'tango', reward: 'checker=1,format=0.5' })).rejects.toThrow(
    /tango takes no sums of rewards: the word that pays its generator.*such as grpo/s,
  );
  const summed = await ask({ recipe: 'dapo', reward: 'checker=1,format=0.5' });
  expect([summed!.isWeighted, Object.keys(summed!.recipe.rewards)[0]]).toEqual([true, 'weighted']);
  await expect(ask({ recipe: 'ttrl', set: ['curriculum.unanimousWeight=0.5'] })).rejects.toThrow(
    /ttrl takes no curriculum: it walks through all held-out questions/,
  );
  await expect(ask({ recipe: 'tango', set: ['temperature=2'] })).rejects.toThrow(/no setting|temperature/);
  const known = registry([(await ask({}))!.recipe]);
  const [{ name }] = known.recipes as [Recipe];
  const order = { recipe: name, seed: 0, rounds: 1, freeze: [], policy: 'small', variant: 'gspoo' };
  expect(() => runOf(known, order)).toThrow(
    /no --variant "gspoo"\. Expected gspo, perhaps, or another of kl, .*recipe show grpo`/,
  );
  const generated = await ask({ policy: 'words', tasks: [] });
  expect(generated?.recipe.taskName).toBe('words, generated');
  expect(
    ['a.jsonl', 'b.csv@3'].reduce<readonly string[] | undefined>(
      (all, text) => tasksOption(text, all),
      undefined,
    ),
  ).toEqual(['a.jsonl', 'b.csv@3']);
  // One option, one meaning.
  expect(() => tasksOption('64')).toThrow(/Expected a file; .* is --tasks-per-round/);
});

test('with --agent agents hold the episodes, in a recipe of its own name; what does not go with it is refused', async () => {
  const tasks = [file('agent.jsonl', sums(20))];
  const asked = (more: object) =>
    taskRecipe({
      recipe: 'grpo',
      policy: 'mine',
      tasks,
      heldOut: '0.2',
      checker: 'number',
      extract: ['whole'],
      set: [],
      ...more,
    });
  const [plain, agent] = [(await asked({}))!, (await asked({ agent: true }))!];
  expect(plain.recipe.agent).toBeUndefined();
  expect(agent.recipe.agent?.seats).toEqual(['solver']);
  expect(agent.recipe.name).not.toBe(plain.recipe.name);
  const dapo = (await asked({ recipe: 'dapo', agent: true, set: ['heldOutEpisodes.tasks=3'] }))!.recipe;
  expect([dapo.called, dapo.agent?.seats]).toEqual(['dapo on agent.jsonl', ['solver']]);
  const seats = [{ name: 'white' }, { name: 'black' }];
  for (const wrong of [
    { recipe: 'ttrl' },
    { recipe: 'spin' },
    { recipe: 'dapo', seats },
    { reward: 'checker' },
    { inProcess: true },
  ])
    await expect(asked({ agent: true, ...wrong })).rejects.toMatchObject({ code: 'run.agent' });
  await expect(asked({ recipe: 'dapo', agent: true, prompts: 'prompts.json' })).rejects.toMatchObject({
    code: 'run.prompts',
    message: expect.stringContaining('Expected no --prompts with --agent or --tools'),
  });
});

test('a Worker plays tasks that an environment sets, and no others, for the same recipe as agents do', async () => {
  const asked = (name: string, metadata: (i: number) => object, more: object = {}) =>
    taskRecipe({
      ...{ recipe: 'grpo', policy: 'mine', agent: true, heldOut: '0.2', checker: 'auto', extract: ['whole'] },
      tasks: [
        file(
          name,
          sums(10).map((row, i) => ({ ...row, metadata: metadata(i) })),
        ),
      ],
      set: [],
      ...more,
    });
  const environment = 'http://localhost:8080';
  for (const [name, place] of [
    ['ors.jsonl', (index: number) => ({ environment: 'sums', split: 'train', index })],
    ['openenv.jsonl', (seed: number) => ({ protocol: 'openenv', reset: { seed } })],
  ] as const) {
    const [byAgents, byWorker] = [await asked(name, place), await asked(name, place, { environment })];
    expect(byWorker!.recipe.name).toBe(byAgents!.recipe.name);
    // Said as it is by default, it is the same run; held otherwise, it is another one.
    const other = [{ environmentTurns: 16 }, { environmentTurns: 4 }, { answerTool: 'submit' }];
    const names = await Promise.all(
      other.map(async (held) => (await asked(name, place, { environment, ...held }))!.recipe.name),
    );
    expect(names[0]).toBe(byWorker!.recipe.name);
    expect(new Set(names).size).toBe(3);
  }
  await expect(asked('others.jsonl', () => ({ from: 'elsewhere' }), { environment })).rejects.toMatchObject({
    code: 'environment.task',
    message: expect.stringMatching(
      /Line \d+ of .*others\.jsonl .*rollmesh environment tasks http:\/\/localhost:8080/,
    ),
  });
  const given = { environment, heldOut: file('elsewhere.jsonl', sums(2)), set: ['heldOutEpisodes.tasks=2'] };
  await expect(
    asked('ors.jsonl', (index) => ({ environment: 'sums', split: 'train', index }), given),
  ).rejects.toMatchObject({ code: 'environment.task', message: expect.stringContaining('elsewhere.jsonl') });
  const seats = [{ name: 'white' }, { name: 'black' }];
  await expect(
    asked('ors.jsonl', (index) => ({ environment: 'sums', split: 'train', index }), { environment, seats }),
  ).rejects.toMatchObject({ code: 'run.agent' });
});
