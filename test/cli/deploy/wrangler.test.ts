/** The edges of a deployment: the process that wrangler is, what wrangler.toml says, and the tag of what is deployed. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { DeployFiles } from '../../../cli/deploy/deploy-files.ts';
import { tagOf, workerTag } from '../../../cli/deploy/fingerprint.ts';
import { readWanted } from '../../../cli/deploy/wanted.ts';
import {
  jsonIn,
  must,
  unlessMissing,
  wranglerFailure,
  wranglerProcess,
} from '../../../cli/deploy/wrangler.ts';
import { deployOrder } from '../../../core/round/stages.ts';
import { WANTED } from './deployed-mesh.ts';

const ECHO = `
let stdin = '';
process.stdin.on('data', (text) => { stdin += text; }).on('end', () => {
  const { CLOUDFLARE_ACCOUNT_ID: account, CI: ci } = process.env;
  process.stderr.write('\\u001b[31mred\\u001b[0m');
  process.stdout.write(JSON.stringify({ args: process.argv.slice(2), stdin, account, ci }));
  process.exitCode = 7;
});`;

test('a wrangler process gets arguments, input and account, and its answer comes back without colours', async () => {
  const script = join(mkdtempSync(join(tmpdir(), 'rollmesh-')), 'echo.mjs');
  writeFileSync(script, ECHO);
  const run = wranglerProcess([process.execPath, script], '.')('a1');
  const { code, stdout, stderr } = await run(['secret', 'bulk', 'it’s "quoted"'], '{"A":"b"}');
  expect(code).toBe(7);
  expect(stderr).toBe('red');
  expect(JSON.parse(stdout)).toEqual({
    args: ['secret', 'bulk', 'it’s "quoted"'],
    stdin: '{"A":"b"}',
    account: 'a1',
    ci: '1',
  });
});

test('failures are told apart by what wrangler says', () => {
  const said = (stderr: string) => wranglerFailure(['d1', 'list'], { code: 1, stdout: '', stderr });
  expect(said('✘ [ERROR] fetch failed')).toMatchObject({ code: 'deploy.offline', kind: 'retry' });
  expect(said('✘ [ERROR] Authentication error [code: 10000]')).toMatchObject({
    code: 'deploy.login',
    message: expect.stringContaining('`wrangler d1 list`: Authentication error'),
  });
  expect(
    said('\n✘ [ERROR] Out of databases.\n\n  Ask for more.\n\n🪵  Logs were written to "/x"\n').message,
  ).toMatch(/`wrangler d1 list` failed \(exit status 1\): Out of databases\. Ask for more\. Mend that/);
});

test('a thing that is missing is null, every other failure is thrown', async () => {
  const run = async (args: readonly string[]) => ({ code: 1, stdout: '', stderr: `no such ${args[0]}` });
  expect(await unlessMissing(run, ['queue'], /no such queue/)).toBeNull();
  await expect(unlessMissing(run, ['bucket'], /no such queue/)).rejects.toMatchObject({
    code: 'deploy.wrangler',
  });
  await expect(must(run, ['queue'])).rejects.toMatchObject({ code: 'deploy.wrangler' });
});

test('JSON is found behind a banner; its lack is told', () => {
  expect(jsonIn([], ' ⛅️ wrangler 4.86.0\n────\n[\n  { "a": 1 }\n]\n')).toEqual([{ a: 1 }]);
  expect(() => jsonIn(['d1', 'list'], 'Hello')).toThrow(/`wrangler d1 list` printed no JSON/);
});

test('wrangler.toml and migrations/ say what a mesh consists of', async () => {
  const { mains, migrations, ...rest } = await readWanted(resolve('.'));
  const { mains: _, migrations: __, ...expected } = WANTED;
  expect(rest).toEqual(expected);
  expect(migrations[0]).toBe('0000_schema.sql');
  for (const environment of deployOrder(mains))
    expect(mains[environment]).toBe(resolve(`workers/${environment}/index.ts`));
});

test('a mesh has the environment Worker where wrangler.toml names an environment that Cloudflare can reach', async () => {
  const root = mkdtempSync(join(tmpdir(), 'rollmesh-'));
  const wanted = (url: string) => {
    const original = readFileSync('wrangler.toml', 'utf8').replace(
      '"web/dashboard"',
      JSON.stringify(resolve('web/dashboard')),
    );
    writeFileSync(
      join(root, 'wrangler.toml'),
      original.replace('ENVIRONMENT_URL = ""', `ENVIRONMENT_URL = ${JSON.stringify(url)}`),
    );
    return readWanted(root);
  };
  const { queues, workers } = await wanted('https://environments.example');
  expect(queues).toEqual(WANTED.queues);
  expect(workers).toEqual({ ...WANTED.workers, environment: 'rollmesh-environment' });
  for (const url of [
    ...['http://localhost:8080', 'http://127.0.0.1:8080', 'http://10.1.2.3', 'https://172.31.0.1'],
    ...[
      'http://192.168.1.7',
      'http://169.254.1.1',
      'http://[::1]:80',
      'http://[fd00::1]',
      'http://trainer:8080',
    ],
    ...['https://printer.local.', 'environments.example', 'ftp://environments.example'],
  ])
    await expect(wanted(url), url).rejects.toMatchObject({
      code: 'deploy.environment',
      message: expect.stringContaining(url),
    });
  for (const url of ['https://172.32.0.1', 'http://8.8.8.8', 'https://[2606:4700::1111]'])
    expect((await wanted(url)).workers.environment, url).toBe('rollmesh-environment');
});

test('a project on files of tasks is told how to deploy its recipe', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-'));
  await expect(readWanted(folder)).rejects.toMatchObject({ code: 'deploy.config' });
  writeFileSync(join(folder, 'rollmesh.config.ts.bak'), 'export default {};');
  await expect(readWanted(folder)).rejects.toMatchObject({ code: 'deploy.config' });
  const other = mkdtempSync(join(tmpdir(), 'rollmesh-'));
  mkdirSync(join(other, '.config'));
  writeFileSync(join(other, '.config/rollmesh.json'), '{}');
  await expect(readWanted(other)).rejects.toThrow(
    /The project of \.config\/rollmesh\.json has no wrangler\.toml/,
  );
  writeFileSync(join(folder, 'rollmesh.config.ts'), 'export default {};');
  await expect(readWanted(folder)).rejects.toThrow(
    /The project of rollmesh\.config\.ts has no wrangler\.toml.*rollmesh init DIR.*--recipe .*NAME\.mjs/,
  );
});

test('recipes that are named at a deployment come with entry points of their own, and change nothing else', () => {
  const root = mkdtempSync(join(tmpdir(), 'rollmesh-'));
  const original = readFileSync('wrangler.toml', 'utf8');
  writeFileSync(join(root, 'wrangler.toml'), original);
  const config = new DeployFiles(root, {}, ['/elsewhere/mine.mjs']).configFor('an-id').split('\n').slice(1);
  const differing = original.split('\n').flatMap((line, i) => (line === config[i] ? [] : [config[i]]));
  expect(differing.filter((line) => !line!.includes('an-id'))).toEqual(
    ['gateway', 'proposer', 'rollout', 'judge'].map((worker) => `main = ".deploy/workers/${worker}.mjs"`),
  );
  expect(new DeployFiles(root, {}).writeWorker('judge')).toBeUndefined();
  writeFileSync(join(root, 'wrangler.toml'), original.replace('main = "workers/rollout/index.ts"', ''));
  expect(() => new DeployFiles(root, {}, ['/elsewhere/mine.mjs']).configFor('an-id')).toThrow(
    /no line main = "…" in \[env\.rollout\]/,
  );
});

test('a tag depends on every name and content, and on no order', () => {
  const tag = tagOf({ a: '1', b: new Uint8Array([50]) });
  expect(tag).toMatch(/^rm-[0-9a-f]{16}$/);
  expect(tagOf({ b: '2', a: '1' })).toBe(tag);
  const others = [{ a: '12', b: '' }, { a: '', b: '12' }, { a: '1', c: '2' }, { a: '1' }, { a1: '', b: '2' }];
  expect(new Set([tag, ...others.map((parts) => tagOf(parts as Record<string, string>))]).size).toBe(6);
});

test('the tag of a Worker is the same twice, and another with another configuration', async () => {
  const main = resolve('workers/gateway/index.ts');
  const tag = (config: string) => workerTag(resolve('.'), 'gateway', main, config);
  expect(await tag('x')).toBe(await tag('x'));
  expect(await tag('y')).not.toBe(await tag('x'));
});
