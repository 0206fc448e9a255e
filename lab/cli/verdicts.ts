/**
 * Every verdict and printed digit of the records, as lines of text: of each condition its outcome, mean, interval and a digest of what each seed
 * measured; of each page and picture a digest. `npm run verdicts` judges the records again and compares with `verdicts.txt`, or writes that file with `-- --write`.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { claimed } from '../claims/index.ts';
import { sha256Hex } from '../rule/digest.ts';
import { judgedRecords, sizedRecords } from './files.ts';
import { pagesOf } from './pages.ts';

const FILE = 'verdicts.txt';

const digest = (text: string) => sha256Hex(new TextEncoder().encode(text)).slice(0, 12);
/** The rows of a page's tables, whose links may lead elsewhere. */
const rows = (page: string) =>
  page
    .replaceAll(/\]\([^)]*\)/g, ']')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .join('\n');

export async function verdictLines(): Promise<string[]> {
  const records = await judgedRecords(claimed);
  const judged = records.flatMap(({ recipe, verdict, conditions, observations }) => [
    `${recipe}: ${verdict}`,
    ...[...conditions, ...observations].map(({ outcome, measured, interval }, i) => {
      const { mean, low, high } = interval;
      const numbers = [mean, low, high].map((value) => value.toFixed(6)).join(' ');
      return `${recipe} ${i + 1} ${outcome}, ${numbers} ${digest(JSON.stringify(measured))}`;
    }),
  ]);
  const pages = [...pagesOf(claimed, records, await sizedRecords(claimed))].map(
    ([path, text]) => `${path} ${digest(path.endsWith('.md') ? rows(text) : text)}`,
  );
  return [...judged, ...pages];
}

/** The lines that differ from the committed ones. */
export async function changedLines(): Promise<string[]> {
  const before = new Set((existsSync(FILE) ? await readFile(FILE, 'utf8') : '').trimEnd().split('\n'));
  const now = await verdictLines();
  return [
    ...now.filter((line) => !before.delete(line)).map((line) => `+ ${line}`),
    ...[...before].map((line) => `- ${line}`),
  ];
}
