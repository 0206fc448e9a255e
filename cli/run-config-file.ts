/** Reads `rollmesh.config.ts` of the working directory, or the file that `--config` names, and puts its flags before those of the command line. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { wrongInput } from '../core/errors.ts';
import { flagsOf } from '../core/run-config.ts';
import { readTypeScript } from './typescript-modules.ts';

/** The names that a configuration has where none is given. */
export const CONFIGURATIONS = [
  'rollmesh.config.ts',
  'rollmesh.config.mts',
  'rollmesh.config.js',
  'rollmesh.config.mjs',
];

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
  const path = file ?? CONFIGURATIONS.find((name) => existsSync(name));
  if (path === undefined) return [...others];
  if (!existsSync(path))
    throw wrongInput('config.path', `There is no configuration ${path}.`, {
      expected: 'the path of a module such as rollmesh.config.ts',
    });
  await readTypeScript();
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(pathToFileURL(resolve(path)).href)) as typeof loaded;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw wrongInput('config.module', `The configuration ${path} cannot be loaded: ${why}`, { cause });
  }
  const flags = flagsOf(loaded.default, path);
  const isFile = (flag: string) => /^--tasks=(?!\d+$)/.test(flag);
  const namesFiles = others.some(
    (arg, i) => isFile(arg) || (arg === '--tasks' && !/^\d+$/.test(others[i + 1] ?? '')),
  );
  console.error(`Settings of ${path}: ${flags.join(' ')}`);
  return [...flags.filter((flag) => !(namesFiles && isFile(flag))), ...others];
}
