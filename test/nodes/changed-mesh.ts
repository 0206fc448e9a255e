/** A mesh for a recipe whose settings are changed as `--set` changes them, in which nodes compute and isolates rest while there are any. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changedRecipe } from '../../cli/changed-recipe.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import { openPlaying, type Playing } from '../mesh/playing.ts';

export interface ChangedMesh {
  readonly playing: Playing;
  readonly registry: Registry;
  /** The name of the changed recipe. */
  readonly recipe: string;
  /** The names of the recipes that were changed by further lists of settings. */
  readonly others: readonly string[];
  /** For files of the test; `stop` removes it. */
  readonly root: string;
  readonly stop: () => Promise<void>;
}

/** `set`: pairs of a setting's path and its value, such as `adapter.rank=4`. `others`: such lists for further recipes of the same mesh. */
export async function openChangedMesh(
  recipe: string,
  set: readonly string[],
  ...others: readonly (readonly string[])[]
): Promise<ChangedMesh> {
  const root = mkdtempSync(join(tmpdir(), 'rollmesh-changed-'));
  const written: string[] = [];
  for (const each of [set, ...others]) written.push(await (await changedRecipe(recipe, each))!.write(root));
  const { registry, named, modules } = await openRecipes(written);
  const playing = await openPlaying(
    [named[0]!.startPolicy],
    {
      recipes: modules.map(({ file }) => file),
      vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '300' },
      cronMs: 500,
    },
    registry,
  );
  return {
    playing,
    registry,
    recipe: named[0]!.name,
    others: named.slice(1).map(({ name }) => name),
    root,
    stop: async () => {
      await playing.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
