/** The program's doors: a recipe from outside, a new project, a configuration of one's own; and what is said of each that is wrong. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { installedFrom, projectFiles, writeProject } from '../../cli/init.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { WORKER_NAMES } from '../../core/round/stages.ts';
import { installed, moduleFile, NODE_FLAGS } from '../../local/mesh/installation.ts';
import { readMeshConfig } from '../../local/mesh/mesh-config.ts';
import { recipes } from '../../recipes/index.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-door-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = join(root, `folder-${folders++}`);
  mkdirSync(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The program in a folder: its exit status, and what it wrote to standard output and standard error. */
async function called(folder: string, ...args: string[]) {
  const command = [...NODE_FLAGS, installed('cli/rollmesh.ts'), ...args];
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: folder });
    return { code: 0, out: stdout, said: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, said: stderr };
  }
}

/** A module whose default export is a shipped recipe under another name. */
const renamed = (name: string) =>
  `import { shipped } from ${JSON.stringify(installed('recipes/index.ts'))};
   export default { ...shipped.find('dapo'), name: '${name}' };`;

test('a recipe is found by its name, by a path, and as a package; shipped ones stay known', async () => {
  const folder = folderOf({
    'mine.ts': renamed('mine'),
    'node_modules/their-recipe/package.json': '{"type":"module","exports":{"import":"./index.js"}}',
    'node_modules/their-recipe/index.js': renamed('theirs'),
  });
  const shown = await called(folder, 'recipe', 'show', 'their-recipe');
  expect(shown).toMatchObject({ code: 0, out: expect.stringMatching(/^theirs: DAPO/) });
  const before = process.cwd();
  process.chdir(folder);
  try {
    const { registry, named, modules } = await openRecipes(['./mine.ts', 'trio', './mine.ts']);
    expect(named.map(({ name }) => name)).toEqual(['mine', 'trio', 'mine']);
    expect(modules.map(({ recipe }) => recipe.name)).toEqual(['mine']);
    expect(registry.recipes.map(({ name }) => name)).toEqual([...recipes.map(({ name }) => name), 'mine']);
  } finally {
    process.chdir(before);
  }
});

test.each<[string, Readonly<Record<string, string>>, string[], RegExp]>([
  ['an unknown path', {}, ['--recipe', './none.ts'], /recipe\.path: .*none\.ts.*Expected the path of/],
  ['a configuration without Workers', { 'wrangler.toml': 'name = "x"\n' }, [], /mesh\.config: .*gateway/],
])('start with %s says so and writes nothing', async (_, files, args, said) => {
  const folder = folderOf(files);
  const ended = await called(folder, 'start', '--rounds', '1', '--port', '0', ...args);
  expect(ended.code).toBe(1);
  expect(ended.said).toMatch(said);
  expect(readdirSync(folder).sort()).toEqual(Object.keys(files).sort());
});

test('a new project: every file, under the name of its folder', async () => {
  const folder = join(root, 'short-sums');
  const written = writeProject(folder);
  expect(
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
  ).toHaveLength(written.length);
  expect(written).toEqual(
    expect.arrayContaining([
      '.gitignore',
      'README.md',
      'recipe.test.ts',
      'recipe.ts',
      'tasks.ts',
      'wrangler.toml',
    ]),
  );
  for (const file of written) expect(readFileSync(join(folder, file), 'utf8'), file).not.toContain('my-run');
  expect(readFileSync(join(folder, 'recipe.ts'), 'utf8')).toContain("name: 'short-sums'");
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const {
    rollmesh,
    'rollmesh-onnxruntime': onnxruntime,
    ...others
  } = { ...dependencies, ...devDependencies };
  for (const version of Object.values(others)) expect(version).toMatch(/^\^?\d/);
  // No release is on the registry for a clone: it depends on the package that `npm pack` makes of it.
  const versionIn = (folder: string) =>
    (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
  expect(rollmesh).toBe(`file:rollmesh-${versionIn('.')}.tgz`);
  expect(onnxruntime).toBe(`file:rollmesh-onnxruntime-${versionIn('infer/onnxruntime')}.tgz`);
  const { mains, workers } = await readMeshConfig(folder);
  expect(mains).toEqual(
    Object.fromEntries([
      ...WORKER_NAMES.map((env) => [env, join(folder, `workers/${env}.ts`)]),
      ['environment', moduleFile('workers/environment/index')],
    ]),
  );
  expect(workers.gateway.assets?.directory).toBe(installed('web/dashboard'));
  for (const env of WORKER_NAMES)
    expect(workers[env].d1_databases[0]).toMatchObject({
      migrations_dir: 'node_modules/rollmesh/migrations',
    });
});

test('a project with a world: its recipe begins, and a recipe that needs more is refused before anything is written', async () => {
  const folder = join(root, 'their-products');
  const written = writeProject(folder, 'world');
  expect(written).toEqual(
    expect.arrayContaining(['.gitignore', 'package.json', 'world.test.ts', 'world.ts']),
  );
  const list = await called(folder, 'recipe', 'list', '--for', './world.ts');
  expect(list.out).toMatch(/^dapo .*\n +runs on \.\/world\.ts/m);
  const refused = await called(folder, 'start', '--recipe', 'trio', '--world', './world.ts', '--in-process');
  expect(refused).toMatchObject({
    code: 1,
    said: expect.stringMatching(/Recipe trio needs the verbs propose, verify, and the world their-products/),
  });
  expect(readdirSync(folder)).toHaveLength(written.length);
});

test('a package that was installed from a file says so, and one from a registry or a clone does not', () => {
  const lock = (resolved: string) =>
    JSON.stringify({ packages: { 'node_modules/rollmesh': { version: '0.1.0', resolved } } });
  const file = '.package-lock.json';
  const fromFile = folderOf({ [file]: lock('file:../packed/rollmesh-0.1.0.tgz') });
  expect(installedFrom(join(fromFile, 'rollmesh'))).toBe(
    `file:${join(dirname(dirname(fromFile)), 'packed/rollmesh-0.1.0.tgz')}`,
  );
  const fromRegistry = folderOf({ [file]: lock('https://example.com/rollmesh-0.1.0.tgz') });
  expect(installedFrom(join(fromRegistry, 'rollmesh'))).toBeNull();
  expect(installedFrom(join(folderOf({}), 'rollmesh'))).toBeNull();
});

test('a project is not written into a folder that holds something, or under a name that no recipe can have', () => {
  const folder = folderOf({ 'notes.txt': 'keep' });
  expect(() => writeProject(folder)).toThrow(/init|not empty/);
  expect(readdirSync(folder)).toEqual(['notes.txt']);
  expect(() => writeProject(join(root, 'My Run'))).toThrow(/"My Run" cannot be the name/);
  expect(readdirSync(root)).not.toContain('My Run');
});

const config = projectFiles('x').get('wrangler.toml')!;
test.each<[string, string, RegExp]>([
  [
    'a field that wrangler does not know',
    config.replace('[env.judge]\nmain', '[env.judge]\nmian'),
    /`env\.judge\.mian`/,
  ],
  ['a top field that it does not know', `compat_date = "x"\n${config}`, /`compat_date`/],
  [
    'no main',
    config.replace('[env.judge]\nmain = "workers/judge.ts"', '[env.judge]'),
    /no module for the Worker judge/,
  ],
  [
    'a binding of another name',
    config.replaceAll('binding = "SCORED"', 'binding = "SCORE"'),
    /gives the Worker gateway no SCORED/,
  ],
  [
    'a variable less',
    config.replaceAll('RETRY_SECONDS = "10", ', ''),
    /gives the Worker proposer no RETRY_SECONDS/,
  ],
  ['a Worker less', config.slice(0, config.indexOf('[env.judge]')), /cannot be used: .*"judge"/],
  ['no TOML', `${config}\n[[[`, /cannot be used/],
])('a configuration with %s is told by the field', async (_, text, said) => {
  const folder = folderOf({ 'wrangler.toml': text });
  await expect(readMeshConfig(folder)).rejects.toThrow(said);
  await expect(readMeshConfig(folder)).rejects.toThrow(/Correct the file/);
});

test('a folder without a configuration has the package’s', async () => {
  expect((await readMeshConfig(folderOf({}))).file).toBe(installed('wrangler.toml'));
});

test('the program runs from its sources in a clone, whatever npm installed, and says how a command is called', () => {
  const said = execFileSync('node_modules/.bin/rollmesh', ['recipe', 'list', '--help'], { encoding: 'utf8' });
  expect(said).toMatch(/^Usage: npx rollmesh recipe list/);
});
