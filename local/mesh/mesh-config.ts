/**
 * Reads the configuration of a mesh through wrangler and checks it before anything is started or written. It is the wrangler.toml of the
 * user's folder, or the one that comes with the program if the folder has none.
 */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { WorkerOptions } from 'miniflare';
import { wrongInput } from '../../core/errors.ts';
import { type ByWorker, ENVIRONMENT_WORKER, type WorkerName } from '../../core/round/stages.ts';
import { installed, moduleFile } from './installation.ts';
import { type Config, type Environment, readEnvironments } from './wrangler-config.ts';

const FILE = 'wrangler.toml';
const PACKAGE = 'node_modules/rollmesh/';

/** The environment Worker is there where the configuration has one, whether or not it names an environment. */
export interface MeshConfig {
  /** Absolute path of wrangler.toml. */
  readonly file: string;
  readonly workers: ByWorker<Config>;
  /** What Miniflare is told of each Worker, without its modules. */
  readonly options: ByWorker<WorkerOptions>;
  /** Absolute path of each Worker's entry point. */
  readonly mains: ByWorker<string>;
}

/** The bindings and variables that each Worker reads. */
const NEEDED: Readonly<Record<WorkerName, readonly string[]>> = {
  gateway: [
    ...['DB', 'BUCKET', 'PROPOSE', 'ROLLOUT', 'JUDGE', 'SCORED', 'ASSETS', 'HOOK_LIMIT', 'READ_LIMIT'],
    ...['DEFAULT_START_POLICY', 'STALL_SECONDS', 'KEEP_VERSIONS', 'KEEP_WITHDRAWN_DAYS'],
  ],
  proposer: ['DB', 'BUCKET', 'ROLLOUT', 'PROPOSE', 'RETRY_SECONDS'],
  rollout: ['DB', 'BUCKET', 'JUDGE', 'ROLLOUT', 'RETRY_SECONDS'],
  judge: ['DB', 'BUCKET', 'SCORED', 'JUDGE', 'RETRY_SECONDS'],
  environment: ['GATEWAY', 'RETRY_SECONDS'],
};

/** The environment of somebody else that a mesh plays; undefined where it names none. Throws `mesh.config` where it names one and has no Worker for it. */
export function environmentUrl(
  { file, workers }: Pick<MeshConfig, 'file' | 'workers'>,
  vars: Readonly<Record<string, unknown>> = {},
): string | undefined {
  const url = String(vars.ENVIRONMENT_URL ?? workers.rollout.vars.ENVIRONMENT_URL ?? '');
  if (!url) return undefined;
  const missing = workers[ENVIRONMENT_WORKER]
    ? (workers.rollout.queues.producers ?? []).every(({ binding }) => binding !== 'EPISODE') &&
      'its rollout Worker no queue EPISODE'
    : `no Worker in [env.${ENVIRONMENT_WORKER}]`;
  if (!missing) return url;
  throw wrong(
    file,
    `is to play the environment ${url} and gives it ${missing}`,
    `both, as in ${installed(FILE)}`,
  );
}

/** Reads wrangler.toml. Throws `wrong-input` with the code `mesh.config` if it does not describe a mesh; the message names the field. */
export async function readMeshConfig(root: string): Promise<MeshConfig> {
  const own = resolve(root, FILE);
  const file = existsSync(own) ? own : installed(FILE);
  const read = await readEnvironments(file).catch((cause: unknown) => {
    // An installation without wrangler says nothing about the file.
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    throw missing ? cause : refusal(file, cause);
  });
  const environments = eachWorker(read, (environment, env) => checked(file, env, environment));
  const mains = eachWorker(environments, ({ config }, env) =>
    // The environment Worker knows no recipe: every mesh has the same.
    file === installed(FILE) || env === ENVIRONMENT_WORKER
      ? moduleFile(`workers/${env}/index`)
      : config.main!,
  );
  return {
    file,
    workers: eachWorker(environments, ({ config }) => config),
    options: eachWorker(environments, ({ options }) => options),
    mains,
  };
}

const eachWorker = <T, R>(workers: ByWorker<T>, of: (of: T, worker: WorkerName) => R): ByWorker<R> =>
  Object.fromEntries(
    Object.entries(workers).map(([worker, one]) => [worker, of(one as T, worker as WorkerName)]),
  ) as unknown as ByWorker<R>;

function checked(file: string, env: WorkerName, read: Environment): Omit<Environment, 'unknown'> {
  const { config, unknown, options } = read;
  const named = unknown.map((at) => `\`${at}\``);
  if (named.length) throw wrong(file, `has ${named.join(' and ')}, which wrangler does not know`);
  if (!config.main) throw wrong(file, `names no module for the Worker ${env}`, `\`main\` in [env.${env}]`);
  const has = bindingsOf(config);
  const missing = NEEDED[env].filter((name) => !has.has(name));
  if (missing.length)
    throw wrong(
      file,
      `gives the Worker ${env} no ${missing.join(', ')}`,
      `bindings and variables of these names in [env.${env}], as in ${installed(FILE)}`,
    );
  const { assets } = config;
  if (!assets?.directory) return { config, options };
  const directory = pathFrom(file, assets.directory);
  if (!existsSync(directory))
    throw wrong(
      file,
      `names a folder that does not exist: ${directory}`,
      `the page's files in [env.${env}].assets`,
    );
  return {
    config: { ...config, assets: { ...assets, directory } },
    options: { ...options, assets: { ...options.assets, directory } },
  };
}

/** Resolves a path of wrangler.toml. A path in `node_modules/rollmesh` means this installation, wherever npm has put it. */
const pathFrom = (file: string, path: string): string =>
  path.startsWith(PACKAGE) ? installed(path.slice(PACKAGE.length)) : resolve(dirname(file), path);

/** Wrangler's refusal of a file, in the words of the house. */
function refusal(file: string, cause: unknown): Error {
  const said = cause instanceof Error ? cause.message : String(cause);
  const lines = said
    .split('\n')
    .slice(1)
    .filter((line) => line.trim());
  const why = (lines.length ? lines : [said]).map((line) => line.trim().replace(/^- /, '')).slice(0, 3);
  return wrong(file, `cannot be used: ${why.join(' ').replace(/\.$/, '')}`, undefined, cause);
}

const bindingsOf = (config: Config): ReadonlySet<string | undefined> =>
  new Set([
    ...config.d1_databases.map(({ binding }) => binding),
    ...config.r2_buckets.map(({ binding }) => binding),
    ...(config.queues.producers ?? []).map(({ binding }) => binding),
    ...(config.ratelimits ?? []).map(({ name }) => name),
    ...(config.services ?? []).map(({ binding }) => binding),
    config.assets?.binding,
    ...Object.keys(config.vars),
  ]);

const wrong = (file: string, what: string, expected?: string, cause?: unknown) =>
  wrongInput('mesh.config', `The configuration ${file} ${what}.`, {
    ...(expected === undefined ? {} : { expected }),
    next: 'Correct the file; nothing was started.',
    cause,
  });
