/**
 * Every command in the documentation is one that there is: its program, its subcommand, its options and their values are those that
 * commander takes.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { commandsOf, type Documented, documented, PAGES } from './commands.ts';

/** The npm scripts of the project that a page is about: that of its folder, or this one. */
function scriptsOf(page: string): string[] {
  const own = join(dirname(page), 'package.json');
  const text = readFileSync(existsSync(own) ? own : 'package.json', 'utf8');
  return Object.keys((JSON.parse(text) as { scripts: Record<string, string> }).scripts);
}

/** What a reader fills in, by a value of its kind. */
const FILLED: Readonly<Record<string, string>> = {
  N: '1',
  VERSION: '1',
  URL: 'http://localhost:8787',
  'NAME@N': 'name@1',
  'RANK=R': 'rank=1',
  'DIR|hf:ORG/NAME': 'folder',
};
const filled = (word: string): string => FILLED[word] ?? word;

async function commandNamed(name: string): Promise<Command | undefined> {
  const [file] = [`cli/${name === 'eval' ? 'policy' : name}/command.ts`, `cli/${name}.ts`].filter(existsSync);
  if (file === undefined) return undefined;
  const { command } = (await import(`../../${file}`)) as { command(): Command };
  return command();
}

/** Takes NAME for one of an option's choices. */
function takePlaceholders(option: Option): void {
  const parse = option.parseArg!;
  option.argParser((value, before) => (/^[A-Z]+$/.test(value) ? value : parse(value, before)));
}

/** Parses the words as the program does, without doing anything. Throws what commander says of a wrong option, value or number of arguments. */
async function parsed(words: readonly string[], whole: boolean): Promise<void> {
  const [name = '', ...rest] = words.map(filled);
  if (name === '--help' || name === 'COMMAND') return;
  const root = await commandNamed(name);
  if (!root) throw new Error(`There is no command ${name}.`);
  const args = name === 'eval' ? ['eval', ...rest] : rest;
  const quiet = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
    if (!command.commands.length || command.registeredArguments.length) command.action(() => {});
    // An inline mention may leave arguments out.
    if (!whole) for (const argument of command.registeredArguments) argument.required = false;
    for (const option of command.options) if (option.argChoices?.length) takePlaceholders(option);
    command.commands.forEach(quiet);
  };
  quiet(root);
  const cut = args.findIndex((word) => word === '…' || word.startsWith('…'));
  try {
    await root.parseAsync(cut < 0 ? args : args.slice(0, cut), { from: 'user' });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'commander.helpDisplayed') return;
    // It may name a group of commands, or an option without its value.
    if (
      !whole &&
      ['commander.help', 'commander.optionMissingArgument', 'commander.missingMandatoryOptionValue'].includes(
        code ?? '',
      )
    )
      return;
    throw error;
  }
}

async function check({ page, line, whole }: Documented): Promise<void> {
  for (const [program, ...words] of commandsOf(line)) {
    if (program === 'npx' && words[0] === 'rollmesh') await parsed(words.slice(1), whole);
    else if (program === 'npx' && words[0] === 'tsx') expect(existsSync(words[1]!)).toBe(true);
    else if (program === 'npm' && words[0] === 'start')
      await parsed(['start', ...words.slice(words.indexOf('--') < 0 ? words.length : 2)], whole);
    else if (program === 'npm' && words[0] === 'run')
      expect(scriptsOf(page)).toContain(words.find((word) => word !== 'run' && !word.startsWith('-')));
    else if (program === 'npm' && words.length)
      expect(['ci', 'create', 'test', 'install', 'pack', 'audit', 'sbom']).toContain(words[0]);
    else if (program === 'node')
      expect(words.filter((word) => /\.m?[jt]s$/.test(word)).every((file) => existsSync(file))).toBe(true);
  }
}

test.each(PAGES)('%s', async (page) => {
  const wrong: string[] = [];
  for (const command of documented(page))
    await check(command).catch((error: Error) =>
      wrong.push(`${command.line}: ${error.message.split('\n')[0]}`),
    );
  expect(wrong).toEqual([]);
});

test('a command, an option and a value that there are not are found', async () => {
  for (const line of [
    'npx rollmesh polcy list',
    'npx rollmesh start --recipes trio',
    'npx rollmesh start --engine quick',
    'npx rollmesh policy export NAME',
    'npm run nothing',
  ])
    await expect(check({ page: 'README.md', line, whole: true, usage: false }), line).rejects.toThrow();
});

test('the pages have commands', () => {
  expect(PAGES.flatMap(documented).length).toBeGreaterThan(150);
});
