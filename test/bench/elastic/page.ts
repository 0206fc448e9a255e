/** The parts of test/bench/elastic.md that are made from the records: the constants of each engine, how well they predict, and what follows from them. */
import type { Engine } from '../../../core/policy/policy.ts';
import type { Machine } from '../../../local/machine.ts';
import type { Fit } from './fit.ts';
import type { Setting } from './observe.ts';
import type { SweepRow } from './sweep.ts';

/** A record of the bench, as far as the page shows it. */
export interface ElasticRecord {
  readonly engine: Engine;
  readonly machine: Machine;
  readonly fit: Fit;
  readonly checks: readonly {
    readonly setting: Setting;
    readonly measuredMs: number;
    readonly predictedMs: number;
    readonly error: number;
  }[];
  readonly sweeps: Readonly<Record<string, readonly SweepRow[]>>;
}

/** Where a part begins and ends. */
const marksOf = (part: string): readonly [begin: string, end: string] => [
  `<!-- ${part}: made by \`npm run bench -- elastic --page\` -->\n`,
  `<!-- end of ${part} -->`,
];

const NAMES: Readonly<Partial<Record<Engine, string>>> = { onnx: 'ONNX Runtime' };
const nameOf = ({ engine }: ElasticRecord) => NAMES[engine] ?? engine;

/** What the page calls a number of the work, and where it is; ms. */
const CONSTANTS: readonly (readonly [name: string, of: (fit: Fit) => readonly number[]])[] = [
  ['to open a version', ({ work }) => [work.open]],
  ['to propose: a round, a task', ({ work }) => [work.propose.base, work.propose.task]],
  ['to roll out: a batch, a task, a sample', ({ work }) => Object.values(work.rollout)],
  ['to judge: a batch, a task, a sample', ({ work }) => Object.values(work.judge)],
  ['what a batch waits for', ({ wait }) => [wait]],
  ['to fetch a group', ({ fetch }) => [fetch]],
  ['to train: a round, a sample', ({ work }) => [work.learner.base, work.learner.sample]],
  ['to change to another run’s policy', ({ work }) => [work.learner.change]],
];

const ms = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2));
const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) => [
  row(head),
  `|${'---|'.repeat(head.length)}`,
  ...rows.map(row),
];

const settingText = ({ tasks, group, runs }: Setting) =>
  `${tasks} tasks × ${group}, ${runs === 1 ? 'one run' : `${runs} runs at once`}`;

const signed = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)} %`;

/** The isolates of the sweeps that the page shows by engine. */
const SHOWN = [10, 1000];

function tablesOf(records: readonly ElasticRecord[]): string[] {
  const names = records.map(nameOf);
  const [first] = records;
  const where = records.map(
    (record) =>
      `${nameOf(record)} on ${record.machine.cores} cores of ${record.machine.cpu}, Node ${record.machine.node.replace('v', '')}, ${record.machine.at.slice(0, 10)}, commit \`${record.machine.commit}\``,
  );
  return [
    `Measured: ${where.join('; ')}.`,
    '',
    ...table(
      ['work, ms', ...names],
      CONSTANTS.map(([name, of]) => [name, ...records.map(({ fit }) => of(fit).map(ms).join(', '))]),
    ),
    '',
    ...table(
      ['setting', ...names.flatMap((name) => [`${name}: measured round`, 'predicted', 'error'])],
      (first?.checks ?? []).map(({ setting }, i) => [
        settingText(setting),
        ...records.flatMap(({ checks }) => {
          const { measuredMs, predictedMs, error } = checks[i]!;
          return [`${measuredMs.toFixed(0)} ms`, `${predictedMs.toFixed(0)} ms`, signed(error)];
        }),
      ]),
    ),
    '',
    ...table(
      [
        'by the model, s a round',
        ...SHOWN.flatMap((isolates) => names.map((name) => `${isolates} isolates, ${name}`)),
      ],
      Object.keys(first?.sweeps ?? {}).map((sweep) => [
        sweep,
        ...SHOWN.flatMap((isolates) =>
          records.map(({ sweeps }) => {
            const at = sweeps[sweep]?.find((one) => one.isolates === isolates);
            return at ? at.roundSeconds.toFixed(1) : '';
          }),
        ),
      ]),
    ),
  ];
}

/** The isolates of the sweeps that the page shows whole. */
const SWEPT = [10, 100, 300, 1000, 10_000];
/** Limits that are named of each row. */
const MOST_LIMITS = 2;

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;

function sweepOf([name, rows]: readonly [string, readonly SweepRow[]]): string[] {
  const shown = rows.filter(({ isolates }) => SWEPT.includes(isolates));
  return [
    `**${name[0]!.toUpperCase()}${name.slice(1)}**`,
    '',
    ...table(
      [
        ...['isolates', 'used at once', 's a round', 'samples/s', 'idle: isolates / learner / D1'],
        ...['versions behind', '$ a round', '$ a million tokens', 'binds'],
      ],
      shown.map((at) => [
        ...[
          String(at.isolates),
          String(at.mostAtOnce),
          at.roundSeconds.toFixed(1),
          at.samplesPerSecond.toFixed(0),
        ],
        [at.idle.isolates, at.idle.learner, at.idle.d1].map(percent).join(' / '),
        ...[at.staleness.toFixed(2), at.dollarsPerRound.toFixed(4), at.dollarsPerMillionTokens.toFixed(2)],
        at.lifted
          .slice(0, MOST_LIMITS)
          .map(({ limit, gain }) => `${limit} ${gain.toFixed(2)}×`)
          .join(', '),
      ]),
    ),
    '',
  ];
}

function withPart(page: string, part: string, lines: readonly string[]): string {
  const [begin, end] = marksOf(part);
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`internal: test/bench/elastic.md lacks the marks of ${part}`);
  return `${page.slice(0, from + begin.length)}\n${lines.join('\n').trimEnd()}\n\n${page.slice(to)}`;
}

/** The page with the tables of these records between its marks; the sweeps are those of the first. */
export const withTables = (page: string, records: readonly ElasticRecord[]): string =>
  withPart(
    withPart(page, 'engines', tablesOf(records)),
    'sweeps',
    Object.entries(records[0]?.sweeps ?? {}).flatMap(sweepOf),
  );
