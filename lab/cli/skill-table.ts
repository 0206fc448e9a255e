/** What a claim that examines its policies shows of skill: by depth, each arm at its end beside what version 0 can do without any training. */
import { tInterval } from 'rollmesh';
import type { Claim, Run } from '../rule/claim.ts';
import { figureOf } from '../rule/curves.ts';
import type { Judged } from './record.ts';

const percent = (share: number) => (100 * share).toFixed(0);

/** The mean over runs with its 95 % interval, in percent; where all runs agree, one number. */
function cell(values: readonly number[]): string {
  if (values.some((value) => !Number.isFinite(value))) return '–';
  const { mean, low, high } = tInterval(values);
  return Number.isFinite(high) && high > low
    ? `${percent(mean)} (${percent(Math.max(0, low))} to ${percent(Math.min(1, high))})`
    : percent(mean);
}

const row = (name: string, cells: readonly (string | number)[]) => `| ${[name, ...cells].join(' | ')} |`;

/** Levels of difficulty whose greedy accuracy a claim draws along an axis. */
const drawn = ({ along }: Pick<Claim, 'along'>) => Object.keys(along?.at ?? {});

/** A table: greedy accuracy by depth, and chances of one and of 64 samples where they were asked. Empty for a claim without an examination. */
export function skillTable(
  { arms }: Pick<Judged, 'arms'>,
  { examination, along }: Pick<Claim, 'examination' | 'along'>,
): string[] {
  if (!examination || !along) return [];
  const { levels } = examination;
  const solved = drawn({ along });
  const of = (runs: readonly Run[], at: number, figure: string) =>
    cell(runs.map(({ heldout }) => figureOf(heldout.at(at)!, figure)));
  const chances = (runs: readonly Run[], at: number) =>
    levels.map((level) => `${of(runs, at, `pass1.${level}`)} / ${of(runs, at, `pass64.${level}`)}`);
  const none = levels.map(() => '–');
  const asked = (figure: string, runs: readonly Run[]) =>
    solved.map((name) => {
      const level = name.split('.')[1]!;
      return levels.map(String).includes(level) ? of(runs, 0, `${figure}.${level}`) : '–';
    });
  const start = arms[0]!.runs;
  const depth = (figure: string) => figure.split('.')[1]!;
  return [
    row('', [
      'starts',
      'tokens, k',
      ...solved.map((figure) => `${along.xTitle} ${depth(figure)}`),
      ...levels.map((level) => `${level}: pass@1 / pass@64`),
    ]),
    `|---|${'---|'.repeat(2 + solved.length + levels.length)}`,
    row('version 0, greedy', [
      start.length,
      0,
      ...solved.map((figure) => of(start, 0, figure)),
      ...chances(start, 0),
    ]),
    row('version 0, best temperature', [start.length, 0, ...asked('best', start), ...none]),
    row('version 0, majority of 64, answers alone', [start.length, 0, ...asked('majority', start), ...none]),
    ...arms.map(({ name, runs }) =>
      row(name, [
        runs.length,
        Math.round(runs.reduce((sum, { tokens }) => sum + tokens.generated, 0) / runs.length / 1000),
        ...solved.map((figure) => of(runs, -1, figure)),
        ...chances(runs, -1),
      ]),
    ),
  ];
}
