import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withConfig } from '../../cli/run-config-file.ts';
import { startCommand } from '../../cli/shared/run-options.ts';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-config-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const write = (name: string, text: string) => {
  const path = join(root, name);
  writeFileSync(path, text);
  return path;
};

test('the flags of a configuration come first, so that the command line has the last word', async () => {
  const path = write(
    'own.config.ts',
    `const rounds: number = 7;
     export default { recipe: 'ttrl', rounds, tasks: 4, files: ['a.jsonl'], freeze: ['judge'] };`,
  );
  const args = await withConfig(['--config', path, '--rounds', '3', '--headless']);
  const options = startCommand().parse(args, { from: 'user' }).opts();
  expect(options).toMatchObject({
    recipe: 'ttrl',
    rounds: 3,
    tasks: ['a.jsonl'],
    tasksPerRound: 4,
    freeze: ['judge'],
    headless: true,
  });
  const other = await withConfig([`--config=${path}`, '--tasks', 'b.jsonl']);
  expect(startCommand().parse(other, { from: 'user' }).opts()).toMatchObject({
    tasks: ['b.jsonl'],
    tasksPerRound: 4,
  });
});

test('what is wrong with a configuration is told', async () => {
  await expect(withConfig(['--config', join(root, 'none.ts')])).rejects.toThrow(
    /There is no configuration .*none\.ts/,
  );
  await expect(withConfig(['--config'])).rejects.toThrow(/names no file/);
  const broken = write('broken.config.ts', 'throw new Error("not yet");');
  await expect(withConfig(['--config', broken])).rejects.toThrow(/cannot be loaded: not yet/);
  const unknown = write('unknown.config.ts', 'export default { recepi: "ttrl" };');
  await expect(withConfig(['--config', unknown])).rejects.toThrow(
    /unknown field "recepi"\. Expected recipe, perhaps/,
  );
  expect(await withConfig(['--rounds', '2'])).toEqual(['--rounds', '2']);
});

test('a configuration may be written as JSON, YAML or TOML', async () => {
  const flags = ['--recipe=ttrl', '--rounds=7', '--set=optimizer.learningRate=0.00003'];
  const texts = {
    json: '{ "recipe": "ttrl", "rounds": 7, "settings": { "optimizer": { "learningRate": 0.00003 } } }',
    yaml: 'recipe: ttrl\nrounds: 7\nsettings:\n  optimizer: { learningRate: 0.00003 }\n',
    toml: 'recipe = "ttrl"\nrounds = 7\n[settings.optimizer]\nlearningRate = 0.00003\n',
  };
  for (const [kind, text] of Object.entries(texts))
    expect(await withConfig(['--config', write(`own.config.${kind}`, text)])).toEqual(flags);
});

/** A folder with these files, in which the test goes on. */
async function inFolder(
  files: Readonly<Record<string, string>>,
  work: () => Promise<unknown>,
): Promise<void> {
  const folder = mkdtempSync(join(root, 'folder-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const here = process.cwd();
  process.chdir(folder);
  try {
    await work();
  } finally {
    process.chdir(here);
  }
}

const PROGRAM = resolve('cli/rollmesh.ts');
/** What `rollmesh start` says on standard error. */
const start = (args: readonly string[] = [], flags: readonly string[] = []) =>
  new Promise<string>((done) => {
    const all = [...NODE_FLAGS, ...flags, PROGRAM, 'start', '--port', '0', ...args];
    execFile(process.execPath, all, (_, __, stderr) => done(stderr));
  });

test('a process of its own reads every kind', async () => {
  const texts = {
    'rollmesh.config.ts': 'const recipe: string = "none-such"; export default { recipe };',
    'rollmesh.config.mjs': 'export default { recipe: "none-such" };',
    'rollmesh.config.json': '{ "recipe": "none-such" }',
    'rollmesh.config.toml': 'recipe = "none-such"',
    '.config/rollmesh.yaml': 'recipe: none-such',
  };
  for (const [name, text] of Object.entries(texts))
    await inFolder({ [name]: text }, async () => {
      expect(await start()).toMatch(
        new RegExp(`^Settings of ${name}: --recipe=none-such\n[\\s\\S]*There is no recipe "none-such"`),
      );
    });
});

test('of two configurations none is taken, and a named one has to be there', async () => {
  const [one, other] = ['export default { rounds: 1 };', 'export default { rounds: 2 };'];
  await inFolder({ 'rollmesh.config.js': one, 'rollmesh.config.ts': other }, async () => {
    await expect(withConfig([])).rejects.toThrow(/rollmesh\.config\.ts and rollmesh\.config\.js/);
    expect(await withConfig(['--config', 'rollmesh.config.js'])).toEqual(['--rounds=1']);
  });
  await inFolder({ 'rollmesh.config.yaml': 'rounds: 1', '.config/rollmesh.toml': 'rounds = 2' }, () =>
    expect(withConfig([])).rejects.toThrow(/rollmesh\.config\.yaml and \.config\/rollmesh\.toml/),
  );
  await inFolder({ '.config/x.ts': one, 'x.ts/index.ts': one.replace('1', '3') }, async () => {
    await expect(withConfig(['--config', 'y.ts'])).rejects.toThrow('There is no configuration y.ts');
    await expect(withConfig(['--config', 'x'])).rejects.toThrow('There is no configuration x.');
    await expect(withConfig(['--config', 'x.ts'])).rejects.toThrow('There is no configuration x.ts');
  });
});

test.each([
  ['function.mjs', 'export default () => ({ rounds: 1 });', /function\.mjs: it is Function/],
  ['meta.mjs', 'export default { $meta: { name: "x" } };', /meta\.mjs has an unknown field "\$meta"/],
  ['meta.json', '{ "$meta": {} }', /meta\.json has an unknown field "\$meta"/],
  ['meta.yaml', 'rounds: 1\n$meta: {}\n', /meta\.yaml cannot be loaded: \$meta/],
  ['meta.toml', 'rounds = 1\n["$meta"]\n', /meta\.toml cannot be loaded: \$meta/],
  ['empty.mjs', '', /empty\.mjs cannot be loaded: it has no default export/],
  ['empty.json', '\n', /empty\.json cannot be loaded: it is empty/],
  ['empty.yaml', '---\n# rounds: 1\n', /empty\.yaml cannot be loaded: it is empty/],
  ['empty.toml', '# rounds = 1\n', /empty\.toml cannot be loaded: it is empty/],
  ['text.yaml', 'rounds\n', /text\.yaml: it is "rounds"/],
  ['broken.json', '{ rounds: 1 }', /broken\.json cannot be loaded: .*JSON/],
])('%s is refused by its name', async (name, text, told) => {
  await expect(withConfig(['--config', write(name, text)])).rejects.toThrow(told);
});

test('only YAML and TOML need the optional package c12, which is named where it is missing', async () => {
  const hook = `import { registerHooks } from 'node:module';
    const missing = () => Object.assign(new Error("Cannot find package 'c12'"), { code: 'ERR_MODULE_NOT_FOUND' });
    registerHooks({ resolve(name, context, next) { if (name === 'c12') throw missing(); return next(name, context); } });`;
  const without = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
  const refused = /There is no recipe "none-such"/;
  await inFolder({}, async () => {
    expect(await start(['--recipe', 'none-such'], without)).toMatch(refused);
  });
  await inFolder({ 'rollmesh.config.ts': 'export default { recipe: "none-such" };' }, async () => {
    expect(await start([], without)).toMatch(refused);
  });
  await inFolder({ 'rollmesh.config.yaml': 'recipe: none-such' }, async () => {
    expect(await start([], without)).toMatch(/c12[\s\S]*--omit=optional/);
  });
});

test('settings come from one file alone', async () => {
  const folder = mkdtempSync(join(root, 'project-'));
  const here = process.cwd();
  try {
    process.chdir(folder);
    for (const [name, text] of [
      ['.rollmeshrc', 'rounds=9'],
      ['.env', 'ROLLMESH_ROUNDS=9'],
      ['package.json', '{ "rollmesh": { "rounds": 9 } }'],
      ['base.config.ts', 'export default { rounds: 9 };'],
      ['rollmesh.config.ts', 'export default { recipe: "ttrl" };'],
    ] as const)
      writeFileSync(join(folder, name), text);
    expect(await withConfig([])).toEqual(['--recipe=ttrl']);
    for (const layered of [
      'extends: "./base.config.ts"',
      '$test: { rounds: 9 }',
      '$env: {}',
      'rounds: null',
    ]) {
      const path = write(`${layered.length}.config.ts`, `export default { recipe: "ttrl", ${layered} };`);
      await expect(withConfig(['--config', path])).rejects.toThrow(/extends|\$test|\$env|rounds/);
    }
  } finally {
    process.chdir(here);
  }
});
