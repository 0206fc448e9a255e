/** `npm start`: see cli/run-options.ts for what it takes. */
import type { Command } from 'commander';
import { readMeshConfig } from '../mesh/mesh-config.ts';
import { runOf } from '../recipes/run-order.ts';
import { runInMesh } from './mesh-run.ts';
import { runInOneProcess } from './process-run.ts';
import { openRecipes } from './recipe-modules.ts';
import { orderOf, type StartOptions, startCommand } from './run-options.ts';
import { jsonPrinter, textPrinter } from './run-printer.ts';
import { refuseBusy } from './state-access.ts';
import { openStateFolder } from './state-folder.ts';

export const command = (): Command =>
  startCommand().action(async (asked: StartOptions) => {
    const recipes = await openRecipes([asked.recipe]);
    const options = { ...asked, recipe: recipes.named[0]!.name };
    // What is asked for wrongly is refused before anything is written.
    runOf(recipes.registry, orderOf(options));
    readMeshConfig('.');
    if (options.fresh) await refuseBusy(options.state);
    const stateDir = openStateFolder(options.state, options.fresh);
    const printer = options.json ? jsonPrinter() : textPrinter();
    await (options.inProcess ? runInOneProcess : runInMesh)(options, recipes, stateDir, printer);
  });
