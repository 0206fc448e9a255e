/** A page for each recipe: its method section, its code, what was measured, and links that play it in the reader's tab. */
import { readFileSync } from 'node:fs';
import { FILE_RECIPES } from '../../cli/file-recipes.ts';
import { cite, sectionsOf } from '../../cli/recipe/describe-recipe.ts';
import { MEASURED } from '../../cli/recipe/run-it.ts';
import { codeFile, verdicts } from '../../cli/reference/recipes.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { recipes } from '../../recipes/index.ts';

/** A page of the site that is made from code. */
export interface MadePage {
  readonly source: string;
  readonly markdown: string;
}

/** The control that says what training would look like without a teacher, where the recipe has it. */
const CONTROL = 'random';
/** Rounds that a link plays where nothing was measured. */
const ROUNDS = 24;

const onFiles = new Set<Recipe>(FILE_RECIPES);
const ALL: readonly Recipe[] = [...FILE_RECIPES, ...recipes];

/** Characters that Markdown would read as its own. */
const plain = (text: string) => text.replace(/[\\`*_{}[\]<>#|~]/g, (character) => `\\${character}`);

/** Where the page /try plays a recipe: with the sizes of the run that was measured. */
function played({ name, tasks, groupSize }: Recipe, more: Readonly<Record<string, string>> = {}): string {
  const measured = MEASURED[name];
  const [asked = tasks, group = groupSize] = measured?.sizes ?? [];
  const settings = { recipe: name, tasks: asked, group, rounds: measured?.rounds ?? ROUNDS, ...more };
  return `try/index.html#${new URLSearchParams(Object.entries(settings).map(([key, value]) => [key, String(value)]))}`;
}

/** The way from a recipe's page to the root of the site. */
const ROOT = '../../';

/** Links that play the recipe, its control and its variants in the tab; none where it has no start of its own. */
function playing(recipe: Recipe): string[] {
  if (onFiles.has(recipe)) return [];
  const { rewards, variants } = recipe;
  const arms = [
    ['as it is', {}],
    ...(CONTROL in rewards ? [['paid by a coin', { reward: CONTROL }] as const] : []),
    ...Object.keys(variants ?? {}).map((variant) => [`--variant ${variant}`, { variant }] as const),
  ] as const;
  const links = arms.map(([title, more]) => `[${title}](${ROOT}${played(recipe, more)})`);
  return [
    '## Play it in this tab',
    '',
    `${links.join(' · ')}. One short run each, from the start policy \`${recipe.startPolicy}\`: what you see is an illustration and no evidence.`,
    '',
  ];
}

function pageOfRecipe(recipe: Recipe, verdict: string | undefined): MadePage {
  const sections = sectionsOf(recipe, recipe.name, onFiles.has(recipe)).flatMap(
    ({ title, text, items = [] }) => [
      `## ${title}`,
      '',
      ...(text === undefined ? [] : [plain(text), '']),
      ...items.map((item) => `- ${plain(item)}`),
      '',
    ],
  );
  const markdown = [
    `# ${recipe.name}: ${plain(recipe.title)}`,
    '',
    `*${plain(cite(recipe))}*`,
    '',
    plain(recipe.summary),
    '',
    ...(verdict === undefined
      ? []
      : [
          `What the paper says, as measured here in small runs: **${verdict}** ([recipes](${ROOT}docs/recipes.md)).`,
          '',
        ]),
    ...playing(recipe),
    ...sections,
    '## Code',
    '',
    '```ts',
    readFileSync(codeFile(recipe), 'utf8').trimEnd(),
    '```',
    '',
  ].join('\n');
  return { source: codeFile(recipe), markdown };
}

/** The pages of all recipes. */
export function recipePages(): MadePage[] {
  const evidence = verdicts();
  return ALL.map((recipe) => pageOfRecipe(recipe, evidence.get(recipe.name)));
}

/** The start policies of the recipes that have one. */
export const startsOfRecipes = (): string[] => [...new Set(recipes.map(({ startPolicy }) => startPolicy))];

/** What the table of recipes is filtered by beside its cells: the method sections, by the names of recipes. */
export const recipeTexts = (): Record<string, string> =>
  Object.fromEntries(
    ALL.map((recipe) => [
      recipe.name,
      sectionsOf(recipe)
        .flatMap(({ text = '', items = [] }) => [text, ...items])
        .join(' '),
    ]),
  );
