/** What held-out answers are worth at several temperatures, as lines under that of a round. */
import type { EvaluationReport } from '../../core/schema/report.ts';
import { type AtTemperature, bestOf, temperaturesIn } from '../../core/statistics/temperatures.ts';
import { percent } from '../shared/figures.ts';

const TITLE = 14;
const CELL = 9;

/** None where the run did not ask for them. */
export function temperatureLines(evaluation: Pick<EvaluationReport, 'figures'> | undefined): string[] {
  const at = temperaturesIn(evaluation?.figures);
  if (at.length === 0) return [];
  const best = bestOf(at).temperature;
  const line = (title: string, cell: (one: AtTemperature) => string): string =>
    [title.padStart(TITLE), ...at.map((one) => cell(one).padStart(CELL))].join(' ').trimEnd();
  const share = (value: number | null) => (value === null ? '' : percent(value, 1));
  return [
    line('temperature', ({ temperature }) => `${temperature || 'greedy'}${temperature === best ? ' *' : ''}`),
    line('right', ({ accuracy }) => share(accuracy)),
    line('pass@k', ({ pass }) => share(pass)),
    line('majority@k', ({ majority }) => share(majority)),
  ];
}
