/** Which recipes a server of Tinker's API can train (`--backend tinker:URL`). `npx rollmesh recipe list` says it. */
import { unmappedSets } from '../../core/plan/by-server.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';

/**
 * What the plans of recipes ask for that their parameter sets do not tell, of recipes as they were published; `npm run bits` holds the list to what they ask
 * for. Others may ask for it by a setting or a variant, and are refused then.
 */
export const ASKS: Readonly<Record<string, string>> = {
  'agent0-vl': 'its loss has an entropy term',
  asl: 'its loss has an entropy term',
  delta: 'it asks for hidden states',
  distil: 'it reads whole distributions',
  genevolve: 'it reads whole distributions',
  mae: 'its loss has an entropy term',
  'one-shot': 'its loss has an entropy term',
  ragen: 'its loss has an entropy term',
  rrpo: 'it reads whole distributions',
  scol: 'it tries updates of layers',
  'sd-zero': 'it reads whole distributions',
  spine: 'it asks for entropies',
  svs: 'it asks for entropies',
  trace: 'it reads whole distributions',
};

/** Why no server can train the recipe; undefined where one can, in a run with `--adapter`. */
export const notByServer = (recipe: Recipe): string | undefined => unmappedSets(recipe) ?? ASKS[recipe.name];

/** The same in words. */
export function byServer(recipe: Recipe): string {
  const why = notByServer(recipe);
  return why === undefined
    ? 'with --adapter also by --backend tinker:URL'
    : `not by --backend tinker:URL: ${why}`;
}
