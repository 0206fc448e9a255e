/** Reads what a deployed mesh must consist of from a project's wrangler.toml and the migrations that come with the program. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import { isPrivateHost } from '../../core/net/private-host.ts';
import { type ByWorker, deployOrder, ENVIRONMENT_WORKER, EPISODE_QUEUE } from '../../core/round/stages.ts';
import { installed } from '../../local/mesh/installation.ts';
import { environmentUrl, readMeshConfig } from '../../local/mesh/mesh-config.ts';
import { configurationsIn } from '../run-config-file.ts';
import type { Wanted } from './mesh-parts.ts';

/** The part of wrangler's configuration of one Worker that a deployment needs. */
const workerConfig = v.object({
  name: v.string(),
  main: v.string(),
  d1_databases: v.array(v.object({ database_name: v.optional(v.string()) })),
  r2_buckets: v.array(v.object({ bucket_name: v.optional(v.string()) })),
  queues: v.object({
    producers: v.optional(v.array(v.object({ queue: v.string() })), []),
    consumers: v.optional(
      v.array(v.object({ queue: v.string(), dead_letter_queue: v.optional(v.string()) })),
      [],
    ),
  }),
});

const onlyOne = (what: string, names: Iterable<string | undefined>): string => {
  const [first, ...others] = new Set(names);
  if (first !== undefined && others.length === 0) return first;
  throw new RollmeshError('wrong-input', 'deploy.config', `wrangler.toml must name exactly one ${what}.`, {
    expected: `one, got ${[first, ...others].filter(Boolean).join(', ') || 'none'}`,
    next: 'Mend wrangler.toml.',
  });
};

/** Throws `deploy.environment` where a Worker on Cloudflare cannot reach the environment. */
function expectReachable(url: string): void {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && !isPrivateHost(new URL(url).hostname))
    return;
  throw new RollmeshError(
    'wrong-input',
    'deploy.environment',
    `A Worker on Cloudflare cannot reach the environment ${JSON.stringify(url)}, which ENVIRONMENT_URL in wrangler.toml names.`,
    {
      expected: 'an address on the internet, as in https://environments.example',
      next: 'Name another, or leave ENVIRONMENT_URL empty and play this one by `rollmesh environment play URL RUN` on a machine that reaches it (docs/environments.md).',
    },
  );
}

/** Reads the wanted state. Throws `deploy.config` or `mesh.config` where wrangler.toml does not describe one mesh. */
export async function readWanted(root: string): Promise<Wanted> {
  if (!existsSync(join(root, 'wrangler.toml'))) {
    const [config] = configurationsIn(root);
    if (config !== undefined)
      throw new RollmeshError(
        'wrong-input',
        'deploy.tasks',
        `The project of ${config} has no wrangler.toml, which names the Workers, the database and the bucket of a mesh.`,
        {
          expected: 'a project with wrangler.toml',
          next: `Start the run here once with \`npx rollmesh start\`, which writes its recipe, tasks included, as a module under .rollmesh/recipes. Then write a project with \`rollmesh init DIR\`, and deploy there with --recipe ${join(root, '.rollmesh/recipes')}/NAME.mjs (docs/deploy.md).`,
        },
      );
    throw new RollmeshError('wrong-input', 'deploy.config', `There is no wrangler.toml in ${root}.`, {
      expected: 'the folder of a project',
      next: 'Go there, or write a new project with `rollmesh init`.',
    });
  }
  const config = await readMeshConfig(root);
  const environment = environmentUrl(config);
  if (environment !== undefined) expectReachable(environment);
  const parsed = deployOrder(config.workers).map(
    (env) => [env, v.parse(workerConfig, config.workers[env])] as const,
  );
  const configs = parsed.map(([, one]) => one);
  const produced = configs.flatMap(({ queues }) => queues.producers.map(({ queue }) => queue));
  const consumers = configs.flatMap(({ queues }) => queues.consumers);
  const consumed = consumers.map(({ queue }) => queue);
  const deployed = parsed.filter(([env]) => env !== ENVIRONMENT_WORKER || environment !== undefined);
  const byWorker = (of: (one: (typeof configs)[number]) => string) =>
    Object.fromEntries(deployed.map(([env, one]) => [env, of(one)])) as unknown as ByWorker<string>;
  return {
    database: onlyOne(
      'D1 database',
      configs.flatMap((c) => c.d1_databases.map((db) => db.database_name)),
    ),
    bucket: onlyOne(
      'R2 bucket',
      configs.flatMap((c) => c.r2_buckets.map((bucket) => bucket.bucket_name)),
    ),
    queues: [...new Set([...produced, ...consumed])].sort(),
    pullQueue: onlyOne(
      'queue without a consumer',
      // A project may name the queue of episodes without the Worker that works it off.
      produced.filter((queue) => !consumed.includes(queue) && queue !== EPISODE_QUEUE),
    ),
    deadLetters: onlyOne(
      'dead-letter queue',
      consumers.flatMap((consumer) => consumer.dead_letter_queue ?? []),
    ),
    migrations: readdirSync(installed('migrations'))
      .filter((name) => name.endsWith('.sql'))
      .sort(),
    workers: byWorker((c) => c.name),
    mains: byWorker((c) => c.main),
  };
}
