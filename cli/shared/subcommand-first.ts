/** Takes options of a subcommand that stand before it. */
import type { Command } from 'commander';

/** `runs --state DIR list` is `runs list --state DIR`: options before a subcommand are its own. */
export function subcommandFirst(args: readonly string[], { commands }: Pick<Command, 'commands'>): string[] {
  const at = args.findIndex((arg) => commands.some((one) => one.name() === arg));
  const before = args.slice(0, Math.max(0, at));
  if (!before.some((arg) => /^--(?:state|json)\b/.test(arg))) return [...args];
  return [args[at]!, ...before, ...args.slice(at + 1)];
}
