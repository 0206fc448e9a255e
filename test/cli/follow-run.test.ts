/** Following a run over a gateway that answers from a list: what is passed, what ends it, and what the next start orders. */
import { expect, test } from 'vitest';
import { type Followed, followRun, missingRounds } from '../../cli/start/follow-run.ts';
import { NOTHING_USED } from '../../core/cost/usage.ts';
import { NO_LABEL, type RoundState, type RunState } from '../../core/schema/answers.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { RoundLine } from '../../core/schema/summary.ts';

const settings = {
  recipe: 'trio',
  seed: 1,
  policy: 'p',
  rewardFunction: 'mix',
  freeze: [],
  tasks: 4,
  groupSize: 2,
};
const NOW = Date.now();

const round = (index: number, more: Partial<RoundState>): RoundState => {
  const spec = roundOf(settings, { solver: {} }, index, index - 1);
  return {
    id: spec.id,
    run: spec.run,
    recipe: settings.recipe,
    roles: spec.roles,
    index,
    state: 'done',
    spec,
    expected: 4,
    proposed: 4,
    proposalsSha256: null,
    manifests: {},
    waitsFor: null,
    groups: { rollout: 0, scored: 0, trained: 4, failed: 0 },
    failures: [],
    reason: null,
    version: index,
    report: {},
    usage: null,
    createdAt: NOW - 120_000,
    rolloutAt: null,
    trainingAt: null,
    // Longer ago than a line waits for an evaluation.
    endedAt: NOW - 90_000,
    ...more,
  };
};

const failed = (index: number) => round(index, { state: 'failed', reason: 'no parent', version: null });

function follow(rounds: readonly RoundState[], state: 'open' | 'stopped', last = rounds.length) {
  const passed: [number, string][] = [];
  const gateway: Followed['gateway'] = {
    listRounds: async () => rounds,
    getRound: async (id) => rounds.find((one) => one.id === id)!,
    getRun: async (id) => ({
      id,
      settings,
      target: last,
      state,
      createdAt: NOW - 60_000,
      label: NO_LABEL,
      deletedAt: null,
    }),
  };
  const followed: Followed = {
    gateway,
    run: rounds[0]!.run,
    rounds: last,
    evaluateEvery: 100,
    signal: new AbortController().signal,
    passed: (index, reason) => passed.push([index, reason]),
  };
  const lines = async () => {
    const seen: { round: number; warnings: readonly string[] | undefined }[] = [];
    for await (const { round: index, report } of followRun(followed))
      seen.push({ round: index, warnings: report.warnings });
    return seen;
  };
  return { passed, lines };
}

test('a failed round is passed where the run has gone on, and told', async () => {
  const { passed, lines } = follow([round(1, {}), failed(2), round(3, {})], 'stopped');
  expect((await lines()).map(({ round: index }) => index)).toEqual([1, 3]);
  expect(passed).toEqual([[2, 'no parent']]);
});

test('a failed round at which the run stopped ends the command with its reason', async () => {
  await expect(follow([round(1, {}), failed(2)], 'stopped', 3).lines()).rejects.toMatchObject({
    code: 'round.failed',
    what: 'Round 2 failed: no parent',
  });
});

test('rounds that were under way when one failed are told; then the command ends with its reason', async () => {
  const { passed, lines } = follow([round(1, {}), failed(2), round(3, {})], 'stopped', 5);
  await expect(lines()).rejects.toMatchObject({ code: 'round.failed', what: 'Round 2 failed: no parent' });
  expect(passed).toEqual([[2, 'no parent']]);
});

test('a stopped run of which no further round will come is not waited for', async () => {
  await expect(follow([round(1, {})], 'stopped', 3).lines()).rejects.toMatchObject({ code: 'run.stopped' });
});

test('a round that is done and whose report was lost counts, and says so', async () => {
  const { lines } = follow([round(1, { report: null })], 'open');
  expect(await lines()).toEqual([{ round: 1, warnings: ['the round is trained, and its report was lost'] }]);
});

test('starting again orders what is missing, and one round in the place of each that failed', () => {
  const done = (index: number) => ({ index, state: 'done' as const });
  const lost = (index: number) => ({ index, state: 'failed' as const });
  expect(missingRounds(3, [], null)).toEqual({ last: 3, order: 3 });
  const stopped = { target: 3, state: 'stopped' as const };
  expect(missingRounds(3, [done(1), lost(2)], stopped)).toEqual({ last: 4, order: 1 });
  expect(missingRounds(3, [done(1), lost(2), done(3), done(4)], { target: 4, state: 'open' })).toEqual({
    last: 4,
    order: 0,
  });
  // The target is far enough, but nothing would open the run again.
  expect(missingRounds(3, [done(1), lost(2)], { target: 40, state: 'stopped' })).toEqual({
    last: 4,
    order: 1,
  });
  // Its last round failed, and it had reached its target.
  expect(missingRounds(1, [lost(1)], { target: 1, state: 'stopped' })).toEqual({ last: 2, order: 1 });
});

test('the evaluation of the start is told once, as soon as it is there, and before the round that shows a change from it', async () => {
  const start = { version: 0 } as EvaluationReport;
  const report = { evaluation: { version: 2 } as EvaluationReport };
  const rounds = [round(1, { endedAt: NOW }), round(2, { report, endedAt: NOW })];
  const usage = { stages: { learner: NOTHING_USED } } as unknown as RoundState['usage'];
  let asked = 0;
  const gateway: Followed['gateway'] = {
    listRounds: async () => rounds,
    getRun: async () => ({ target: 2, state: 'open' }) as RunState,
    // It comes after the line of the first round, which does not wait for it.
    getRound: async (id) => {
      const found = rounds.find((one) => one.id === id)!;
      if (found.index === 1) asked++;
      return { ...found, usage, report: found.index === 1 && asked > 2 ? { start } : found.report };
    },
  };
  const told: unknown[] = [];
  const signal = new AbortController().signal;
  const followed = { gateway, run: rounds[0]!.run, rounds: 2, evaluateEvery: 2, signal };
  for await (const line of followRun({ ...followed, start: (evaluation) => told.push(evaluation) }))
    told.push(line.round);
  expect(told).toEqual([1, start, 2]);
});

test('the line of a round before the last does not wait for the learner’s usage, which is told later', async () => {
  const rounds = [round(1, { endedAt: Date.now() }), round(2, { endedAt: Date.now() })];
  const usage = { stages: { learner: NOTHING_USED } } as unknown as RoundState['usage'];
  let asked = 0;
  const gateway: Followed['gateway'] = {
    listRounds: async () => rounds,
    getRun: async () => ({ target: 2, state: 'open' }) as RunState,
    getRound: async (id) => {
      const found = rounds.find((one) => one.id === id)!;
      return { ...found, ...(asked++ > 0 ? { usage } : {}) };
    },
  };
  const told: unknown[] = [];
  const signal = new AbortController().signal;
  const followed = {
    gateway,
    run: rounds[0]!.run,
    rounds: 2,
    evaluateEvery: 100,
    evaluations: false,
    signal,
  };
  const counted = (line: RoundLine) => told.push(['counted', line.round, line.usage !== undefined]);
  for await (const line of followRun({ ...followed, counted }))
    told.push([line.round, line.usage !== undefined]);
  expect(told).toEqual([
    [1, false],
    ['counted', 1, true],
    [2, true],
  ]);
});
