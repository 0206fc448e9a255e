/** Wrangler's reading of a configuration file, kept between processes because loading wrangler takes longer than anything else of a start. */
import type { WorkerOptions } from 'miniflare';
import type { Unstable_Config as Config } from 'wrangler';
import { type ByWorker, ENVIRONMENT_WORKER, WORKER_NAMES, type WorkerName } from '../../core/round/stages.ts';
import { kept } from './kept.ts';

export type { Config };

/** What wrangler reads of one environment. Optional fields that the file does not have are absent. */
export interface Environment {
  readonly config: Config;
  /** Fields of the file that wrangler does not know, as `env.judge.mian`. */
  readonly unknown: readonly string[];
  /** The Worker's options for Miniflare; a path of the assets is resolved from the file's folder. */
  readonly options: WorkerOptions;
}

/** Keeps wrangler from reading .dev.vars, which would give every Worker all secrets and print a line for each. */
const NO_DEV_VARS = { overrides: {}, envFiles: ['no-such-file'] };

/**
 * Reads every Worker's environment of the file; that of the environment Worker may be missing.
 * @param file absolute path
 * @throws wrangler's own error where it refuses the file
 */
export const readEnvironments = (file: string): Promise<ByWorker<Environment>> =>
  kept(['wrangler configuration', file], async () => {
    const wrangler = await import('wrangler');
    const { rawConfig } = wrangler.experimental_readRawConfig({ config: file });
    const read = (env: WorkerName): Environment => {
      const config = wrangler.unstable_readConfig({ config: file, env }, { hideWarnings: true });
      const known = new Set([...Object.keys(config), 'env', '$schema']);
      const fields = [
        ...Object.keys(rawConfig).map((field) => ({ field, at: field })),
        ...Object.keys(rawConfig.env?.[env] ?? {}).map((field) => ({ field, at: `env.${env}.${field}` })),
      ];
      const unknown = fields.filter(({ field }) => !known.has(field)).map(({ at }) => at);
      const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(config, env, NO_DEV_VARS);
      const { modulesRules: _, ...options } = workerOptions;
      return { config, unknown, options: options as WorkerOptions };
    };
    const workers: WorkerName[] = [...WORKER_NAMES];
    if (rawConfig.env?.[ENVIRONMENT_WORKER]) workers.push(ENVIRONMENT_WORKER);
    const value = Object.fromEntries(workers.map((env) => [env, read(env)]));
    return { value: value as unknown as ByWorker<Environment>, inputs: [file] };
  });
