/** `--state DIR` may stand before the subcommand that it belongs to. */
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { subcommandFirst } from '../../cli/shared/subcommand-first.ts';

test('options before a subcommand are its own, and nothing else moves', () => {
  const command = new Command('runs');
  command.command('list');
  command.command('label');
  const ordered = (line: string) => subcommandFirst(line.split(' '), command).join(' ');
  expect(ordered('--state DIR list')).toBe('list --state DIR');
  expect(ordered('--state=DIR --json label last --name x')).toBe('label --state=DIR --json last --name x');
  expect(ordered('list --state DIR')).toBe('list --state DIR');
  expect(ordered('--help')).toBe('--help');
  // Without a subcommand the state is listed.
  expect(ordered('--state DIR')).toBe('list --state DIR');
  expect(ordered('--json')).toBe('list --json');
  expect(ordered('--state DIR --help')).toBe('--state DIR --help');
  expect(subcommandFirst(['--state', 'DIR'], new Command('environment'))).toEqual(['--state', 'DIR']);
  // A command without subcommands keeps its arguments.
  expect(subcommandFirst(['--state', 'list'], new Command('stop'))).toEqual(['--state', 'list']);
});
