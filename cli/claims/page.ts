/** Makes docs/claims.md and its pictures from the results files; only texts written after the runs come from the recipes. */
import { figureOf, type JudgedCondition } from '../../core/claim.ts';
import type { Summary } from '../../core/schema/summary.ts';
import { lineChart, type Series } from './line-chart.ts';
import type { ClaimRecord, MeasuredOn, PlayedArm } from './record.ts';

/** The curves of a claim that names none. */
const PICTURES: Readonly<Record<string, string>> = {
  accuracy: 'Held-out accuracy, greedy',
  sampled: 'Held-out accuracy, sampled',
  forcedWorked: 'Held-out accuracy, steps forced',
};

/** Titles of a claim's curves, by figure. */
export const picturesOf = ({ pictures }: Pick<ClaimRecord, 'pictures'>): Readonly<Record<string, string>> =>
  pictures ?? PICTURES;

/** A share in percent. It is rounded to a millionth of a point first, so that the mean of equal values is printed like the values. */
const points = (value: number) => (Math.round(1e8 * value) / 1e6).toFixed(1);
const meanOf = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const spread = (values: readonly number[]) =>
  `${points(meanOf(values))} (${points(Math.min(...values))} to ${points(Math.max(...values))})`;

const ofPoint = (point: Summary['heldout'][number] | undefined, figure: string) =>
  point ? figureOf(point, figure) : Number.NaN;

export const pictureName = (recipe: string, figure: string) => `${recipe}-${figure.toLowerCase()}.svg`;

/** SVG pictures by file name, one per figure: a line for each arm (its mean over seeds), with a line for each seed behind it. */
export function pictures(record: ClaimRecord): Map<string, string> {
  return new Map(
    Object.entries(picturesOf(record)).map(([figure, title]) => {
      const series = record.arms.map(
        ({ name, runs }): Series => ({
          name,
          runs: runs.map((run) =>
            run.heldout.map((point) => ({ x: point.round, y: figureOf(point, figure) })),
          ),
        }),
      );
      return [pictureName(record.recipe, figure), lineChart({ title, xTitle: 'round', series })];
    }),
  );
}

const judgedTable = (title: string, rows: readonly JudgedCondition[]): string[] => [
  `| ${title} | bound | measured, by seed | holds |`,
  '|---|---|---|---|',
  ...rows.map(
    ({ description, bound, measured, holds }) =>
      `| ${description} | ${bound} | ${measured.map((value) => value.toFixed(3)).join(', ')} | ${holds ? 'yes' : '**no**'} |`,
  ),
  '',
];

const measuredOn = ({ node, cores, cpu, commit, at }: MeasuredOn) =>
  `${node} on ${cores} cores (${cpu}), commit ${commit}, ${at.slice(0, 10)}`;

/** A sentence on the arms that were added to the record later, with the machine and commit of each. */
const playedLater = (arms: readonly PlayedArm[]): string =>
  arms.map(({ name, machine }) => (machine ? `; ${name} with ${measuredOn(machine)}` : '')).join('');

function section(record: ClaimRecord, diagnosis: string | undefined): string {
  const { recipe, claim, verdict, conditions, observations, arms, machine, seeds, rounds } = record;
  const drawn = Object.entries(picturesOf(record));
  const start = arms[0]!.runs[0]!.heldout[0]!;
  const began = drawn.map(([figure, title]) => `${title.toLowerCase()} ${points(ofPoint(start, figure))}`);
  return [
    `## ${recipe}: ${verdict}`,
    '',
    claim,
    '',
    `${rounds} rounds, seeds ${seeds.join(', ')}; ${start.n} held-out tasks. Version 0, seed ${seeds[0]}: ${began.join('; ')}. All figures in percent, mean and range over seeds, at the end.`,
    '',
    `| arm | ${drawn.map(([, title]) => title).join(' | ')} | what it is |`,
    `|---|${drawn.map(() => '---|').join('')}---|`,
    ...arms.map(({ name, runs, description }) => {
      const cells = drawn.map(([figure]) => spread(runs.map((run) => ofPoint(run.heldout.at(-1), figure))));
      return `| ${[name, ...cells, description].join(' | ')} |`;
    }),
    '',
    ...judgedTable('condition, stated beforehand', conditions),
    ...(observations?.length ? judgedTable('beside the claim, no part of the verdict', observations) : []),
    ...(diagnosis ? [`**Diagnosis.** ${diagnosis}`, ''] : []),
    ...drawn.map(([figure, title]) => `![${title}](claims/${pictureName(recipe, figure)})`),
    '',
    `Measured with ${measuredOn(machine)}${playedLater(arms)}. Again: \`npm run claims -- ${recipe}\`. Data: [claims/${recipe}.json](../claims/${recipe}.json).`,
    '',
  ].join('\n');
}

/** The overview of all claims: one line per claim, with a link to its section. */
const overview = (records: readonly ClaimRecord[]): string[] => [
  '| recipe | verdict | conditions that hold | arms × seeds × rounds |',
  '|---|---|---|---|',
  ...records.map(({ recipe, verdict, conditions, arms, seeds, rounds }) => {
    const held = conditions.filter(({ holds }) => holds).length;
    return `| [${recipe}](#${recipe}-${verdict.replaceAll(' ', '-')}) | ${verdict} | ${held} of ${conditions.length} | ${arms.length} × ${seeds.length} × ${rounds} |`;
  }),
  '',
];

/** `diagnoses` by recipe. */
export const claimsPage = (
  records: readonly ClaimRecord[],
  diagnoses: Readonly<Record<string, string | undefined>> = {},
): string =>
  [
    '# Claims at small scale',
    '',
    'Made by `npm run claims -- --page` from the files in `claims/`; do not edit. A verdict is about these small runs alone. A condition holds if the mean over the seeds keeps its bound and most seeds do too, or every seed where it says so; what each seed measured stands beside it. Held-out tasks are never proposed or trained on, except by ttrl, whose method it is to train on its test set’s questions without their answers. Where a claim was revised after a first run, its diagnosis says so, and conditions that were moved are listed in [decision 8](decisions/0008-claims.md); settings were chosen on pilots with other seeds, examined on other tasks (`--pilot`); the flagship’s are older than that rule, its run is on fresh seeds.',
    '',
    ...overview(records),
    ...records.map((record) => section(record, diagnoses[record.recipe])),
  ].join('\n');
