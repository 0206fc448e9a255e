/** Formats the commands' results for people: plain columns with numbers aligned right. */
import type { Completion, TokenScores } from '../../core/policy/policy.ts';
import type { PolicyVersions, Pruned } from '../../core/schema/answers.ts';
import { decimal } from '../shared/figures.ts';

export interface Column {
  readonly title: string;
  /** The column's width in characters; a longer text is not cut. */
  readonly width: number;
  /** True for texts, which are aligned left; numbers are aligned right. */
  readonly left?: boolean;
}

export const row = (columns: readonly Column[], cells: readonly string[]): string =>
  columns
    .map(({ width, left }, i) => (left ? cells[i]!.padEnd(width) : cells[i]!.padStart(width)))
    .join('  ')
    .trimEnd();

export const heading = (columns: readonly Column[]): string =>
  row(
    columns,
    columns.map((column) => column.title),
  );

/** How many letters of a hash are shown: enough to tell the versions of a mesh apart. */
const HASH = 12;

/** As wide as the longest of the policies' names. */
export const versionColumns = (names: readonly string[]): readonly Column[] => [
  { title: 'policy', width: Math.max(24, ...names.map(({ length }) => length)), left: true },
  { title: 'version', width: 7 },
  { title: 'parent', width: 6 },
  { title: 'size', width: 9 },
  { title: 'made', width: 20, left: true },
  { title: 'weights', width: HASH, left: true },
  { title: '', width: 9, left: true },
];

const size = (bytes: number) =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

const time = (ms: number) => new Date(ms).toISOString().replace('T', ' ').slice(0, 19);

/** A policy's versions, oldest first; the current one is marked. */
export function versionRows(
  { name, current, next, versions }: PolicyVersions,
  columns = versionColumns([name]),
): string[] {
  const rows = versions
    .toReversed()
    .map(({ version, parent, bytes, elsewhere, createdAt, withdrawn, prunedAt, weightsSha256: weights }) => {
      const state = prunedAt !== null ? 'pruned' : withdrawn !== null ? 'withdrawn' : '';
      const marks = [version === current ? 'current' : state];
      if (elsewhere) marks.push(`stores changes to versions ${elsewhere.join(', ')}`);
      const mark = marks.filter(Boolean).join(', ');
      return row(columns, [
        ...[name, String(version), String(parent ?? '–'), size(bytes), time(createdAt)],
        ...[weights?.slice(0, HASH) ?? '–', mark],
      ]);
    });
  const unlisted = next - versions.length;
  return unlisted > 0 ? [`${name}: ${unlisted} older versions are not listed`, ...rows] : rows;
}

/** The versions that were or would be removed, and older ones that are kept, with the reason. */
export function pruneLines({ policy, dryRun, versions }: Pruned): string[] {
  const going = versions.filter(({ kept }) => kept === null);
  const bytes = going.reduce((total, version) => total + version.bytes, 0);
  const numbers = going.map(({ version }) => version).join(', ');
  const lines = versions.map(({ version, kept }) => `keep ${policy}@${version}: ${kept}`);
  return [
    ...lines.filter((_, i) => versions[i]!.kept !== null),
    `${policy}: ${going.length} ${going.length === 1 ? 'version' : 'versions'} ${dryRun ? 'would go' : 'removed'}, ${size(bytes)}${numbers && ` (${numbers})`}`,
  ];
}

export const SCORES: readonly Column[] = [
  { title: 'line', width: 5 },
  { title: 'tokens', width: 6 },
  { title: 'log-probability', width: 15 },
  { title: 'per token', width: 9 },
  { title: 'entropy', width: 9 },
];

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Sums and means in nats; a mean of no values is missing. */
export const scoreRow = (line: number, { logprobs, entropy }: TokenScores): string => {
  const mean = (values: readonly number[]) => (values.length ? sum(values) / values.length : null);
  return row(SCORES, [
    String(line),
    String(logprobs.length),
    decimal(sum(logprobs), 4),
    decimal(mean(logprobs), 4),
    decimal(mean(entropy), 4),
  ]);
};

export const SAMPLES: readonly Column[] = [
  { title: 'line', width: 5 },
  { title: 'sample', width: 6 },
  { title: 'log-probability', width: 15 },
  { title: 'end', width: 7, left: true },
  { title: 'ids or text', width: 3, left: true },
];

export const sampleRows = (
  line: number,
  samples: readonly (Completion & { readonly text?: string })[],
): string[] =>
  samples.map(({ ids, logprobs, stopped, text }, i) =>
    row(SAMPLES, [
      String(line),
      String(i + 1),
      decimal(sum(logprobs), 4),
      stopped ? 'stop' : 'cut off',
      text === undefined ? ids.join(' ') : JSON.stringify(text),
    ]),
  );
