/** The page docs/recipes.md: a row for each recipe, made from the recipes themselves. */
import type { Recipe } from '../../core/recipe/recipe.ts';
import { recipes } from '../../recipes/index.ts';
import { FILE_RECIPES } from '../file-recipes.ts';
import { cite } from '../recipe/describe-recipe.ts';

const HEAD = [
  '# Recipes',
  '',
  'Made by `npm run reference` from the recipes. `npx rollmesh recipe show NAME` explains one: its command, roles, rewards, loss, schedule and what differs from the paper. [Write a recipe](write-a-recipe.md) says how to add one.',
  '',
  '“On my questions” is *yes* where `--policy NAME --tasks FILE.jsonl` trains your own policy on your own file ([tasks.md](tasks.md)). Otherwise the column says what the recipe needs that a question with its answer does not have.',
  '',
  '| recipe | what it is | on my questions | paper |',
  '|---|---|---|---|',
];

/** The paper, with a link where it is on arXiv. */
const paperOf = (recipe: Recipe): string => {
  const [, id] = /^arXiv:(.+)$/.exec(recipe.paper.source ?? '') ?? [];
  return id ? `[${recipe.paper.title}, ${recipe.paper.year}](https://arxiv.org/abs/${id})` : cite(recipe);
};

const rowOf = (recipe: Recipe): string => {
  const { name, title, needsOfTasks } = recipe;
  const cells = [
    `\`${name}\``,
    title,
    needsOfTasks === undefined ? 'yes' : `no: ${needsOfTasks.which} (${needsOfTasks.datum})`,
    paperOf(recipe),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
};

export const recipesPage = (): string =>
  `${[...HEAD, ...[...FILE_RECIPES, ...recipes].map(rowOf)].join('\n')}\n`;
