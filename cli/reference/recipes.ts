/** The page docs/recipes.md: a row for each recipe, made from the recipes themselves and from the verdicts of the lab. */
import { existsSync, readFileSync } from 'node:fs';
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
  '“Evidence” is the verdict on what the paper says, as this project measured it in small runs on its toy worlds: [the lab](../lab/README.md) has the runs and the rule. A dash: nothing was registered.',
  '',
  '| recipe | what it is | on my questions | evidence | paper |',
  '|---|---|---|---|---|',
];

/** The verdicts by the names of recipes: the lines of the lab’s file that have no number. */
export const verdicts = (): Map<string, string> =>
  new Map(
    [...readFileSync('lab/verdicts.txt', 'utf8').matchAll(/^([a-z0-9-]+): (.+)$/gm)].map(
      ([, name, verdict]) => [name!, verdict!] as const,
    ),
  );

/** The file that has the code of a recipe: one in another world, RECIPE-in-WORLD, lies beside the recipe. */
export const codeFile = ({ name }: Recipe): string =>
  ['recipe', 'from-data']
    .map((file) => `recipes/${name.replace(/-in-.*$/, '')}/${file}.ts`)
    .find((path) => existsSync(path))!;

/** The paper, with a link where it is on arXiv. */
const paperOf = (recipe: Recipe): string => {
  const [, id] = /^arXiv:(.+)$/.exec(recipe.paper.source ?? '') ?? [];
  return id ? `[${recipe.paper.title}, ${recipe.paper.year}](https://arxiv.org/abs/${id})` : cite(recipe);
};

const rowOf = (recipe: Recipe, evidence: string | undefined): string => {
  const { name, title, needsOfTasks } = recipe;
  const cells = [
    `[\`${name}\`](../${codeFile(recipe)})`,
    title,
    needsOfTasks === undefined ? 'yes' : `no: ${needsOfTasks.which} (${needsOfTasks.datum})`,
    evidence ?? '–',
    paperOf(recipe),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
};

export function recipesPage(): string {
  const evidence = verdicts();
  const rows = [...FILE_RECIPES, ...recipes].map((recipe) => rowOf(recipe, evidence.get(recipe.name)));
  return `${[...HEAD, ...rows].join('\n')}\n`;
}
