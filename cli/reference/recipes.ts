/** The page docs/recipes.md: a row for each recipe, made from the recipes themselves and from the verdicts of the lab. */
import { readFileSync } from 'node:fs';
import { DATA } from '../../core/game/verbs.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { recipes } from '../../recipes/index.ts';
import { FILE_RECIPES } from '../file-recipes.ts';
import { cite } from '../recipe/describe-recipe.ts';
import { playsItself, runsOn } from '../recipe/runs-on.ts';

const HEAD = [
  '# Recipes',
  '',
  'Made by `npm run reference` from the recipes. `npx rollmesh recipe show NAME` explains one: its command, roles, rewards, loss, schedule and what differs from the paper. [Write a recipe](write-a-recipe.md) says how to add one.',
  '',
  '“On my data” says what `--policy NAME --tasks FILE.jsonl` trains your own policy on ([tasks.md](tasks.md); questions have reference answers), or that a game of yours is played ([games.md](games.md)). Otherwise it says what the recipe needs that no file has, with the type of that in brackets.',
  '',
  '“Of its own” is what it plays without files: tasks, start policy, and tasks × rollouts of a round.',
  '',
  '“Evidence” is the verdict on what the paper says, as this project measured it in small runs on its toy worlds: [the lab](../lab/README.md) has the runs and the rule. A dash: nothing was registered.',
  '',
  '| recipe | what it is | on my data | of its own | evidence | paper |',
  '|---|---|---|---|---|---|',
];

/** The verdicts by the names of recipes: the lines of the lab’s file that have no number. */
export const verdicts = (): Map<string, string> =>
  new Map(
    [...readFileSync('lab/verdicts.txt', 'utf8').matchAll(/^([a-z0-9-]+): (.+)$/gm)].map(
      ([, name, verdict]) => [name!, verdict!] as const,
    ),
  );

/** The file that has the code of a recipe. */
export const codeFile = ({ name }: Pick<Recipe, 'name'>): string => `recipes/${name}/recipe.ts`;

/** The paper, with a link where it is on arXiv. */
const paperOf = (recipe: Recipe): string => {
  const [, id] = /^arXiv:(.+)$/.exec(recipe.paper.source ?? '') ?? [];
  return id ? `[${recipe.paper.title}, ${recipe.paper.year}](https://arxiv.org/abs/${id})` : cite(recipe);
};

/** What it runs on; that questions have reference answers is said once, above the table. */
const onData = (recipe: Recipe): string =>
  runsOn(recipe)
    .replace('nothing else:', 'no:')
    .replace(`${DATA.answer} and `, '')
    .replace(` with ${DATA.answer}`, '');

const rowOf = (recipe: Recipe, evidence: string | undefined): string => {
  const { name, title } = recipe;
  const cells = [
    `[\`${name}\`](../${codeFile(recipe)})`,
    title,
    onData(recipe),
    playsItself(recipe) ?? '–',
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
