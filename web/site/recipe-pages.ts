/** A page for each recipe: its method section, its code, the registered result, and links that play short runs of it in the reader's tab. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { FILE_RECIPES } from '../../cli/file-recipes.ts';
import { cite, sectionsOf } from '../../cli/recipe/describe-recipe.ts';
import { MEASURED } from '../../cli/recipe/run-it.ts';
import { codeFile } from '../../cli/reference/recipes.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { SiteClaim } from '../../lab/cli/site-claims.ts';
import { recipes } from '../../recipes/index.ts';

/** A page of the site that is made from code. */
export interface MadePage {
  readonly source: string;
  readonly markdown: string;
}

/** The control that says what training would look like without a teacher, where the recipe has it. */
const CONTROL = 'random';
/** Rounds that a link plays where nothing was measured, and the most of a short run of an arm. */
const ROUNDS = 24;
const SHORT = 12;

/** Where the pictures of registered runs are in the site: beside the page that plays short ones. */
const PICTURES = 'try/registered';

/** What the lab has of each claim. It is a package of its own, which runs by itself. */
function toldByLab(): SiteClaim[] {
  const told = execFileSync(process.execPath, ['--conditions=rollmesh-source', 'cli/site-claims.ts'], {
    cwd: 'lab',
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(told) as SiteClaim[];
}

const onFiles = new Set<Recipe>(FILE_RECIPES);
const ALL: readonly Recipe[] = [...FILE_RECIPES, ...recipes];

/** Characters that Markdown would read as its own. */
const plain = (text: string) => text.replace(/[\\`*_{}[\]<>#|~]/g, (character) => `\\${character}`);

const tryAddress = (settings: Readonly<Record<string, string | number>>): string =>
  `try/index.html#${new URLSearchParams(Object.entries(settings).map(([key, value]) => [key, String(value)]))}`;

/** Where the page /try plays a recipe: with the sizes of the run that was measured. */
function played({ name, tasks, groupSize }: Recipe, more: Readonly<Record<string, string>> = {}): string {
  const measured = MEASURED[name];
  const [asked = tasks, group = groupSize] = measured?.sizes ?? [];
  const settings = { recipe: name, tasks: asked, group, rounds: measured?.rounds ?? ROUNDS, ...more };
  return tryAddress(settings);
}

/** The way from a recipe's page to the root of the site. */
const ROOT = '../../';

const ofOwn = (recipe: Recipe) => [
  ['as it is', {}] as const,
  ...(CONTROL in recipe.rewards ? [['paid by a coin', { reward: CONTROL }] as const] : []),
  ...Object.keys(recipe.variants ?? {}).map((variant) => [`--variant ${variant}`, { variant }] as const),
];

/** Links that play the recipe, its control and its variants in the tab; where it has no start of its own, why there are none. */
function playing(recipe: Recipe): string[] {
  if (onFiles.has(recipe))
    return recipe.name === 'grpo'
      ? [
          `It plays on your own files: [choose a checkpoint and questions](${ROOT}try/index.html), which stay in your tab.`,
          '',
        ]
      : [
          'It plays on your own files, which the page that plays in a tab does not take: run the command below.',
          '',
        ];
  const links = ofOwn(recipe).map(([title, more]) => `[${title}](${ROOT}${played(recipe, more)})`);
  return [
    `${links.join(' ')} One short run each, from the start policy \`${recipe.startPolicy}\`: what you see is an illustration and no evidence.`,
    '',
  ];
}

/** The main arm of a claim and the one that would refute it, as short runs beside the curves of the registered run. */
function armsOf(claim: SiteClaim, recipe: Recipe): string[] {
  const [picture] = Object.keys(claim.pictures);
  const rounds = Math.min(claim.rounds, SHORT);
  const links = claim.arms.map(({ name, reward, freeze = [], variant }, i) => {
    const settings = {
      ...{ recipe: claim.recipe, tasks: claim.sizes[0], group: claim.sizes[1], rounds },
      ...(reward && { reward }),
      ...(variant && { variant }),
      ...(freeze.length && { freeze: freeze.join(',') }),
      ...(claim.start !== recipe.startPolicy && { start: claim.start }),
      ...(picture && { registered: picture }),
    };
    const said = i === 0 ? 'Play the claim’s arm' : 'Play the arm that would refute it';
    return `[${said}: ${plain(name)}](${ROOT}${tryAddress(settings)})`;
  });
  return [
    `${links.join(' ')} Each is a short run in your tab, ${rounds} of ${claim.rounds} rounds with one seed from the start policy \`${claim.start}\`: an illustration${picture ? ' beside the registered curve' : ''}, and not the claim.`,
    '',
  ];
}

/** The registered result of a claim with its curves, and the two arms to play. */
const registered = (claim: SiteClaim, recipe: Recipe): string[] => [
  `## ${claim.name === recipe.name ? 'Registered result' : `Registered result: ${claim.name}`}`,
  '',
  claim.result,
  '',
  ...armsOf(claim, recipe),
  ...Object.keys(claim.pictures).map(
    (file) => `![${claim.name}: curves of its arms](${ROOT}${PICTURES}/${file})\n`,
  ),
];

function pageOfRecipe(recipe: Recipe, claims: readonly SiteClaim[]): MadePage {
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
    ...claims.flatMap((claim) => registered(claim, recipe)),
    '## Play it in this tab',
    '',
    ...(claims.length
      ? []
      : ['Nothing was registered of it, so that there is no result to play against.', '']),
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

/** The pages of all recipes, the pictures of their registered runs by their paths in the site, and the start policies that their links begin from. */
export function recipePages(): {
  readonly pages: readonly MadePage[];
  readonly pictures: ReadonlyMap<string, string>;
  readonly starts: readonly string[];
} {
  const claims = toldByLab();
  return {
    pages: ALL.map((recipe) =>
      pageOfRecipe(
        recipe,
        claims.filter((claim) => claim.recipe === recipe.name),
      ),
    ),
    starts: [
      ...new Set([...recipes.map(({ startPolicy }) => startPolicy), ...claims.map(({ start }) => start)]),
    ],
    pictures: new Map(
      claims.flatMap(({ pictures }) =>
        Object.entries(pictures).map(([file, svg]) => [`${PICTURES}/${file}`, svg] as const),
      ),
    ),
  };
}
