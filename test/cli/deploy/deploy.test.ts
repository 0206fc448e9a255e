/** Deployments against the stand-in of wrangler: from nothing, again, from anything in between, and what must never happen. */
import { createHmac } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { DeployedMesh, WANTED } from './deployed-mesh.ts';

const FIRST = [
  'database rollmesh',
  'bucket rollmesh',
  'queue rollmesh-dlq',
  'queue rollmesh-episode',
  'queue rollmesh-judge',
  'queue rollmesh-propose',
  'queue rollmesh-rollout',
  'queue rollmesh-scored',
  'pull rollmesh-scored',
  'migrate rollmesh',
  'secrets judge MESH_KEY',
  'secrets gateway WEBHOOK_SECRET LEARNER_TOKEN',
  'worker judge',
  'worker rollout',
  'worker proposer',
  'worker gateway',
];
const URL = 'https://rollmesh-gateway.acme.workers.dev';

test('the first deployment makes everything, in an order in which nothing is missing', async () => {
  const mesh = new DeployedMesh();
  await mesh.run();
  expect(mesh.wrangler.changes).toEqual(FIRST);
  expect(mesh.seeded).toBe(1);
  expect(mesh.wrangler.queues.get('rollmesh-scored')?.pull).toEqual({
    type: 'http_pull',
    dead_letter_queue: 'rollmesh-dlq',
    settings: { max_retries: 10, visibility_timeout_ms: 600_000 },
  });
  expect(mesh.secret('judge', 'MESH_KEY')).toMatch(/^[0-9a-f]{64}$/);
  // Only who seals has the key: not the Worker that faces the internet.
  const holders = [...mesh.wrangler.workers].filter(([, { secrets }]) => secrets.has('MESH_KEY'));
  expect(holders.map(([worker]) => worker)).toEqual(['judge']);
  expect(new Set(mesh.secretValues).size).toBe(3);
  expect(mesh.wrangler.calls.slice(1).every(({ account }) => account === 'a1')).toBe(true);
});

test('it leaves the learner’s environment and the real database id, wrangler.toml stays as it is', async () => {
  const mesh = new DeployedMesh();
  const before = mesh.read('wrangler.toml');
  await mesh.run();
  expect({ ...parseEnv(mesh.read('.deploy/learner.env')) }).toEqual({
    ROLLMESH_URL: URL,
    LEARNER_TOKEN: mesh.secret('gateway', 'LEARNER_TOKEN'),
    MESH_KEY: mesh.secret('judge', 'MESH_KEY'),
    CLOUDFLARE_ACCOUNT_ID: 'a1',
    SCORED_QUEUE_ID: mesh.wrangler.queues.get('rollmesh-scored')?.id,
    QUEUE_TOKEN: '',
  });
  for (const file of ['.deploy/learner.env', '.deploy/secrets.env'])
    expect(statSync(join(mesh.root, file)).mode & 0o777).toBe(0o600);
  expect(mesh.read('wrangler.toml')).toBe(before);
  const id = mesh.wrangler.databases.get('rollmesh')!.id;
  expect(mesh.read('wrangler.deploy.toml').split(`database_id = "${id}"`)).toHaveLength(5);
  const said = mesh.said.join('\n');
  expect(said).toContain(`${URL}/hooks/rounds`);
  expect(said).toContain('npx rollmesh learner --env .deploy/learner.env');
  expect(said).toContain('QUEUE_TOKEN');
});

test('a second run changes nothing, there or here', async () => {
  const mesh = new DeployedMesh();
  await mesh.run();
  const kept = mesh.files
    .filter((file) => file.includes('.'))
    .map((file) => [file, statSync(join(mesh.root, file)).mtimeMs]);
  const { steps } = await mesh.run();
  expect(steps).toEqual([]);
  expect(mesh.wrangler.changes).toEqual(FIRST);
  expect(mesh.seeded).toBe(1);
  expect(kept.map(([file]) => [file, statSync(join(mesh.root, String(file))).mtimeMs])).toEqual(kept);
  expect(mesh.said).toContain('Nothing to change.');
});

test('what is there is kept, what is missing is made', async () => {
  const mesh = new DeployedMesh();
  await mesh.run();
  mesh.wrangler.queues.delete('rollmesh-propose');
  mesh.wrangler.buckets.clear();
  mesh.wrangler.workers.get('judge')!.secrets.clear();
  mesh.wrangler.workers.delete('rollout');
  mesh.wrangler.changes.length = 0;
  await mesh.run();
  expect(mesh.wrangler.changes).toEqual([
    'bucket rollmesh',
    'queue rollmesh-propose',
    'secrets judge MESH_KEY',
    'worker judge',
    'worker rollout',
  ]);
  expect(mesh.secret('judge', 'MESH_KEY')).toBe(parseEnv(mesh.read('.deploy/secrets.env')).MESH_KEY);
});

test.each(FIRST.map((what, i) => [what, i] as const))(
  'a failure at "%s" is told, and the next run goes on',
  async (what, i) => {
    const mesh = new DeployedMesh();
    mesh.wrangler.failures.set(i, 'The service is on fire. [code: 10013]');
    await expect(mesh.run()).rejects.toMatchObject({
      code: 'deploy.wrangler',
      message: expect.stringMatching(/on fire.*npx rollmesh deploy.*again/s),
    });
    expect(mesh.wrangler.changes).toEqual(FIRST.slice(0, i));
    await mesh.run();
    expect(mesh.wrangler.changes).toEqual(FIRST);
    expect(parseEnv(mesh.read('.deploy/secrets.env')).MESH_KEY).toBe(mesh.secret('judge', 'MESH_KEY'));
    expect((await mesh.run()).steps, what).toEqual([]);
  },
);

test('an upgrade: new migrations first, then only the Workers whose sources changed, consumers before producers', async () => {
  const mesh = new DeployedMesh();
  await mesh.run();
  mesh.wrangler.changes.length = 0;
  mesh.wanted = { ...WANTED, migrations: [...WANTED.migrations, '0002_new.sql'] };
  mesh.sources.gateway = '2';
  mesh.sources.rollout = '2';
  await mesh.run();
  expect(mesh.wrangler.changes).toEqual(['migrate rollmesh', 'worker rollout', 'worker gateway']);
});

test('a mesh that names an environment gets its Worker after the gateway, to which it is bound, with a token that the gateway knows', async () => {
  const mesh = new DeployedMesh();
  mesh.wanted = {
    ...WANTED,
    workers: { ...WANTED.workers, environment: 'rollmesh-environment' },
    mains: { ...WANTED.mains, environment: '' },
  };
  await mesh.run();
  const workers = FIRST.findIndex((step) => step.startsWith('worker'));
  expect(mesh.wrangler.changes).toEqual([
    ...FIRST.slice(0, workers),
    'secrets environment AGENTS_TOKEN',
    ...FIRST.slice(workers),
    'worker environment',
  ]);
  // By an implementation of HMAC that is not ours.
  const learnerToken = mesh.secret('gateway', 'LEARNER_TOKEN')!;
  expect(mesh.secret('environment', 'AGENTS_TOKEN')).toBe(
    createHmac('sha256', learnerToken).update('agents of every run').digest('hex'),
  );
  expect((await mesh.run()).steps).toEqual([]);
  mesh.sources.environment = '2';
  mesh.wrangler.changes.length = 0;
  await mesh.run();
  expect(mesh.wrangler.changes).toEqual(['worker environment']);
  // Where the learner's token is not known, the gateway would not know what is made here.
  mesh.wrangler.workers.delete('environment');
  const other = new DeployedMesh();
  Object.assign(other, { wrangler: mesh.wrangler, wanted: mesh.wanted });
  await expect(other.run()).rejects.toMatchObject({
    code: 'deploy.secret',
    message: expect.stringMatching(/environment lacks AGENTS_TOKEN, the gateway has LEARNER_TOKEN/),
  });
});

test('not logged in, offline: said so, with what to do', async () => {
  const mesh = new DeployedMesh();
  mesh.wrangler.loggedIn = false;
  await expect(mesh.run()).rejects.toMatchObject({
    code: 'deploy.login',
    message: expect.stringContaining('npx wrangler login'),
  });
  mesh.wrangler.online = false;
  await expect(mesh.run()).rejects.toMatchObject({ code: 'deploy.offline', kind: 'retry' });
  expect(mesh.files).toEqual(['wrangler.toml']);
});

test('the wrong account is refused, an open choice is put to the operator', async () => {
  const mesh = new DeployedMesh();
  mesh.wrangler.accounts.push({ id: 'b2', name: 'Other' });
  await expect(mesh.run()).rejects.toMatchObject({
    code: 'deploy.account',
    message: expect.stringContaining('a1 (Acme), b2 (Other)'),
  });
  await expect(mesh.run({ account: 'zz' })).rejects.toMatchObject({ code: 'deploy.account' });
  expect(mesh.wrangler.changes).toEqual([]);
  await mesh.run({ account: 'b2' });
  await expect(mesh.run({ account: 'a1' })).rejects.toMatchObject({
    code: 'deploy.account',
    message: expect.stringContaining('b2'),
  });
  // The folder remembers where its mesh lives.
  expect((await mesh.run()).steps).toEqual([]);
});

test('a dry run changes nothing, and blind it plans for an empty account', async () => {
  const mesh = new DeployedMesh();
  const whole = await mesh.run({ dryRun: true });
  expect(whole.steps).toHaveLength(FIRST.length + 1);
  // First what an owner asks first.
  const facts = mesh.said.slice(0, mesh.said.indexOf('The plan:')).join('\n');
  expect(facts).toMatch(
    /^Plan {3}Workers Paid, \$5 a month[\s\S]*^Price {2}.*\$0\.02 per million ms.*[\s\S]*^Reads {2}.*node-token create NAME --reader.*READ_TOKEN would open/m,
  );
  mesh.wrangler.loggedIn = false;
  expect((await mesh.run({ dryRun: true })).steps).toEqual(whole.steps);
  mesh.wrangler.online = false;
  expect((await mesh.run({ dryRun: true })).steps).toEqual(whole.steps);
  expect(mesh.said.join('\n')).toContain('Nothing could be read');
  expect(mesh.wrangler.changes).toEqual([]);
  expect(mesh.seeded).toBe(0);
  expect(mesh.files).toEqual(['wrangler.toml']);
});

test('no secret stands in a command line, in the output or in an error', async () => {
  const mesh = new DeployedMesh();
  const given = 'f00d'.repeat(16);
  mesh.wrangler.failures.set(10, `cannot store ${given}`);
  const error = await mesh.run({ env: { MESH_KEY: given } }).catch((thrown: Error) => thrown);
  expect(String(error)).toContain('cannot store …');
  await mesh.run();
  expect(mesh.secret('judge', 'MESH_KEY')).toBe(given);
  expect(mesh.secretValues).toHaveLength(3);
  const seen = [...mesh.wrangler.calls.flatMap(({ args }) => args), ...mesh.said, String(error)].join('\n');
  for (const value of mesh.secretValues) expect(seen).not.toContain(value);
});

test('a secret that another machine set is not overwritten, and not guessed', async () => {
  const mesh = new DeployedMesh();
  await mesh.run();
  const other = new DeployedMesh();
  Object.assign(other, { wrangler: mesh.wrangler });
  // As an earlier release left it: the gateway had the key as well.
  const { secrets } = mesh.wrangler.workers.get('gateway')!;
  secrets.set('MESH_KEY', mesh.secret('judge', 'MESH_KEY')!);
  expect((await mesh.run()).notes.join()).toMatch(/gateway still holds MESH_KEY.*secret delete MESH_KEY/);
  mesh.wrangler.workers.get('judge')!.secrets.clear();
  mesh.wrangler.changes.length = 0;
  await expect(other.run()).rejects.toMatchObject({
    code: 'deploy.secret',
    message: expect.stringMatching(/judge lacks MESH_KEY, the gateway has it/),
  });
  expect(mesh.wrangler.changes).toEqual([]);
  await mesh.run();
  // Deployed again, since new secrets make a version without a tag.
  expect(mesh.wrangler.changes).toEqual(['secrets judge MESH_KEY', 'worker judge']);
  secrets.delete('MESH_KEY');
  expect(await mesh.run()).toEqual({ steps: [], notes: [] });
});

test('a pull consumer with other settings is told and left alone', async () => {
  const mesh = new DeployedMesh();
  await mesh.run();
  mesh.wrangler.queues.get('rollmesh-scored')!.pull = {
    type: 'http_pull',
    settings: { max_retries: 3, visibility_timeout_ms: 30_000 },
  };
  const { steps, notes } = await mesh.run();
  expect(steps).toEqual([]);
  expect(notes.join()).toMatch(
    /30 s, 3 retries, dead letters to nowhere.*consumer http remove rollmesh-scored/,
  );
});

test('what the operator wrote into the learner’s environment stays', async () => {
  const mesh = new DeployedMesh();
  await mesh.run();
  const filled = mesh.read('.deploy/learner.env').replace('QUEUE_TOKEN=', 'QUEUE_TOKEN=mine');
  writeFileSync(join(mesh.root, '.deploy/learner.env'), filled);
  mesh.wrangler.workers.delete('gateway');
  mesh.said.length = 0;
  await mesh.run();
  expect(mesh.read('.deploy/learner.env')).toContain('QUEUE_TOKEN=mine\n');
  expect(mesh.said.join('\n')).not.toContain('still missing');
});

test('a gateway with a domain of its own: its address is named once, then known', async () => {
  const mesh = new DeployedMesh();
  await mesh.run({ env: { ROLLMESH_URL: 'https://mesh.example.org/' } });
  expect(mesh.read('.deploy/learner.env')).toContain('ROLLMESH_URL=https://mesh.example.org\n');
  mesh.said.length = 0;
  expect((await mesh.run()).steps).toEqual([]);
  expect(mesh.said.join('\n')).toContain('https://mesh.example.org/hooks/rounds');
});

test('where the gateway is up but its address is not known here, deploying it again tells the address', async () => {
  const mesh = new DeployedMesh();
  await mesh.run();
  const kept = mesh.read('.deploy/learner.env').replace(/ROLLMESH_URL=.*/, '');
  writeFileSync(join(mesh.root, '.deploy/learner.env'), kept);
  mesh.wrangler.changes.length = 0;
  await mesh.run();
  expect(mesh.wrangler.changes).toEqual(['worker gateway']);
  expect(mesh.read('.deploy/learner.env')).toContain(`ROLLMESH_URL=${URL}\n`);
});
