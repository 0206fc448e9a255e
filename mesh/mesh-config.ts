/**
 * Reads the configuration of a mesh through wrangler and checks it before anything is started or written. It is the wrangler.toml of the
 * user's folder, or the one that comes with the program if the folder has none.
 */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { WorkerOptions } from 'miniflare';
import { wrongInput } from '../core/errors.ts';
import type { WorkerName } from '../core/stages.ts';
import { installed, moduleFile } from './installation.ts';
import { type Config, type Environment, readEnvironments } from './wrangler-config.ts';

const FILE = 'wrangler.toml';
const PACKAGE = 'node_modules/rollmesh/';

export interface MeshConfig {
  /** Absolute path of wrangler.toml. */
  readonly file: string;
  readonly workers: Readonly<Record<WorkerName, Config>>;
  /** What Miniflare is told of each Worker, without its modules. */
  readonly options: Readonly<Record<WorkerName, WorkerOptions>>;
  /** Absolute path of each Worker's entry point. */
  readonly mains: Readonly<Record<WorkerName, string>>;
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
};

/** Reads wrangler.toml. Throws `wrong-input` with the code `mesh.config` if it does not describe a mesh; the message names the field. */
export async function readMeshConfig(root: string): Promise<MeshConfig> {
  const own = resolve(root, FILE);
  const file = existsSync(own) ? own : installed(FILE);
  const read = await readEnvironments(file).catch((cause: unknown) => {
    // An installation without wrangler says nothing about the file.
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    throw missing ? cause : refusal(file, cause);
  });
  const environments = byEnvironment((env) => checked(file, env, read[env]));
  const mains = byEnvironment((env) =>
    file === installed(FILE) ? moduleFile(`workers/${env}/index`) : environments[env].config.main!,
  );
  return {
    file,
    workers: byEnvironment((env) => environments[env].config),
    options: byEnvironment((env) => environments[env].options),
    mains,
  };
}

const byEnvironment = <T>(of: (env: WorkerName) => T): Record<WorkerName, T> => ({
  gateway: of('gateway'),
  proposer: of('proposer'),
  rollout: of('rollout'),
  judge: of('judge'),
});

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
    config.assets?.binding,
    ...Object.keys(config.vars),
  ]);

const wrong = (file: string, what: string, expected?: string, cause?: unknown) =>
  wrongInput('mesh.config', `The configuration ${file} ${what}.`, {
    ...(expected === undefined ? {} : { expected }),
    next: 'Correct the file; nothing was started.',
    cause,
  });
