/**
 * Reads `rollmesh.config.ts` of the working directory, or the file that `--config` names, by c12, and puts its flags before those of the
 * command line. It may be written in TypeScript, JavaScript, JSON, YAML or TOML.
 */
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LoadConfigOptions } from 'c12';
import { wrongInput } from '../core/errors.ts';
import { flagsOf } from '../core/run-config.ts';
import { readTypeScript } from './typescript-modules.ts';

type Fields = Record<string, unknown>;

/** Settings decide the id of a run, so that they come from one file: no layers, no rc files, nothing remote, nothing of the environment. */
const ONE_FILE: LoadConfigOptions<Fields> = {
  name: 'rollmesh',
  rcFile: false,
  packageJson: false,
  dotenv: false,
  envName: false,
  extend: false,
  giget: false,
  merger: (...layers) => layers.find(Boolean)!,
};

/** Modules are imported as recipes are, so that they find `rollmesh`. */
const importer = {
  async import(path: string): Promise<unknown> {
    await readTypeScript();
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
    if (module.default === undefined) throw new Error('it has no default export');
    return module.default;
  },
} as NonNullable<LoadConfigOptions['jiti']>;

/** `--config FILE` or `--config=FILE`, and the other arguments. */
function named(args: readonly string[]): { file: string | undefined; others: readonly string[] } {
  const at = args.findIndex((arg) => arg === '--config' || arg.startsWith('--config='));
  if (at < 0) return { file: undefined, others: args };
  const [arg, next] = [args[at]!, args[at + 1]];
  const inline = arg.startsWith('--config=');
  const file = inline ? arg.slice('--config='.length) : next;
  if (!file) throw wrongInput('config.path', '--config names no file.', { expected: '--config FILE' });
  return { file, others: [...args.slice(0, at), ...args.slice(at + (inline ? 1 : 2))] };
}

/**
 * The arguments with those of the configuration before them, so that the command line has the last word; tasks from files on the command
 * line take the place of the configuration's. Throws `wrong-input` where a named file is not there or cannot be loaded, or holds an
 * unknown field.
 */
export async function withConfig(args: readonly string[]): Promise<string[]> {
  if (args.includes('--help') || args.includes('-h')) return [...args];
  const { file, others } = named(args);
  // Loaded only now, since most commands read no configuration.
  const { loadConfig } = await import('c12');
  const { config, _configFile: path } = await loadConfig<Fields>({
    ...ONE_FILE,
    jiti: importer,
    ...(file === undefined ? {} : { configFile: file }),
  }).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw wrongInput(
      'config.module',
      `The configuration ${file ?? 'rollmesh.config'} cannot be loaded: ${why}`,
      { cause },
    );
  });
  if (path === undefined && file === undefined) return [...others];
  if (path === undefined)
    throw wrongInput('config.path', `There is no configuration ${file}.`, {
      expected: 'the path of a module such as rollmesh.config.ts',
    });
  const name = file ?? relative('', path);
  const flags = flagsOf(config, name);
  const isFile = (flag: string) => /^--tasks=(?!\d+$)/.test(flag);
  const namesFiles = others.some(
    (arg, i) => isFile(arg) || (arg === '--tasks' && !/^\d+$/.test(others[i + 1] ?? '')),
  );
  console.error(`Settings of ${name}: ${flags.join(' ')}`);
  return [...flags.filter((flag) => !(namesFiles && isFile(flag))), ...others];
}
