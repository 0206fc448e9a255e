/** What the policy commands have in common: their options, the store they open, and how results reach stdout. */
import { type Command, InvalidArgumentError } from 'commander';
import type { GatewayClient } from '../../api/gateway-client.ts';
import { printableLines } from '../printable.ts';
import { remoteMesh } from '../shared/mesh-access.ts';
import { whole } from '../shared/run-options.ts';
import { openStore } from '../shared/state-access.ts';
import { findStateFolder, openStateFolder } from '../shared/state-folder.ts';

export interface Common {
  readonly state: string;
  readonly json: boolean;
  /** Of a mesh elsewhere, where the command can be told of one. */
  readonly url?: string;
}

/** A line for people; what comes from files and models in it reaches the terminal as text. */
export const print = (line: string): void => console.log(printableLines(line));
export const printJson = (value: unknown): void => console.log(JSON.stringify(value));

/** A subcommand with the options that all have. */
export const subcommand = (parent: Command, name: string, description: string): Command =>
  parent
    .command(name)
    .description(description)
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option('--json', 'one JSON object a line', false);

/** A subcommand on one version of a policy. */
export const versionCommand = (parent: Command, name: string, description: string): Command =>
  subcommand(parent, name, description)
    .argument('<name>', 'name of the policy')
    .argument('<version>', 'number of the version', whole(0));

/** Lets a command work on a mesh elsewhere. */
export const withUrl = (command: Command): Command =>
  command.option('--url <url>', 'a deployed mesh instead; its learner token is read from LEARNER_TOKEN');

/** Does the work with the store open, and closes it whatever happens. `make`: the state folder may be a new one. */
export async function withStore<T>(
  { state, url }: Common,
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

/** A number from 0, or commander's usage error. */
export function temperature(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('Expected a number from 0 (0 = greedy).');
  return value;
}

/** Token ids separated by commas, or commander's usage error. */
export const tokenIds = (text: string): number[] => text.split(',').map((id) => whole(0)(id.trim()));
