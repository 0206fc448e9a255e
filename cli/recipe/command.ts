/** `npx rollmesh recipe list | show NAME`: lists the recipes with their papers, or explains one in words. */
import { Command } from 'commander';
import { textsOf } from '../../protocols/questions/texts.ts';
import { recipes } from '../../recipes/index.ts';
import { needsOnQuestions } from '../../recipes/on-questions.ts';
import { calledAs } from '../called-as.ts';
import { FILE_RECIPES } from '../file-recipes.ts';
import { openRecipes } from '../recipe-modules.ts';
import { cite, describeRecipe } from './describe-recipe.ts';

/** Texts as lists of their lines where they have several, which is easier to edit in JSON. */
const linesOf = (texts: Readonly<Record<string, string>>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(texts).map(([verb, text]) => [verb, text.includes('\n') ? text.split('\n') : text]),
  );

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
    .option('--prompts', 'what it says to a policy on questions, as JSON for `start --prompts FILE`', false)
    .action(async (reference: string, { prompts }: { prompts: boolean }) => {
      if (prompts) return console.log(JSON.stringify(linesOf(textsOf(needsOnQuestions(reference))), null, 2));
      const onFiles = FILE_RECIPES.find(({ name }) => name === reference);
      if (onFiles) return console.log(describeRecipe(onFiles, 'version 0 is that of --policy'));
      const { named } = await openRecipes([reference]);
      console.log(describeRecipe(named[0]!));
    });
  return command;
}
