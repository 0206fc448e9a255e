/** The files of claims: their records, and the pages that are made from them in `build/`. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ClaimedRecipe, ClaimedRegistry } from '../rule/claim.ts';
import { pagesOf } from './pages.ts';
import { type Judged, judged, type Played, SIZES, type Size, type Sized } from './record.ts';
import { readRecordFile, writeRecordFile } from './record-file.ts';
import { readAttempts, readRegistration } from './registered.ts';
import { trimmed } from './trim.ts';

const RECORDS = 'records';
const PAGES = 'build';

const byName = (a: ClaimedRecipe, b: ClaimedRecipe) => (a.name < b.name ? -1 : 1);

const fileOf = (recipe: string) => join(RECORDS, `${recipe}.json`);

/** What was run of a recipe's claim, or undefined where nothing was. */
export const readRecord = async (recipe: string): Promise<Played | undefined> =>
  existsSync(fileOf(recipe)) ? await readRecordFile<Played>(fileOf(recipe)) : undefined;

/** Writes what is kept of a record, in one file. */
export const writeRecord = (recipe: ClaimedRecipe, record: Played): Promise<void> =>
  writeRecordFile(fileOf(recipe.name), trimmed(recipe, record));

/** Reads a record and judges it by the rule and the conditions of its claim. */
export async function judgedRecord(recipe: ClaimedRecipe): Promise<Judged> {
  const { name } = recipe;
  const record = (await readRecord(name))!;
  return judged(record, recipe, await readAttempts(name), await readRegistration(name));
}

/** The records of these recipes, by their names in alphabetical order. A record of any other recipe is on no page. */
export async function judgedRecords({ recipes }: ClaimedRegistry): Promise<Judged[]> {
  const played = recipes.filter(({ name }) => existsSync(fileOf(name))).sort(byName);
  return await Promise.all(played.map(judgedRecord));
}

export const sizedFile = (recipe: string, shape: Size) => join(RECORDS, 'sizes', `${recipe}-${shape}.json`);

/** The records of all sizes that were played of these recipes, by recipe and then by size. */
export async function sizedRecords({ recipes }: ClaimedRegistry): Promise<Sized[]> {
  const files = recipes
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => SIZES.map((shape) => sizedFile(name, shape)))
    .filter((file) => existsSync(file));
  return await Promise.all(files.map((file) => readRecordFile<Sized>(file)));
}

export const writeSized = (recipe: ClaimedRecipe, record: Sized): Promise<void> =>
  writeRecordFile(sizedFile(recipe.name, record.shape), trimmed(recipe, record));

/** Judges all records of these recipes again and writes the pages from them. */
export async function writePages(known: ClaimedRegistry): Promise<void> {
  const pages = pagesOf(known, await judgedRecords(known), await sizedRecords(known));
  for (const [path, text] of pages) {
    const file = join(PAGES, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  console.log(`${pages.size} files are written to lab/${PAGES}.`);
}
