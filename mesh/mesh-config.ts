/**
 * Reads the configuration of a mesh through wrangler and checks it before anything is started or written. It is the wrangler.toml of the
 * user's folder, or the one that comes with the program if the folder has none.
 */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  unstable_readConfig as readConfig,
  experimental_readRawConfig as readRawConfig,
  type Unstable_Config as WranglerConfig,
} from 'wrangler';
import { wrongInput } from '../core/errors.ts';
import type { WorkerName } from '../core/stages.ts';
import { installed, moduleFile } from './installation.ts';

const FILE = 'wrangler.toml';
const PACKAGE = 'node_modules/rollmesh/';

export interface MeshConfig {
  /** Absolute path of wrangler.toml. */
  readonly file: string;
  readonly workers: Readonly<Record<WorkerName, WranglerConfig>>;
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
export function readMeshConfig(root: string): MeshConfig {
  const own = resolve(root, FILE);
  const file = existsSync(own) ? own : installed(FILE);
  const workers = byEnvironment((env) => readWorker(file, env));
  const mains = byEnvironment((env) =>
    file === installed(FILE) ? moduleFile(`workers/${env}/index`) : workers[env].main!,
  );
  return { file, workers, mains };
}

const byEnvironment = <T>(of: (env: WorkerName) => T): Record<WorkerName, T> => ({
  gateway: of('gateway'),
  proposer: of('proposer'),
  rollout: of('rollout'),
  judge: of('judge'),
});

function readWorker(file: string, env: WorkerName): WranglerConfig {
  const config = parse(file, env);
  const raw = readRawConfig({ config: file }).rawConfig;
  const known = new Set([...Object.keys(config), 'env', '$schema']);
  const fields = [
    ...Object.keys(raw).map((field) => ({ field, at: field })),
    ...Object.keys(raw.env?.[env] ?? {}).map((field) => ({ field, at: `env.${env}.${field}` })),
  ];
  const unknown = fields.filter(({ field }) => !known.has(field)).map(({ at }) => `\`${at}\``);
  if (unknown.length) throw wrong(file, `has ${unknown.join(' and ')}, which wrangler does not know`);
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
  if (!assets?.directory) return config;
  const directory = pathFrom(file, assets.directory);
  if (!existsSync(directory))
    throw wrong(
      file,
      `names a folder that does not exist: ${directory}`,
      `the page's files in [env.${env}].assets`,
    );
  return { ...config, assets: { ...assets, directory } };
}

/** Resolves a path of wrangler.toml. A path in `node_modules/rollmesh` means this installation, wherever npm has put it. */
const pathFrom = (file: string, path: string): string =>
  path.startsWith(PACKAGE) ? installed(path.slice(PACKAGE.length)) : resolve(dirname(file), path);

function parse(file: string, env: WorkerName): WranglerConfig {
  try {
    return readConfig({ config: file, env }, { hideWarnings: true });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    const lines = said
      .split('\n')
      .slice(1)
      .filter((line) => line.trim());
    const why = (lines.length ? lines : [said]).map((line) => line.trim().replace(/^- /, '')).slice(0, 3);
    throw wrong(file, `cannot be used: ${why.join(' ').replace(/\.$/, '')}`, undefined, cause);
  }
}

const bindingsOf = (config: WranglerConfig): ReadonlySet<string | undefined> =>
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
