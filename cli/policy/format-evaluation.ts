/** The text that `policy eval` prints for people. */

import { pWords } from '../../core/statistics/change.ts';
import type { Comparison, QuestionFigures, Share } from '../../protocols/evaluate/figures.ts';
import { decimal, percent, points } from '../shared/figures.ts';
import { nameOfSet } from '../shared/version-name.ts';
import type { Evaluated } from './evaluate.ts';
import { leftOutLines } from './task-file-options.ts';

const interval = ({ low, high }: { readonly low: number; readonly high: number }) =>
  `${percent(low, 1)} to ${percent(high, 1)}`;
const share = (of: Share) => `${percent(of.share, 1).padStart(7)}  (95 %: ${interval(of)})`;

const invalid = (reasons: Readonly<Record<string, number>>): string => {
  const each = Object.entries(reasons).sort((a, b) => b[1] - a[1]);
  const all = each.reduce((sum, [, part]) => sum + part, 0);
  return all === 0
    ? 'every answer parses'
    : `${percent(all, 1)} do not parse: ${each.map(([reason, part]) => `${reason} ${percent(part, 1)}`).join(', ')}`;
};

function figureLines({ greedy, sampled, byDifficulty }: QuestionFigures): string[] {
  return [
    `  greedy           ${share(greedy.accuracy)}  ${decimal(greedy.tokens, 1)} tokens, ${invalid(greedy.invalid)}`,
    ...(sampled
      ? [
          `  sampled          ${share(sampled.accuracy)}  ${decimal(sampled.tokens, 1)} tokens, ${invalid(sampled.invalid)}`,
          ...Object.entries(sampled.passAt).map(([k, of]) => `  ${`pass@${k}`.padEnd(16)} ${share(of)}`),
          ...Object.entries(sampled.majorityAt).map(
            ([k, of]) => `  ${`majority@${k}`.padEnd(16)} ${share(of)}`,
          ),
        ]
      : []),
    ...byDifficulty.map(({ from, to, n, greedy: of }) => {
      const range = from === to ? String(from) : `${from} to ${to}`;
      return `  ${`difficulty ${range}`.padEnd(16)} ${share(of)}  n ${n}, greedy`;
    }),
  ];
}

const signed = ({
  mean,
  low,
  high,
}: {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}) => `${points(mean)} points (95 %: ${points(low)} to ${points(high)})`;

function differenceLines(version: number, { greedy, sampled }: Comparison): string[] {
  return [
    `against version ${version}, question by question:`,
    `  greedy  ${signed(greedy)}; right only here ${greedy.onlySecond}, only there ${greedy.onlyFirst}, exact McNemar test ${pWords(greedy.p)}`,
    ...(sampled ? [`  sampled ${signed(sampled)}`] : []),
  ];
}

export function evaluationLines(
  name: string,
  version: number,
  { compared, tooLong, leftOut, best, ...figures }: Evaluated,
): string[] {
  return [
    `${name} ${version} on ${figures.n} questions${tooLong ? `; ${tooLong} too long for the model, not asked` : ''}`,
    ...leftOutLines(leftOut),
    ...figureLines(figures),
    ...(best
      ? [
          ...Object.entries(best.bestAt).map(
            ([k, of]) => `  ${`best-of-${k}`.padEnd(16)} ${share(of)}  by ${nameOfSet(best.by)}`,
          ),
          ...Object.entries(best.chanceAt).map(
            ([k, of]) =>
              `  ${`chance@${k}`.padEnd(16)} ${share(of)}  by a scorer that knows nothing of the texts`,
          ),
        ]
      : []),
    ...(compared
      ? [
          `${name} ${compared.version}`,
          ...figureLines(compared.figures),
          ...differenceLines(compared.version, compared.difference),
        ]
      : []),
  ];
}
