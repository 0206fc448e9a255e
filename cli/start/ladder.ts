/** What a solver can do and what a proposer asks, by the difficulty of tasks, as lines under that of a round. */
import type { RoundReport } from '../../core/schema/report.ts';
import { percent } from '../shared/figures.ts';

const BAR = 8;
const CELL = BAR + 6;

type Figures = Readonly<Record<string, number | null>> | undefined;

/** `solved.1`, `solved.2`, … of some figures by number. */
const byLevel = (figures: Figures, name: string): Map<number, number | null> =>
  new Map(
    Object.entries(figures ?? {}).flatMap(([key, value]) => {
      const level = key.startsWith(`${name}.`) ? Number(key.slice(name.length + 1)) : Number.NaN;
      return Number.isInteger(level) ? [[level, value] as const] : [];
    }),
  );

/** Nothing to eight eighths of a cell. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/** A bar of `width` cells in steps of an eighth. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(8 * width * Math.min(1, Math.max(0, share)));
  return ('█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!).padEnd(width, '·');
}

const line = (title: string, cells: readonly string[]): string =>
  [title.padStart(14), ...cells.map((cell) => cell.padStart(CELL))].join(' ').trimEnd();

/** The ladder of a round whose version was evaluated; none where its recipe does not tell tasks apart by difficulty. */
export function ladderLines({ evaluation, figures }: Pick<RoundReport, 'evaluation' | 'figures'>): string[] {
  const solved = byLevel(evaluation?.figures, 'solved');
  if (!solved.size) return [];
  const written = byLevel(figures, 'written');
  const levels = [...new Set([...solved.keys(), ...written.keys()])].sort((a, b) => a - b);
  const shown = (share: number | null | undefined, drawn: boolean) =>
    share == null ? '' : `${drawn ? bar(share, BAR) : ''}${percent(share).padStart(6)}`;
  return [
    line('difficulty', levels.map(String)),
    line(
      'solved',
      levels.map((level) => shown(solved.get(level), true)),
    ),
    ...(written.size
      ? [
          line(
            'written',
            levels.map((level) => shown(written.get(level), false)),
          ),
        ]
      : []),
  ];
}
