/**
 * Reads `rollmesh.config.ts` of the working directory, or the file that `--config` names, and puts its flags before those of the command line.
 * It may be written in TypeScript, JavaScript or JSON, and, where c12 is installed, in YAML or TOML.
 */
import { readFileSync, statSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LoadConfigOptions } from 'c12';
import { wrongInput } from '../core/errors.ts';
import { flagsOf } from '../core/runs/run-config.ts';
import { expectedFailure } from './expected-failure.ts';
import { readTypeScript } from './typescript-modules.ts';

type Fields = Record<string, unknown>;

const ENDINGS = ['ts', 'mts', 'js', 'mjs', 'json', 'yaml', 'yml', 'toml'];
const NAMES = ['rollmesh.config', '.config/rollmesh', '.config/rollmesh.config'];

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** The configurations of a folder, as paths from there: there should be one at most. */
export const configurationsIn = (folder: string): string[] =>
  NAMES.flatMap((name) => ENDINGS.map((ending) => `${name}.${ending}`)).filter((path) =>
    isFile(join(folder, path)),
  );

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

/** A line of an empty file: blank, a comment, the mark of a document or null. c12 fails at such a file without saying what is wrong. */
const NOTHING = /^\s*(#.*|---|\.\.\.|null|~)?\s*$/;
/** A key at the start of a line or in braces: c12 takes it away from what it reads. */
const META = /^["'[{ ]*\$meta\b/m;

async function readByC12(path: string): Promise<unknown> {
  const { loadConfig } = await import('c12');
  return (await loadConfig<Fields>({ ...ONE_FILE, configFile: path })).config;
}

/** Modules are imported as recipes are, so that they find `rollmesh`. */
async function readModule(path: string): Promise<unknown> {
  await readTypeScript();
  const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  if (module.default === undefined) throw new Error('it has no default export');
  return module.default;
}

function read(path: string): Promise<unknown> | unknown {
  const ending = extname(path);
  if (!['.json', '.yaml', '.yml', '.toml'].includes(ending)) return readModule(path);
  const text = readFileSync(path, 'utf8');
  if (text.split('\n').every((line) => NOTHING.test(line))) throw new Error('it is empty');
  if (ending === '.json') return JSON.parse(text);
  if (META.test(text)) throw new Error('$meta is not known');
  return readByC12(path);
}

/** The one configuration that there is, where none is named. */
function found(): string | undefined {
  const [first, second] = configurationsIn('.');
  if (second !== undefined)
    throw wrongInput('config.path', `There are two configurations, ${first} and ${second}.`, {
      expected: 'one',
      next: 'Remove one of them, or name one with --config.',
    });
  return first;
}

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
  const path = file ?? found();
  if (path === undefined) return [...others];
  if (!isFile(path))
    throw wrongInput('config.path', `There is no configuration ${path}.`, {
      expected: 'the path of a file such as rollmesh.config.ts',
    });
  let config: unknown;
  try {
    config = await read(resolve(path));
  } catch (cause) {
    const missing = expectedFailure(cause);
    if (missing?.code === 'install.optional') throw missing;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw wrongInput('config.module', `The configuration ${path} cannot be loaded: ${why}`, { cause });
  }
  const flags = flagsOf(config, path);
  const isTaskFile = (flag: string) => flag === '--tasks' || flag.startsWith('--tasks=');
  const namesFiles = others.some(isTaskFile);
  console.error(`Settings of ${path}: ${flags.join(' ')}`);
  return [...flags.filter((flag) => !(namesFiles && isTaskFile(flag))), ...others];
}
