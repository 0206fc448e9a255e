/** wrangler itself, offline: every environment of wrangler.toml bundles without a warning, and within its size. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { DEPLOY_CONFIG, DeployFiles } from '../../cli/deploy/deploy-files.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { ENVIRONMENT_WORKER, EPISODE_QUEUE, WORKER_NAMES } from '../../core/round/stages.ts';
import { MAX_DELIVERIES } from '../../workers/shared/consume.ts';

const out = mkdtempSync(join(tmpdir(), 'rollmesh-dry-run-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

/**
 * Uncompressed KiB. The runtime's wasm is 13.6 MiB of it, that of QuickJS 0.6, which the gateway does not have; the platform's bound is 64 MiB, the older one 10 MB compressed. Every Worker holds
 * every shipped recipe, some 10 KiB each, but for the environment Worker, which knows none. The gateway checks answers to the questions that every mesh serves, with decimals of a library of 125 KiB. The rollout Worker decodes images that its endpoints are sent, by 130 KiB.
 */
const BUDGET_KIB = { gateway: 2640, proposer: 17_200, rollout: 17_440, judge: 17_200, environment: 600 };
const NEVER = [/@tensorflow/, /learner\//, /mesh\//, /node_modules\/miniflare/];

const WRANGLER = 'node_modules/wrangler/bin/wrangler.js';

/** What a dry run says. */
async function dryRun(...options: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [WRANGLER, 'deploy', '--dry-run', ...options],
    { env: { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', CI: '1' } },
  );
  return `${stdout}\n${stderr}`;
}

/** What it bundles lies within its size, and holds nothing of the learner or of the local mesh. */
function expectLight(folder: string, worker: keyof typeof BUDGET_KIB): void {
  const files = readdirSync(folder).filter((name) => !name.endsWith('.map') && name !== 'README.md');
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  expect(bytes / 1024).toBeLessThan(BUDGET_KIB[worker]);
  const map = readdirSync(folder).find((name) => name.endsWith('.map'))!;
  const { sources } = JSON.parse(readFileSync(join(folder, map), 'utf8')) as { sources: string[] };
  for (const pattern of NEVER) expect(sources.filter((source) => pattern.test(source))).toEqual([]);
}

// `.env` names the gateway's environment, so that this is `--env gateway` as well.
test('no environment named: the gateway, and no warning either', async () => {
  const folder = join(out, 'gateway');
  const said = await dryRun('--outdir', folder);
  expect(said).not.toMatch(/warning|error|▲|✘/i);
  expect(said).toContain('env.ASSETS');
  // It is one Worker of four, and says which command is the whole mesh.
  expect(said).toMatch(/gateway alone, one Worker of four[\s\S]*npx rollmesh deploy/);
  expectLight(folder, 'gateway');
});

const others = [...WORKER_NAMES.filter((name) => name !== 'gateway'), ENVIRONMENT_WORKER] as const;
test.each(others)('%s', async (env) => {
  const folder = join(out, env);
  const said = await dryRun('--env', env, '--outdir', folder);
  expect(said).not.toMatch(/warning|error|▲|✘/i);
  expectLight(folder, env);
});

test('the judge with a recipe of a file of tasks and a reward module', async () => {
  const root = join(out, 'project');
  mkdirSync(root);
  const [tasks, reward] = [join(root, 'tasks.jsonl'), join(root, 'length.ts')];
  const rows = Array.from({ length: 20 }, (_, i) => ({ question: `A deployed question ${i}`, answer: i }));
  writeFileSync(tasks, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  writeFileSync(reward, 'export default ({ tokens }: { tokens: number }) => tokens / 4321;');
  const made = await taskRecipe({
    recipe: 'grpo',
    policy: 'mine',
    tasks: [tasks],
    heldOut: '0.2',
    checker: 'number',
    extract: ['whole'],
    set: [],
    reward: `checker=1,${reward}=0.5`,
  });
  writeFileSync(join(root, 'wrangler.toml'), readFileSync('wrangler.toml'));
  const files = new DeployFiles(root, {}, [await made!.write(join(root, 'recipes'))]);
  files.writeConfig('an-id');
  files.writeWorker('judge');
  const bundle = join(out, 'with-recipe');
  const said = await dryRun('--config', join(root, DEPLOY_CONFIG), '--env', 'judge', '--outdir', bundle);
  expect(said).not.toMatch(/warning|error|▲|✘/i);
  const code = readFileSync(join(bundle, 'judge.js'), 'utf8');
  expect(code).toContain('A deployed question 7');
  expect(code).toContain('4321');
  // Beside the shipped recipes.
  expect(code).toContain('Proposer, solver and judge co-trained on shared weights');
});

interface Config {
  readonly queues: {
    readonly consumers?: readonly { queue: string; max_retries?: number; dead_letter_queue?: string }[];
    readonly producers?: readonly { queue: string }[];
  };
  readonly d1_databases: readonly { database_id?: string }[];
  readonly r2_buckets: readonly { bucket_name?: string }[];
}

test('queues agree: deliveries, dead letters, one database and bucket, no consumer without a producer', () => {
  const configs: Config[] = WORKER_NAMES.map((env) =>
    readConfig({ config: 'wrangler.toml', env }, { hideWarnings: true }),
  );
  const consumers = configs
    .flatMap((config) => config.queues.consumers ?? [])
    .filter(({ queue }) => queue !== 'rollmesh-dlq');
  for (const consumer of consumers) {
    expect(consumer.max_retries).toBe(MAX_DELIVERIES - 1);
    expect(consumer.dead_letter_queue).toBe('rollmesh-dlq');
  }
  const produced = configs.flatMap((config) => (config.queues.producers ?? []).map(({ queue }) => queue));
  for (const { queue } of consumers) expect(produced).toContain(queue);
  // Its messages die of themselves: the clock has them sent again.
  const { queues } = readConfig({ config: 'wrangler.toml', env: ENVIRONMENT_WORKER }, { hideWarnings: true });
  expect(queues.consumers).toMatchObject([{ queue: EPISODE_QUEUE }]);
  expect(produced).toContain(EPISODE_QUEUE);
  const databases = configs.flatMap((config) => config.d1_databases.map((db) => db.database_id));
  const buckets = configs.flatMap((config) => config.r2_buckets.map((bucket) => bucket.bucket_name));
  expect(new Set(databases).size).toBe(1);
  expect(new Set(buckets).size).toBe(1);
});
