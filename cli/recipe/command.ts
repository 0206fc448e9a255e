/** `npx rollmesh recipe list | show NAME`: lists the recipes with their papers, or explains one in words. */
import { Command } from 'commander';
import { recipes } from '../../recipes/index.ts';
import { calledAs } from '../called-as.ts';
import { FILE_RECIPES } from '../file-recipes.ts';
import { openRecipes } from '../recipe-modules.ts';
import { cite, describeRecipe } from './describe-recipe.ts';

export function command(): Command {
  const command = new Command(calledAs('recipe')).description('The recipes and their papers.');
  command
    .command('list')
    .description('one line per recipe')
    .option('--json', 'one JSON object per line', false)
    .action(({ json }: { json: boolean }) => {
      const all = [...recipes, ...FILE_RECIPES];
      const width = Math.max(...all.map(({ name }) => name.length)) + 2;
      for (const recipe of all)
        console.log(
          json
            ? JSON.stringify({ name: recipe.name, title: recipe.title, paper: recipe.paper })
            : `${recipe.name.padEnd(width)}${recipe.title} (${cite(recipe)})`,
        );
    });
  command
    .command('show <recipe>')
    .description('one recipe in words: a shipped one by its name, or the path of a module')
    .action(async (reference: string) => {
      const onFiles = FILE_RECIPES.find(({ name }) => name === reference);
      if (onFiles) return console.log(describeRecipe(onFiles, 'version 0 is that of --policy'));
      const { named } = await openRecipes([reference]);
      console.log(describeRecipe(named[0]!));
    });
  return command;
}
