/** What a solver can do and what a proposer asks, by the difficulty of tasks, as lines under that of a round. */
import type { RoundReport } from '../../core/schema/report.ts';
import { rungsOf } from '../../web/dashboard/rungs.js';
import { percent } from '../shared/figures.ts';

const BAR = 8;
const CELL = BAR + 6;

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
export function ladderLines(report: Pick<RoundReport, 'evaluation' | 'figures'>): string[] {
  const rungs = rungsOf([{ report }]);
  if (!rungs.some(({ solved }) => solved !== null)) return [];
  const shares = (key: 'solved' | 'written', drawn: boolean) =>
    rungs.map(({ [key]: share }) =>
      share === null ? '' : `${drawn ? bar(share, BAR) : ''}${percent(share).padStart(6)}`,
    );
  return [
    line(
      'difficulty',
      rungs.map(({ level }) => String(level)),
    ),
    line('solved', shares('solved', true)),
    ...(rungs.some(({ written }) => written !== null) ? [line('written', shares('written', false))] : []),
  ];
}
