/** `npm start`: see cli/run-options.ts for what it takes. */
import type { Command } from 'commander';
import { runOf } from '../recipes/run-order.ts';
import { fail } from './fail.ts';
import { expectStart } from './import-policy.ts';
import { refuseTakenPort } from './port.ts';
import { openRecipes } from './recipe-modules.ts';
import { orderOf, type StartOptions, startCommand } from './run-options.ts';
import { jsonPrinter, textPrinter } from './run-printer.ts';
import { refuseBusy, refuseShared } from './state-access.ts';
import { openStateFolder } from './state-folder.ts';

export const command = (): Command =>
  startCommand().action(async (asked: StartOptions) => {
    const recipes = await openRecipes([asked.recipe]);
    const options = { ...asked, recipe: recipes.named[0]!.name };
    // What is asked for wrongly is refused before anything is written, and before what takes long is loaded.
    runOf(recipes.registry, orderOf(options));
    for (const recipe of recipes.named) expectStart(recipe);
    const { readMeshConfig } = await import('../mesh/mesh-config.ts');
    readMeshConfig('.');
    if (options.fresh) refuseBusy(options.state);
    else refuseShared(options.state);
    if (!options.inProcess) await refuseTakenPort(options.port);
    // A full disk shows first where nobody waits for it: in a log's stream.
    process.on('uncaughtException', (error) => fail(error, options.json));
    const stateDir = openStateFolder(options.state, options.fresh);
    const printer = options.json ? jsonPrinter() : textPrinter();
    const run = options.inProcess
      ? (await import('./process-run.ts')).runInOneProcess
      : (await import('./mesh-run.ts')).runInMesh;
    await run(options, recipes, stateDir, printer);
  });
