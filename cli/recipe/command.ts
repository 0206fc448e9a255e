/** `npx rollmesh recipe list | show NAME`: lists the recipes with their papers, or explains one in words. */
import { Command } from 'commander';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { calledAs } from '../called-as.ts';
import { addTaskFileOptions, type TaskFileOptions } from '../policy/task-file-options.ts';

/** Texts as lists of their lines where they have several, which is easier to edit in JSON. */
const linesOf = (texts: Readonly<Record<string, string>>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(texts).map(([verb, text]) => [verb, text.includes('\n') ? text.split('\n') : text]),
  );

interface ListOptions extends TaskFileOptions {
  readonly json: boolean;
  readonly for?: string;
}

async function printList(
  all: readonly Recipe[],
  json: boolean,
  onWhat: (recipe: Recipe) => string,
): Promise<void> {
  const [{ cite }, { playsItself }, { byServer, notByServer }] = await Promise.all([
    import('./describe-recipe.ts'),
    import('./runs-on.ts'),
    import('./by-server.ts'),
  ]);
  const width = Math.max(0, ...all.map(({ name }) => name.length)) + 2;
  for (const recipe of all) {
    const { name, title, paper, needsOfTasks } = recipe;
    const runs = onWhat(recipe);
    const own = {
      name,
      title,
      paper,
      plays: playsItself(recipe),
      runs,
      lacks: needsOfTasks?.datum ?? null,
      notByServer: notByServer(recipe) ?? null,
    };
    const indent = ' '.repeat(width);
    if (json) console.log(JSON.stringify(own));
    else
      console.log(
        `${name.padEnd(width)}${title} (${cite(recipe)})\n${indent}${runs}\n${indent}${byServer(recipe)}`,
      );
  }
}

export function command(): Command {
  const command = new Command(calledAs('recipe')).description('The recipes and their papers.');
  addTaskFileOptions(
    command
      .command('list')
      .description(
        'each recipe with its paper, what it plays from which start (tasks × rollouts of a round), on what else it runs, and whether a server of Tinker’s API can train it',
      )
      .option('--json', 'one JSON object per line', false)
      .option(
        '--for <file>',
        'the recipes that run on this file of tasks, in the world of this module (.ts, .js) or in canvas, or with `agents` that hold their episodes, then what it lacks for others',
      ),
  ).action(async ({ json, for: file, ...reading }: ListOptions) => {
    const [{ recipes }, { FILE_RECIPES }, { AGENTS, lackedFor, runsOn, whatItRuns }] = await Promise.all([
      import('../../recipes/index.ts'),
      import('../file-recipes.ts'),
      import('./runs-on.ts'),
    ]);
    const all = [...recipes, ...FILE_RECIPES];
    if (file === undefined) return printList(all, json, json ? runsOn : whatItRuns);
    const lacked = await lackedFor(all, file, reading);
    const count = (recipe: Recipe) => lacked.get(recipe)?.length ?? Number.POSITIVE_INFINITY;
    await printList(
      all.filter((recipe) => lacked.get(recipe)).toSorted((one, other) => count(one) - count(other)),
      json,
      (recipe) =>
        count(recipe)
          ? `needs ${lacked.get(recipe)!.join(' and ')}`
          : `runs ${file === AGENTS ? 'with' : 'on'} ${file}`,
    );
  });
  command
    .command('show <recipe>')
    .description('one recipe in words: a shipped one by its name, or the path of a module')
    .option('--prompts', 'what it says to a policy on questions, as JSON for `start --prompts FILE`', false)
    .action(async (reference: string, { prompts }: { prompts: boolean }) => {
      const { FILE_RECIPES } = await import('../file-recipes.ts');
      const { openRecipes } = await import('../recipe-modules.ts');
      const { describeRecipe } = await import('./describe-recipe.ts');
      const onFiles = FILE_RECIPES.find(({ name }) => name === reference);
      const recipe = onFiles ?? (await openRecipes([reference])).named[0]!;
      if (prompts) {
        const { replaceablePrompts } = await import('../../recipes/from-files.ts');
        const { textsOf } = await import('../../worlds/questions/texts.ts');
        return console.log(JSON.stringify(linesOf(textsOf(replaceablePrompts(recipe.name))), null, 2));
      }
      console.log(describeRecipe(recipe, reference, onFiles !== undefined));
    });
  return command;
}
