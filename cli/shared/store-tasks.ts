/** Stores the objects of tasks that recipes name in a mesh, from the files beside the recipes' modules. */
import { tasksBeside } from '../../local/stored-tasks.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import type { OpenRecipes, RecipeModule } from '../recipe-modules.ts';
import { MOST } from '../runs.ts';

/** Objects that are under way at once. */
const AT_ONCE = 6;

/** The modules whose tasks a mesh needs: those that are referred to, and of all others, which are the state folder's, those of runs that nobody has deleted. */
export async function modulesInUse(
  gateway: { listRuns(most: number): Promise<readonly { readonly settings: { readonly recipe: string } }[]> },
  { named, modules }: Pick<OpenRecipes, 'named' | 'modules'>,
): Promise<RecipeModule[]> {
  const played = new Set((await gateway.listRuns(MOST)).map(({ settings }) => settings.recipe));
  return modules.filter(({ recipe }) => named.includes(recipe) || played.has(recipe.name));
}

/**
 * Stores what the mesh lacks; what it has is not sent again. `say` is told what is sent, and of recipes whose objects are not there, or are damaged:
 * rounds that need them are tried again for some minutes, and then fail. @returns how many objects were sent
 */
export async function storeTasks(
  gateway: Pick<GatewayClient, 'missingTasks' | 'putTasks'>,
  modules: readonly RecipeModule[],
  say: (line: string) => void,
): Promise<number> {
  let sent = 0;
  for (const { recipe, file } of modules) {
    if (!recipe.stored) continue;
    const missing = await gateway.missingTasks([...new Set(recipe.stored)]);
    if (missing.length === 0) continue;
    const called = recipe.called ?? recipe.name;
    say(`storing the tasks of ${called}: ${missing.length} ${missing.length === 1 ? 'object' : 'objects'}`);
    const readTasks = tasksBeside([{ file }]);
    const left = [...missing];
    const absent: string[] = [];
    const sendNext = async () => {
      for (let sha256 = left.shift(); sha256 !== undefined; sha256 = left.shift()) {
        const bytes = await readTasks(sha256).catch(() => null);
        if (bytes) await gateway.putTasks(sha256, bytes);
        else absent.push(sha256);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
    sent += missing.length - absent.length;
    if (absent.length)
      say(
        `${absent.length} of the objects of the tasks of ${called} are neither in the mesh nor whole beside ${file}: rounds that need them fail. Start its run again with the same --tasks.`,
      );
  }
  return sent;
}
