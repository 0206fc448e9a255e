/** What `rollmesh compare` prints for people. Nothing is called higher or lower that the exact test does not find. */
import {
  type AtBudget,
  type Budget,
  type ComparableRun,
  type ComparedRuns,
  EQUAL_WITHIN,
  type PairedVersions,
} from '../../core/runs/compare-runs.ts';
import { FEWEST_QUESTIONS, pWords } from '../../core/statistics/change.ts';
import type { AtTemperature } from '../../core/statistics/temperatures.ts';
import { percent, points, whole } from '../shared/figures.ts';

const AMOUNT: Readonly<Record<Budget, (value: number) => string>> = {
  tokens: (value) => `${whole(value)} sampled tokens`,
  flop: (value) => `${value.toExponential(1).replace('+', '')} FLOP`,
};

function verdictWords({ verdict, p, difference, why, n }: AtBudget): string {
  if (verdict === 'few')
    return `${n[0]} held-out ${n[0] === 1 ? 'question is' : 'questions are'} too few to tell the runs apart (${FEWEST_QUESTIONS} are needed)`;
  if (difference === null) return `not tested: ${why}`;
  const by = `${points(difference.mean)} points (95 %: ${points(difference.low)} to ${points(difference.high)}), exact test ${pWords(p ?? 1)}`;
  if (verdict === 'chance') return `B does not differ from A beyond chance: ${by}`;
  return `B is ${verdict === 'rose' ? 'higher' : 'lower'} than A: ${by}`;
}

/** The share of right answers at the temperature of most. */
const bestWords = ({ temperature, accuracy }: AtTemperature): string =>
  `${percent(accuracy, 1)} at its best, ${temperature ? `temperature ${temperature}` : 'greedy'}`;

const budgetLines = (by: Budget, at: AtBudget): string[] => [
  `At equal ${by === 'tokens' ? 'sampled tokens' : 'FLOP'}, within ${100 * EQUAL_WITHIN} %:`,
  ...at.versions.map(
    (spent, i) =>
      `  ${'AB'[i]}  after round ${spent.round} (version ${spent.version}, ${AMOUNT[by](spent[by])}): ${percent(spent.accuracy, 1)} on ${at.n[i]} held-out questions${spent.best ? `; ${bestWords(spent.best)}` : ''}`,
  ),
  `  ${verdictWords(at)}`,
];

const versionsWords = ([a, b]: PairedVersions['versions']) =>
  a === b ? `version ${a}` : `versions ${a} and ${b}`;

/** Whether the runs made the same bytes, in a sentence. */
export function bytesWords(pairs: readonly PairedVersions[]): string {
  const at = pairs.findIndex(({ same }) => same !== true);
  const last = pairs.at(at < 0 ? -1 : at - 1);
  const before = at === 0 || !last ? '' : `the same bytes up to ${versionsWords(last.versions)}`;
  if (at < 0) return before || 'no version of both';
  const { versions, same } = pairs[at]!;
  const words =
    same === null
      ? 'cannot be compared, for files are gone'
      : versions[0] === versions[1]
        ? 'differs'
        : 'differ';
  return `${before}${before && '; '}${versionsWords(versions)} ${words}`;
}

export const comparisonLines = (
  runs: readonly [ComparableRun, ComparableRun],
  { tokens, flop, bytes, untrained }: ComparedRuns,
): string[] => [
  ...runs.map(({ id, name, policy }, i) => `${'AB'[i]}  ${name}, policy ${policy} (${id.slice(0, 8)})`),
  ...untrained.flatMap((best, i) => (best ? [`  ${'AB'[i]}  before training: ${bestWords(best)}`] : [])),
  ...budgetLines('tokens', tokens),
  ...budgetLines('flop', flop),
  `Weights: ${bytesWords(bytes)}`,
  'The test is over questions: runs of other seeds may differ by more.',
];
