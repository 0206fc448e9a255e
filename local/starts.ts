/** Imports a version 0 into the store through the gateway, unless it is there already. */
import { relative } from 'node:path';
import type { Recipe } from '../core/recipe/recipe.ts';
import type { FileSources } from '../core/schema/policy.ts';
import { bindingsOf, type OrderedRun } from '../recipes/run-order.ts';
import type { GatewayClient } from '../workers/api/gateway-client.ts';
import { findStart, readStart } from './find-start.ts';
import { INSTALLATION } from './mesh/installation.ts';

/** The name of the default start policy in a mesh; runs that name no policy begin from it. */
export const DEFAULT_START_POLICY = 'arithmetic-base';
/** Throws what `readStart` throws where the policy that a recipe begins from cannot be read. */
export const expectStart = async ({ startPolicy }: Pick<Recipe, 'startPolicy'>): Promise<void> =>
  void (await readStart(startPolicy));

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

/** Is there a start policy of that name? A policy of a user's own may have any other name. */
export const isStart = (name: string): boolean => findStart(name) !== undefined;

/** How a policy that is missing comes into the mesh: a start policy from its folder, another one from the user's. */
export function importCommand(name: string): string {
  const found = findStart(name);
  return found && found.url === undefined
    ? `npx rollmesh policy import ${relative('.', found.folder)} --name ${name}`
    : 'npx rollmesh policy import DIR --name NAME';
}

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
  const files = await readStart(name);
  const { folder, url } = findStart(name)!;
  const importedFrom = url ?? (folder.startsWith(INSTALLATION) ? relative(INSTALLATION, folder) : folder);
  await importPolicy(gateway, name, files, { importedFrom });
  return true;
}
