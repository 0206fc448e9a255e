/** Imports a version 0 into the store through the gateway, unless it is there already. */
import { existsSync, readdirSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { wrongInput } from '../core/errors.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import type { FileSources, VersionFiles } from '../core/schema/policy.ts';
import { readPolicyFolder } from '../model/policy-folder.ts';
import { bindingsOf, type OrderedRun } from '../recipes/run-order.ts';
import type { GatewayClient } from '../workers/api/gateway-client.ts';
import { INSTALLATION, installed } from './mesh/installation.ts';

/** The name of the default start policy in a mesh; runs that name no policy begin from it. */
export const DEFAULT_START_POLICY = 'arithmetic-base';
/** The folder of start policies, in the working directory and in the project. */
const STARTS = 'models';

/** The folder of a start policy; the user's own comes before a shipped one. Throws `start.unknown` where there is none. */
export function startFolder(name: string): string {
  const folders = [resolve(STARTS, name), installed(STARTS, name)];
  const found = folders.find((folder) => existsSync(folder));
  if (found) return found;
  throw wrongInput('start.unknown', `There is no start policy ${JSON.stringify(name)}.`, {
    expected: `the folder ${folders[0]}, or one of the shipped ones: ${readdirSync(installed(STARTS)).join(', ')}`,
    next: 'Correct the field `start` of the recipe, or make the policy with `npx rollmesh pretrain`.',
  });
}

/** Throws `start.unknown` where the policy that a recipe begins from is in neither folder. */
export const expectStart = ({ startPolicy }: Pick<Recipe, 'startPolicy'>): void =>
  void startFolder(startPolicy);

/** Reads the files of a start policy by the name that recipes use for it. */
export const readStart = (name: string): Promise<VersionFiles> => readPolicyFolder(startFolder(name));

export async function importPolicy(
  gateway: GatewayClient,
  name: string,
  files: FileSources,
  settings: Record<string, unknown>,
): Promise<void> {
  await gateway.putVersion(files, {
    policy: name,
    version: 0,
    parent: null,
    groups: [],
    round: null,
    settings,
  });
}

/** Is there a start policy of that name in either folder? A policy of a user's own may have any other name. */
export const isStart = (name: string): boolean =>
  existsSync(resolve(STARTS, name)) || existsSync(installed(STARTS, name));

/** How a policy that is missing comes into the mesh: a start policy from its folder, another one from the user's. */
export const importCommand = (name: string): string =>
  isStart(name)
    ? `npx rollmesh policy import ${relative('.', startFolder(name))} --name ${name}`
    : 'npx rollmesh policy import DIR --name NAME';

/** Imports a policy where it is a start policy and is not there yet; any other name is left alone. */
export async function ensureIfStart(gateway: GatewayClient, name: string): Promise<void> {
  if (isStart(name)) await ensureShipped(gateway, name);
}

/** The start policies that a run may use: the default one, its recipes', and the policies that it names where those are some. */
export const startsOf = (recipes: readonly string[], named: readonly string[]): ReadonlySet<string> =>
  new Set([DEFAULT_START_POLICY, ...recipes, ...named.filter(isStart)]);

/** The policies that an order names: the one that is trained, and those that judge. */
export const namedBy = ({ recipe, settings, named }: OrderedRun): string[] => [
  ...(named ? [settings.policy] : []),
  ...Object.values(bindingsOf(recipe, settings)).flatMap(({ fixed }) => fixed?.name ?? []),
];

/** Imports a start policy by its folder's name. Returns whether it had to be imported. */
export async function ensureShipped(
  gateway: GatewayClient,
  name: string = DEFAULT_START_POLICY,
): Promise<boolean> {
  if (await gateway.getPolicy(name)) return false;
  const folder = startFolder(name);
  const importedFrom = folder.startsWith(INSTALLATION) ? relative(INSTALLATION, folder) : folder;
  await importPolicy(gateway, name, await readPolicyFolder(folder), { importedFrom });
  return true;
}
