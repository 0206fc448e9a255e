/** The files that claims produce: a results file each in claims/, docs/claims.md with its pictures, decision 12's table, and the dashboard's data. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import { coTrainingPage, coTrainingPicture } from './co-training.ts';
import { claimsPage, pictures, type Told } from './page.ts';
import { claimsForPage } from './page-claims.ts';
import { type Judged, judged, type Played } from './record.ts';
import { readAttempts, readRegistration } from './registered.ts';
import { type Sized, sizedRecords } from './sizes.ts';
import { spreadTable } from './spread.ts';

const DATA = 'claims';
const PICTURES = 'docs/claims';
/** The rule, which has a table of the records' spread. */
const RULE = 'docs/decisions/0012-one-rule.md';
/** The dashboard's data about the claims. */
const PAGE_DATA = 'web/dashboard/claims.json';

const byName = (a: Recipe, b: Recipe) => (a.name < b.name ? -1 : 1);

const fileOf = (recipe: string) => join(DATA, `${recipe}.json`);

/** What was run of a recipe's claim, or undefined where nothing was. */
export const readRecord = async (recipe: string): Promise<Played | undefined> =>
  existsSync(fileOf(recipe)) ? (JSON.parse(await readFile(fileOf(recipe), 'utf8')) as Played) : undefined;

export async function writeRecord(record: Played): Promise<void> {
  await mkdir(DATA, { recursive: true });
  await writeFile(fileOf(record.recipe), `${JSON.stringify(record)}\n`);
}

/** Reads a results file and judges it by the rule and the conditions of its claim. */
export async function judgedRecord(recipe: Recipe): Promise<Judged> {
  const { name } = recipe;
  const record = (await readRecord(name))!;
  return judged(record, recipe, await readAttempts(name), await readRegistration(name));
}

/** The records of these recipes, by their names in alphabetical order. A record of any other recipe is on no page. */
export async function judgedRecords({ recipes }: Registry): Promise<Judged[]> {
  const played = recipes.filter(({ name }) => existsSync(fileOf(name))).sort(byName);
  return await Promise.all(played.map(judgedRecord));
}

/** A text with what stands between two marks of that name replaced. */
function between(text: string, name: string, lines: readonly string[]): string {
  const [begin, end] = [
    `<!-- ${name}: made by \`npm run claims -- --page\` -->\n`,
    `<!-- end of ${name} -->`,
  ];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`internal: the page lacks the marks of ${name}`);
  return `${text.slice(0, from + begin.length)}${lines.join('\n')}\n${text.slice(to)}`;
}

/** The files that are made from the records, by path: the pages with their pictures, the dashboard's data. */
export async function claimFiles(
  known: Registry,
  records: readonly Judged[],
  sized: readonly Sized[],
): Promise<Map<string, string>> {
  const { recipes } = known;
  const waiting = recipes.flatMap(({ name, claim }) =>
    claim && !records.some(({ recipe }) => recipe === name) ? [name] : [],
  );
  const told: Readonly<Record<string, Told>> = Object.fromEntries(
    recipes.flatMap(({ name, claim }) => (claim ? [[name, claim]] : [])),
  );
  return new Map([
    ...records.flatMap((record) =>
      [...pictures(record, told[record.recipe]?.along)].map(
        ([name, svg]) => [join(PICTURES, name), svg] as const,
      ),
    ),
    [join(PICTURES, 'co-training.svg'), coTrainingPicture(known, records)],
    ['docs/claims.md', claimsPage(records, told, waiting)],
    ['docs/co-training.md', coTrainingPage(known, records, sized)],
    [RULE, between(await readFile(RULE, 'utf8'), 'spread', spreadTable(known, records))],
    [PAGE_DATA, `${JSON.stringify(claimsForPage(records))}\n`],
  ]);
}

/** Judges all records of these recipes again and writes the pages from them. Throws `claims.page` outside a clone of the repository, which has the pages. */
export async function writePage(known: Registry): Promise<void> {
  if (!existsSync(PICTURES))
    throw wrongInput('claims.page', `The working directory has no folder ${PICTURES}.`, {
      expected: 'a clone of rollmesh: the pages are those of the shipped recipes',
      next: 'Of a recipe of your own, the command prints the verdict when its run has ended.',
    });
  const files = await claimFiles(known, await judgedRecords(known), await sizedRecords(known));
  await mkdir(PICTURES, { recursive: true });
  for (const [path, text] of files) await writeFile(path, text);
}
