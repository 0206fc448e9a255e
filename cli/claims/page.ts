/** docs/claims.md and its pictures, from the results files alone. */
import type { Summary } from '../../core/schema/summary.ts';
import { lineChart, type Series } from './line-chart.ts';
import type { ClaimRecord } from './record.ts';

type Figure = 'accuracy' | 'sampled' | 'forcedWorked' | 'worked';

const PICTURES: readonly { readonly figure: Figure; readonly title: string }[] = [
  { figure: 'accuracy', title: 'Held-out accuracy, greedy' },
  { figure: 'sampled', title: 'Held-out accuracy, sampled' },
  { figure: 'forcedWorked', title: 'Held-out accuracy, steps forced' },
];

const points = (value: number) => (100 * value).toFixed(1);
const meanOf = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const spread = (values: readonly number[]) =>
  `${points(meanOf(values))} (${points(Math.min(...values))} to ${points(Math.max(...values))})`;

const last = (run: Summary, figure: Figure) => run.heldout.at(-1)?.[figure] ?? Number.NaN;

export const pictureName = (recipe: string, figure: string) => `${recipe}-${figure.toLowerCase()}.svg`;

/** SVG pictures by file name: one a figure, one line an arm (mean over seeds) with each seed behind it. */
export function pictures(record: ClaimRecord): Map<string, string> {
  return new Map(
    PICTURES.map(({ figure, title }) => {
      const series = record.arms.map(
        ({ name, runs }): Series => ({
          name,
          runs: runs.map((run) => run.heldout.map((point) => ({ x: point.round, y: point[figure] }))),
        }),
      );
      return [pictureName(record.recipe, figure), lineChart({ title, xTitle: 'round', series })];
    }),
  );
}

function section(record: ClaimRecord): string {
  const { recipe, claim, verdict, conditions, arms, machine, seeds, rounds } = record;
  const start = arms[0]!.runs[0]!.heldout[0]!;
  return [
    `## ${recipe}: ${verdict}`,
    '',
    claim,
    '',
    `${rounds} rounds, seeds ${seeds.join(', ')}; ${start.n} held-out tasks. Version 0: ${points(start.accuracy)} greedy, ${points(start.sampled)} sampled, ${points(start.forcedWorked)} with steps forced. All figures in percent, mean and range over seeds.`,
    '',
    '| arm | greedy | sampled | steps forced | worked | judge, fixed set | what it is |',
    '|---|---|---|---|---|---|---|',
    ...arms.map(({ name, runs, says }) => {
      const judge = runs.map((run) => run.judge.at(-1)?.fixed ?? Number.NaN);
      const cells = (['accuracy', 'sampled', 'forcedWorked', 'worked'] as const).map((figure) =>
        spread(runs.map((run) => last(run, figure))),
      );
      return `| ${[name, ...cells, spread(judge), says].join(' | ')} |`;
    }),
    '',
    '| condition, stated beforehand | bound | measured, by seed | holds |',
    '|---|---|---|---|',
    ...conditions.map(
      ({ says, bound, measured, holds }) =>
        `| ${says} | ${bound} | ${measured.map((value) => value.toFixed(3)).join(', ')} | ${holds ? 'yes' : '**no**'} |`,
    ),
    '',
    ...PICTURES.map(({ figure, title }) => `![${title}](claims/${pictureName(recipe, figure)})`),
    '',
    `Measured with ${machine.node} on ${machine.cores} cores (${machine.cpu}), commit ${machine.commit}, ${machine.at.slice(0, 10)}. Again: \`npm run claims -- ${recipe}\`. Data: [claims/${recipe}.json](../claims/${recipe}.json).`,
    '',
  ].join('\n');
}

export const claimsPage = (records: readonly ClaimRecord[]): string =>
  [
    '# Claims at small scale',
    '',
    'Made by `npm run claims -- --page` from the files in `claims/`; do not edit. A verdict is about these small runs alone. Held-out tasks are never proposed or trained on, and no setting was chosen by looking at them in these runs.',
    '',
    ...records.map(section),
  ].join('\n');
