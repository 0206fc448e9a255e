import { expect, test } from 'vitest';
import { cycleOf, phaseAt, type Schedule } from '../../core/round/phases.ts';

const schedule: Schedule<'verify' | 'solve' | 'rest'> = {
  first: [{ phase: 'verify', rounds: 2 }],
  cycle: [
    { phase: 'solve', rounds: 3 },
    { phase: 'verify', rounds: 1 },
    { phase: 'rest', rounds: 1 },
  ],
};

test('the first phases come once, the others again and again, and rounds of a phase are counted through', () => {
  const rounds = Array.from({ length: 13 }, (_, i) => phaseAt(schedule, i + 1));
  expect(rounds.map(({ phase, before }) => `${phase[0]}${before}`).join(' ')).toBe(
    'v0 v1 s0 s1 s2 v2 r0 s3 s4 s5 v3 r1 s6',
  );
  expect(cycleOf(schedule)).toBe(5);
});

test('a schedule may begin with its cycle', () => {
  const plain: Schedule<'a' | 'b'> = {
    cycle: [
      { phase: 'a', rounds: 1 },
      { phase: 'b', rounds: 2 },
    ],
  };
  expect([1, 2, 3, 4, 3001].map((round) => phaseAt(plain, round))).toEqual([
    { phase: 'a', before: 0 },
    { phase: 'b', before: 0 },
    { phase: 'b', before: 1 },
    { phase: 'a', before: 1 },
    // Three thousand rounds are a thousand cycles.
    { phase: 'a', before: 1000 },
  ]);
});
