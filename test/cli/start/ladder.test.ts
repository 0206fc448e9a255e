/** The ladder under a round's line: figures by difficulty, worked out by hand. */
import { expect, test } from 'vitest';
import { bar, ladderLines } from '../../../cli/start/ladder.ts';
import type { EvaluationReport } from '../../../core/schema/report.ts';

const evaluated = (figures: Record<string, number>): EvaluationReport => ({
  version: 5,
  heldOut: { n: 96, accuracy: 0.5, sampled: null, forcedWorked: null, worked: null, formatRate: null },
  judge: { fixed: null, own: null },
  figures,
});

test('a bar has eighths of a cell', () => {
  expect(bar(0, 4)).toBe('····');
  expect(bar(1, 4)).toBe('████');
  expect(bar(0.5, 4)).toBe('██··');
  // 11 of 32 eighths: a whole cell and three eighths of the next.
  expect(bar(11 / 32, 4)).toBe('█▍··');
  expect(bar(2, 4)).toBe('████');
});

test('levels stand in order of their number, with what is solved and written of each', () => {
  const lines = ladderLines({
    evaluation: evaluated({ 'solved.2': 0.5, 'solved.10': 0, 'solved.1': 1, other: 3 }),
    figures: { 'written.1': 0.25, 'written.2': 0.75 },
  });
  expect(lines).toEqual([
    '    difficulty              1              2             10',
    '        solved ████████ 100 % ████····  50 % ········   0 %',
    '       written           25 %           75 %',
  ]);
  expect(lines.every((line) => line.length <= 120)).toBe(true);
});

test('six levels fit into a line of 120 columns', () => {
  const solved = Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`solved.${level}`, 1]));
  for (const line of ladderLines({ evaluation: evaluated(solved) }))
    expect(line.length).toBeLessThanOrEqual(120);
});

test('there is no ladder without an evaluation, nor of a recipe without levels', () => {
  expect(ladderLines({ figures: { 'written.1': 1 } })).toEqual([]);
  expect(ladderLines({ evaluation: evaluated({ 'solved.by': 1, votes: 0.5 }) })).toEqual([]);
});
