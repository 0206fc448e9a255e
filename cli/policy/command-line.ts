/** What the policy commands have in common: their options, the store they open, and how results reach stdout. */
import { type Command, InvalidArgumentError } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import { WAYS, type WayName } from '../../protocols/solve/ways.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { printableLines } from '../printable.ts';
import { remoteMesh } from '../shared/mesh-access.ts';
import { whole } from '../shared/run-options.ts';
import { openStore } from '../shared/state-access.ts';
import { findStateFolder, openStateFolder } from '../shared/state-folder.ts';

export interface Common {
  readonly state: string;
  readonly json: boolean;
  /** The address of a mesh elsewhere, for commands with that option. */
  readonly url?: string;
}

/** Prints a line for people; control characters from files and models are escaped. */
export const print = (line: string): void => console.log(printableLines(line));
export const printJson = (value: unknown): void => console.log(JSON.stringify(value));

/** Adds a subcommand with the options that all have. */
export const subcommand = (parent: Command, name: string, description: string): Command =>
  parent
    .command(name)
    .description(description)
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option('--json', 'one JSON object per line', false);

/** Adds a subcommand that works on one version of a policy. */
export const versionCommand = (parent: Command, name: string, description: string): Command =>
  subcommand(parent, name, description)
    .argument('<name>', 'name of the policy')
    .argument('<version>', 'number of the version', whole(0));

/** Lets a command work on a mesh elsewhere. */
export const withUrl = (command: Command): Command =>
  command.option('--url <url>', 'a deployed mesh instead; its learner token is read from LEARNER_TOKEN');

/** Opens the store, does the work, and closes the store in any case. `make`: the state folder is made if it is missing. */
export async function withStore<T>(
  { state, url }: Pick<Common, 'state' | 'url'>,
  work: (gateway: GatewayClient) => Promise<T>,
  make = false,
): Promise<T> {
  const folder = () => (make ? openStateFolder(state, false) : findStateFolder(state));
  const store = url === undefined ? await openStore(folder()) : remoteMesh(url);
  try {
    return await work(store.gateway);
  } finally {
    await store.close();
  }
}

/** Parses a number from 0 up; else throws commander's usage error. */
export function temperature(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('Expected a number from 0 (0 = greedy).');
  return value;
}

/** Parses token ids separated by commas; else throws commander's usage error. */
export const tokenIds = (text: string): number[] => text.split(',').map((id) => whole(0)(id.trim()));

/** Parses the ways of `policy solve --search`. */
export function waysOption(text: string): WayName[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !WAYS.some((way) => way === name));
  if (unknown === undefined) return names as WayName[];
  throw wrongInput('solve.search', `There is no way ${JSON.stringify(unknown)} to search.`, {
    expected: `some of ${WAYS.join(', ')}, with commas between them; the greedy answer is always given`,
  });
}

/** Parses numbers separated by commas, each above 0. */
export function numbersOption(text: string): number[] {
  const numbers = text.trim() === '' ? [] : text.split(',').map(Number);
  const bad = numbers.find((value) => !(value > 0 && value <= 100));
  if (bad === undefined) return numbers;
  throw wrongInput('solve.numbers', `${text} is no list of numbers above 0.`, {
    expected: 'numbers separated by commas, as in 0.3,0.6,1; an empty list leaves these ways out',
  });
}
