/** Takes options of a subcommand that stand before it. */
import type { Command } from 'commander';

/** `runs --state DIR list` is `runs list --state DIR`: options before a subcommand are its own; `runs --state DIR` alone lists. */
export function subcommandFirst(args: readonly string[], { commands }: Pick<Command, 'commands'>): string[] {
  const at = args.findIndex((arg) => commands.some((one) => one.name() === arg));
  const own = /^--(?:state|json)\b/;
  if (at < 0 && own.test(args[0] ?? '') && commands.some((one) => one.name() === 'list'))
    return args.some((arg) => arg === '--help' || arg === '-h') ? [...args] : ['list', ...args];
  const before = args.slice(0, Math.max(0, at));
  if (!before.some((arg) => own.test(arg))) return [...args];
  return [args[at]!, ...before, ...args.slice(at + 1)];
}
