import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withConfig } from '../../cli/run-config-file.ts';
import { startCommand } from '../../cli/shared/run-options.ts';

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
    tasks: { count: 4, files: ['a.jsonl'] },
    freeze: ['judge'],
    headless: true,
  });
  const other = await withConfig([`--config=${path}`, '--tasks', 'b.jsonl']);
  expect(startCommand().parse(other, { from: 'user' }).opts().tasks).toEqual({
    count: 4,
    files: ['b.jsonl'],
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
