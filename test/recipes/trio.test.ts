import { expect, test } from 'vitest';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { proposerReward, rewards, type SolverEvidence } from '../../protocols/trio/rewards.ts';

const worked = ok({ steps: ['7', '-2'], answer: '-2' });
const verdict = (steps: boolean[], right: boolean) => ok({ steps, right });
const evidence = (part: Partial<SolverEvidence>): SolverEvidence => ({
  solution: worked,
  judgments: [],
  answerExact: () => true,
  agrees: null,
  coin: false,
  ...part,
});
const pay = (kind: string, part: Partial<SolverEvidence>) => rewards[kind]!.solver(evidence(part));

test('mix pays 0.8 for the exact answer and 0.2 for the share of ok steps', () => {
  expect(pay('mix', { judgments: [verdict([true, false], false)] })).toBeCloseTo(0.8 + 0.2 * 0.5);
  expect(pay('mix', { judgments: [verdict([true, true], true)], answerExact: () => false })).toBeCloseTo(0.2);
  expect(
    pay('mix', { solution: ok({ steps: [], answer: '-2' }), judgments: [verdict([], true)] }),
  ).toBeCloseTo(0.8);
});

test('mix falls back to gold alone where every judgment is void, and pays 0 off grammar', () => {
  expect(pay('mix', { judgments: [invalid('contradiction')] })).toBe(1);
  expect(pay('mix', { solution: invalid('off-grammar') })).toBe(0);
});

test('judge pays the share of valid verdicts that say right; none is missing, not zero', () => {
  const judgments = [
    verdict([true, true], true),
    verdict([true, true], false),
    invalid('contradiction'),
    verdict([true, true], true),
  ];
  expect(pay('judge', { judgments })).toBeCloseTo(2 / 3);
  expect(pay('judge', { judgments: [invalid('contradiction')] })).toBeNull();
});

test('majority pays who gives the most frequent answer of the task, and nothing where there is none', () => {
  expect([true, false, null].map((agrees) => pay('majority', { agrees, answerExact: () => false }))).toEqual([
    1, 0, 0,
  ]);
});

test('gold-free rewards never read the oracle', () => {
  const forbidden = () => {
    throw new Error('read gold');
  };
  const cases = [
    { solution: worked },
    { solution: invalid('off-grammar') },
    { judgments: [verdict([true, true], true)] },
  ];
  for (const [name, kind] of Object.entries(rewards))
    for (const part of cases) {
      const run = () => [
        kind.solver(evidence({ ...part, answerExact: forbidden })),
        kind.passed(evidence({ ...part, answerExact: forbidden })),
      ];
      if (!kind.usesGold) expect(run, name).not.toThrow();
    }
  expect(
    Object.entries(rewards)
      .filter(([, kind]) => kind.usesGold)
      .map(([name]) => name),
  ).toEqual(['mix', 'gold']);
});

test('the proposer earns most at a pass rate of one half; no pass rate is no reward', () => {
  expect(proposerReward('ok', 0.5)).toBe(1);
  expect(proposerReward('ok', 0.25)).toBe(0.75);
  expect(proposerReward('ok', 1)).toBe(0);
  expect(proposerReward('duplicate', null)).toBe(-0.5);
  expect(proposerReward('off-grammar', null)).toBe(-0.5);
  expect(proposerReward('held-out', null)).toBeNull();
  expect(proposerReward('ok', null)).toBeNull();
});
