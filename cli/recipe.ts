/** `npm run recipe -- list | show NAME`: the recipes by name with their papers; one explained in words. */
import '../install/require-node.mjs';
import { Command } from 'commander';
import { findRecipe, recipes } from '../recipes/index.ts';
import { fail } from './fail.ts';
import { cite, describeRecipe } from './recipe-words.ts';

const command = new Command('npm run recipe --').description('The recipes and their papers.');
command
  .command('list')
  .description('every recipe in a line')
  .option('--json', 'one JSON object a line', false)
  .action(({ json }: { json: boolean }) => {
    const width = Math.max(...recipes.map(({ name }) => name.length)) + 2;
    for (const recipe of recipes)
      console.log(
        json
          ? JSON.stringify({ name: recipe.name, title: recipe.title, paper: recipe.paper })
          : `${recipe.name.padEnd(width)}${recipe.title} (${cite(recipe)})`,
      );
  });
command
  .command('show <name>')
  .description('one recipe in words')
  .action((name: string) => console.log(describeRecipe(findRecipe(name))));

try {
  await command.parseAsync();
} catch (error) {
  fail(error);
}
