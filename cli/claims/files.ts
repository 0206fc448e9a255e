/** What claims leave behind: a results file each in claims/, docs/claims.md with its pictures, and what the page shows. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { wrongInput } from '../../core/errors.ts';
import { findRecipe, recipes } from '../../recipes/index.ts';
import { claimsForPage } from '../page-claims.ts';
import { claimsPage, pictures } from './page.ts';
import { type ClaimRecord, judged } from './record.ts';

const DATA = 'claims';
const PICTURES = 'docs/claims';
/** What the dashboard shows of the claims. */
const PAGE_DATA = 'dashboard/claims.json';

const fileOf = (recipe: string) => join(DATA, `${recipe}.json`);

const readRecord = async (recipe: string) =>
  JSON.parse(await readFile(fileOf(recipe), 'utf8')) as ClaimRecord;

export async function writeRecord(record: ClaimRecord): Promise<void> {
  await mkdir(DATA, { recursive: true });
  await writeFile(fileOf(record.recipe), `${JSON.stringify(record)}\n`);
}

/** Throws `wrong-input` where there is none. */
export async function recordToComplete(recipe: string): Promise<ClaimRecord> {
  if (existsSync(fileOf(recipe))) return await readRecord(recipe);
  throw wrongInput('claims.missing', `There is no ${fileOf(recipe)} to complete.`, {
    next: `Play the whole claim: npm run claims -- ${recipe}`,
  });
}

/** Judges all records again and writes the page from them. */
export async function writePage(): Promise<void> {
  const names = (await readdir(DATA)).filter((file) => file.endsWith('.json')).sort();
  const records = await Promise.all(
    names.map(async (file) => {
      const { name } = parse(file);
      return judged(await readRecord(name), findRecipe(name));
    }),
  );
  for (const record of records) await writeRecord(record);
  await mkdir(PICTURES, { recursive: true });
  for (const record of records)
    for (const [name, svg] of pictures(record)) await writeFile(join(PICTURES, name), svg);
  const diagnoses = Object.fromEntries(recipes.map(({ name, claim }) => [name, claim.diagnosis]));
  await writeFile('docs/claims.md', claimsPage(records, diagnoses));
  await writeFile(PAGE_DATA, `${JSON.stringify(claimsForPage(records))}\n`);
}
