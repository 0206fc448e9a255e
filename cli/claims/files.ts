/** The files that claims produce: a results file each in claims/, docs/claims.md with its pictures, and the dashboard's data. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { wrongInput } from '../../core/errors.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { claimsPage, pictures } from './page.ts';
import { claimsForPage } from './page-claims.ts';
import { type ClaimRecord, judged } from './record.ts';

const DATA = 'claims';
const PICTURES = 'docs/claims';
/** The dashboard's data about the claims. */
const PAGE_DATA = 'dashboard/claims.json';

const fileOf = (recipe: string) => join(DATA, `${recipe}.json`);

const readRecord = async (recipe: string) =>
  JSON.parse(await readFile(fileOf(recipe), 'utf8')) as ClaimRecord;

const textOf = (record: ClaimRecord) => `${JSON.stringify(record)}\n`;

export async function writeRecord(record: ClaimRecord): Promise<void> {
  await mkdir(DATA, { recursive: true });
  await writeFile(fileOf(record.recipe), textOf(record));
}

/** Reads the record to which arms are to be added. Throws `wrong-input` where there is none. */
export async function recordToComplete(recipe: string): Promise<ClaimRecord> {
  if (existsSync(fileOf(recipe))) return await readRecord(recipe);
  throw wrongInput('claims.missing', `There is no ${fileOf(recipe)} to complete.`, {
    next: `Play the whole claim: npm run claims -- ${recipe}`,
  });
}

/** Reads every results file and judges it by its claim's present conditions. */
export async function judgedRecords(): Promise<ClaimRecord[]> {
  const names = (await readdir(DATA)).filter((file) => file.endsWith('.json')).sort();
  return await Promise.all(
    names.map(async (file) => {
      const { name } = parse(file);
      return judged(await readRecord(name), shipped.find(name));
    }),
  );
}

/** The files that are made from the records, by path: the results files themselves, the page with its pictures, the dashboard's data. */
export function claimFiles(records: readonly ClaimRecord[]): Map<string, string> {
  const diagnoses = Object.fromEntries(recipes.map(({ name, claim }) => [name, claim?.diagnosis]));
  return new Map([
    ...records.map((record) => [fileOf(record.recipe), textOf(record)] as const),
    ...records.flatMap((record) =>
      [...pictures(record)].map(([name, svg]) => [join(PICTURES, name), svg] as const),
    ),
    ['docs/claims.md', claimsPage(records, diagnoses)],
    [PAGE_DATA, `${JSON.stringify(claimsForPage(records))}\n`],
  ]);
}

/** Judges all records again and writes the page from them. */
export async function writePage(): Promise<void> {
  const files = claimFiles(await judgedRecords());
  await mkdir(PICTURES, { recursive: true });
  for (const [path, text] of files) await writeFile(path, text);
}
