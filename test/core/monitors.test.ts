/** Monitors of a round against records written by hand. */
import { expect, test } from 'vitest';
import { monitorRound } from '../../core/monitor/monitors.ts';
import { warningsOf } from '../../core/monitor/warnings.ts';
import { reportRound } from '../../core/round/round-report.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { TrainingReport } from '../../core/schema/report.ts';
import type { Proposals, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { QUESTION_REWARDS } from '../../protocols/questions/rewards.ts';
import { builtInPart, weightedReward } from '../../protocols/questions/weighted-reward.ts';

const id = (n: number) => n.toString(16).padStart(32, '0');
const sample = (n: number, over: Partial<Sample> = {}): Sample => ({
  id: id(n),
  role: 'solver',
  policy: { name: 'p', version: 0 },
  prompt: [1],
  ids: [2, 3],
  logprobs: [-1, -1],
  stopped: true,
  outcome: 'ok',
  rewards: {},
  ...over,
});
const none: Proposals = { round: id(0), samples: [], tasks: [] };
const group = (over: Partial<ScoredGroup>): ScoredGroup => ({
  round: id(0),
  group: id(1),
  index: 0,
  task: '1+2',
  proposal: null,
  samples: [],
  judgments: [],
  answersExact: [],
  solutionsExact: [],
  ...over,
});
const monitor = (proposals: Proposals, groups: readonly ScoredGroup[]) =>
  monitorRound({}, () => '', proposals, groups);

test('a judge is held to the oracle, whatever the run’s reward makes of its verdicts', () => {
  const verdict = (n: number, oracle: Sample['oracle'], outcome: Outcome = 'ok') =>
    sample(n, { role: 'judge', outcome, rewards: { agreement: 1 }, ...(oracle ? { oracle } : {}) });
  const judgments = [
    verdict(1, { right: true, hit: true }),
    verdict(2, { right: true, hit: false }),
    verdict(3, { right: false, hit: false }),
    verdict(4, { right: false, hit: true }),
    verdict(5, { right: false, hit: false }, 'contradiction'),
    verdict(6, undefined),
  ];
  const { judge, judgeBalancedAccuracy } = monitor(none, [group({ judgments })]);
  expect(judge).toEqual({ rightAsRight: 1, rightAsWrong: 1, wrongAsRight: 1, wrongAsWrong: 1, void: 1 });
  // One of two right ones, and one of three wrong ones, where the void one is a miss.
  expect(judgeBalancedAccuracy).toBeCloseTo((1 / 2 + 1 / 3) / 2);
});

test('judgments on which the oracle has no word say nothing of the judge', () => {
  const judgments = [sample(1, { role: 'judge', rewards: { reward: 1, rating: 0.7 } })];
  expect(monitor(none, [group({ judgments })]).judgeBalancedAccuracy).toBeNull();
});

test('answers to which nobody knows the truth have no exact share; text that is no answer is not exact', () => {
  const rewarded = [sample(1, { rewards: { reward: 0.5 } }), sample(2, { rewards: { reward: 0.5 } })];
  expect(monitor(none, [group({ samples: rewarded, answersExact: [null, null] })])).toMatchObject({
    gold: null,
    gap: null,
  });
  const unreadable = rewarded.map((it) => ({ ...it, outcome: 'off-grammar' as const }));
  expect(monitor(none, [group({ samples: unreadable, answersExact: [null, null] })])).toMatchObject({
    gold: 0,
    gap: 0.5,
  });
  expect(monitor(none, [group({ samples: rewarded, answersExact: [true, null] })]).gold).toBe(0.5);
});

test('the share of answers that show their steps is a number where the recipe counts them, 0 included', () => {
  const groups = [group({ samples: [sample(1), sample(2), sample(3, { outcome: 'off-grammar' })] })];
  const shareOf = (worked?: (text: string) => boolean) =>
    monitorRound(worked ? { describe: { worked } } : {}, (ids) => ids.join('+'), none, groups).workedShare;
  expect(shareOf((text) => text === '2+3')).toBeCloseTo(2 / 3);
  expect(shareOf(() => false)).toBe(0);
  expect(shareOf()).toBeNull();
});

test('a task that is admitted twice is a repeat, as one that was turned away; stored ones are not', () => {
  const outcomes: Outcome[] = ['ok', 'ok', 'ok', 'duplicate', 'off-grammar'];
  const samples = outcomes.map((outcome, n) => sample(n, { role: 'proposer', outcome }));
  const admitted = (n: number, task: string, proposal: string | null) => ({
    group: id(n),
    index: n,
    task,
    proposal,
  });
  const tasks = [
    admitted(0, '1+2', id(0)),
    admitted(1, '3+4', id(1)),
    admitted(2, '1+2', id(2)),
    admitted(3, '1+2', null),
  ];
  expect(monitor({ round: id(0), samples, tasks }, []).duplicateRate).toBeCloseTo(2 / 5);
  expect(monitor(none, []).duplicateRate).toBeNull();
});

test('an episode is one rollout, and one proposal, however many turns it has', () => {
  const turn = (n: number, begun: number, at: number, over: Partial<Sample> = {}) =>
    sample(n, { turn: at, ...(at ? { of: id(begun) } : {}), ...over });
  // Three turns that fail at a cost, the second not well-formed; one turn that succeeds.
  const samples = [
    turn(1, 1, 0, { rewards: { reward: -0.2 } }),
    turn(2, 1, 1, { rewards: { reward: -0.2 }, outcome: 'off-grammar' }),
    turn(3, 1, 2, { rewards: { reward: -0.2 } }),
    turn(4, 4, 0, { rewards: { reward: 1 } }),
  ];
  const written = [
    turn(5, 5, 0, { role: 'proposer' }),
    turn(6, 5, 1, { role: 'proposer', outcome: 'unsupported' }),
    turn(7, 7, 0, { role: 'proposer' }),
  ];
  const proposals = { ...none, samples: written };
  const answersExact = [false, false, false, true];
  expect(monitor(proposals, [group({ samples, answersExact, solutionsExact: answersExact })])).toMatchObject({
    rollouts: 2,
    reward: (-0.2 + 1) / 2,
    gold: 1 / 2,
    formatRate: 1 / 2,
    length: (6 + 2) / 2,
    zeroVariance: 0,
    proposals: 2,
    invalidRate: 1 / 2,
    tokens: 14,
  });
});

test('what is no answer, such as a review, does not count where answers are counted', () => {
  const samples = [
    sample(1, { rewards: { reward: 1 } }),
    sample(2, { rewards: { reward: 0 } }),
    sample(3, { role: 'reviewer', rewards: { reward: 1 } }),
    sample(4, { role: 'reviewer', rewards: { reward: 0 } }),
    // A solver's text that does not parse is an answer that is not right.
    sample(5, { rewards: { reward: 0 }, outcome: 'off-grammar' }),
  ];
  const answersExact = [true, false, null, null, null];
  expect(monitor(none, [group({ samples, answersExact })]).gold).toBe(1 / 3);
  // Where nobody is checked, nothing is left out.
  const unread = [sample(1, { outcome: 'off-grammar' }), sample(2, { outcome: 'off-grammar' })];
  expect(monitor(none, [group({ samples: unread, answersExact: [null, null] })]).gold).toBe(0);
});

test('groups with one reward throughout are a warning only where answers are compared by their rewards', () => {
  const paid = [sample(1, { rewards: { reward: 0 } }), sample(2, { rewards: { reward: 0 } })];
  const monitors = monitor(none, [group({ samples: paid, answersExact: [false, false] })]);
  expect(monitors.zeroVariance).toBe(1);
  const said = (kinds?: string[], withAdvantage?: number) => {
    const training = {
      roles: {},
      gradientNorm: 1,
      mismatch: { mean: 0, max: 0, kl: 0 },
      ...(kinds && { kinds }),
      ...(withAdvantage !== undefined && { withAdvantage }),
    };
    return warningsOf(monitors, training as unknown as TrainingReport).some((words) =>
      words.includes('no learning signal'),
    );
  };
  // Of nothing trained, rewards may be the reason; reports of earlier releases do not say what was trained.
  expect(
    [[], ['policy'], ['distillation', 'policy'], ['preference'], undefined].map((kinds) => said(kinds)),
  ).toEqual(Array(5).fill(true));
  expect([['distillation'], ['sft'], ['implicit-prm', 'value']].map((kinds) => said(kinds))).toEqual(
    Array(3).fill(false),
  );
  // Against a running baseline each answer has an advantage, whatever the others of its group got.
  expect([1, 0.5].map((share) => said(['policy'], share))).toEqual([false, false]);
  expect([0, 0.1].map((share) => said(['policy'], share))).toEqual([true, true]);
});

test('what learner and rollouts differ by is no warning where samples are older by design', () => {
  const warnings = (settings: { ahead?: number }, recipe: { staleness?: number } = {}) =>
    reportRound(
      {
        recipe: { rewards: {}, ...recipe },
        settings: { rewardFunction: 'checker', ...settings },
        decode: () => '',
        proposals: none,
        groups: [group({ samples: [sample(1)], answersExact: [true] })],
        trained: {
          report: {
            roles: {},
            gradientNorm: 1,
            mismatch: { mean: 0.01, max: 1, kl: 0 },
          } as unknown as TrainingReport,
          figures: {},
          earnings: {},
        },
      },
      { learnerMs: 0 },
    ).warnings!.filter((words) => words.includes('disagree'));
  expect(warnings({})).toEqual(['learner and rollouts disagree by 1.0e-2 nats per token']);
  expect(warnings({ ahead: 0 })).toHaveLength(1);
  expect([...warnings({ ahead: 1 }), ...warnings({}, { staleness: 2 })]).toEqual([]);
});

test('the warning of missing rewards says which are missing why', () => {
  const lacking = (n: number, missing?: Sample['missing']) =>
    sample(n, { rewards: { reward: null }, ...(missing && { missing }) });
  const warnings = (samples: Sample[]) =>
    reportRound(
      {
        recipe: { rewards: {} },
        settings: { rewardFunction: 'checker' },
        decode: () => '',
        proposals: none,
        groups: [group({ samples, answersExact: samples.map(() => false) })],
        trained: {
          report: {
            roles: {},
            gradientNorm: 1,
            mismatch: { mean: 0, max: 0, kl: 0 },
          } as unknown as TrainingReport,
          figures: {},
          earnings: {},
        },
      },
      { learnerMs: 0 },
    ).warnings!.filter((words) => words.includes('have no reward'));
  const samples = [
    lacking(1, { style: 'unreadable' }),
    lacking(2, { style: 'unreadable', brief: 'threw' }),
    { ...lacking(3, { style: 'timed-out' }), turn: 0 },
    // All turns of a rollout say what its first one says.
    { ...lacking(4, { style: 'timed-out' }), of: id(3), turn: 1 },
  ];
  expect(warnings(samples)).toEqual([
    '3 of 3 rollouts have no reward (style: unreadable 2, timed-out 1; brief: threw 1)',
  ]);
  expect(warnings([lacking(1)])).toEqual(['1 of 1 rollouts have no reward']);
});

/** A round of `n` groups of four rollouts: of each `right` are exact, and each of the others is paid `pay(i)`. */
const gapRound = (n: number, pay: (i: number) => number, right = 2) =>
  monitor(
    none,
    Array.from({ length: n }, (_, i) => {
      const exact = [0, 1, 2, 3].map((r) => r < right);
      const samples = exact.map((is, r) => sample(4 * i + r + 1, { rewards: { reward: is ? 1 : pay(i) } }));
      return group({ samples, answersExact: exact, solutionsExact: exact });
    }),
  );
const training = {
  roles: {},
  gradientNorm: 1,
  mismatch: { mean: 0, max: 0, kl: 0 },
} as unknown as TrainingReport;
const hacked = (now: ReturnType<typeof monitor>, first?: ReturnType<typeof monitor>) =>
  warningsOf(now, training, first ? { first } : {}).filter((words) => words.includes('hacked'));

test('a reward that is above accuracy from the start is not said to be hacked, nor is a first round', () => {
  const generous = gapRound(40, () => 1);
  expect(generous.gap).toBe(0.5);
  expect(hacked(generous)).toEqual([]);
  expect(hacked(generous, generous)).toEqual([]);
});

test('a gap that grows beyond chance may be hacking in many groups, in few it is never said', () => {
  const first = (n: number) => gapRound(n, (i) => (i % 4 === 0 ? 1 : 0));
  const later = (n: number) => gapRound(n, (i) => (i % 4 === 0 ? 0 : 1));
  expect(hacked(later(64), first(64))).toEqual([
    'the reward was 0.13 above accuracy in the first round and is 0.38 above it now, more than chance explains: it may be hacked, check samples',
  ]);
  for (const n of [1, 2, 4, 7])
    expect(
      hacked(
        gapRound(n, () => 1),
        gapRound(n, () => 0),
      ),
      String(n),
    ).toEqual([]);
  // The same means of 8 groups: Welch's t is 2.2 at 14 degrees of freedom, where 4.1 is needed.
  expect(hacked(later(8), first(8))).toEqual([]);
  // A gap that shrinks, or stays below 0.
  expect(hacked(first(64), later(64))).toEqual([]);
});

test('a reward on another scale than accuracy has no gap, and its sums are not said to be hacked', () => {
  const groups = Array.from({ length: 64 }, (_, i) =>
    group({
      samples: [sample(i + 1, { rewards: { reward: 0.9 } })],
      answersExact: [false],
      solutionsExact: [false],
    }),
  );
  const { gap } = monitorRound({ ownScale: true }, () => '', none, groups);
  expect(gap).toBeNull();
  // What is above 1, or below 0, is on another scale whatever the recipe says.
  expect(
    hacked(
      gapRound(64, () => 9),
      gapRound(64, () => 0),
    ),
  ).toEqual([]);
  const weighted = weightedReward([builtInPart('checker', 1, QUESTION_REWARDS.checker)]);
  expect(weighted.ownScale).toBe(true);
});
