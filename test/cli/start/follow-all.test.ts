/** A mesh that waits for webhooks tells the rounds that it trains: one heading a run, a line a round, nothing of what ended before. */
import { expect, test } from 'vitest';
import { type FollowedMesh, followAll } from '../../../cli/start/follow-all.ts';
import type { RunPrinter } from '../../../cli/start/run-printer.ts';
import { NO_LABEL, type RoundState, type RunState } from '../../../core/schema/answers.ts';
import { roundOf, runIdOf } from '../../../core/schema/round.ts';
import { shipped } from '../../../recipes/index.ts';
import { runOf } from '../../../recipes/run-order.ts';

const runOfSeed = (seed: number, target: number): RunState => {
  const { settings } = runOf(shipped, { recipe: 'trio', seed, rounds: 1, freeze: [] });
  return {
    id: runIdOf(settings),
    settings,
    target,
    state: 'open',
    createdAt: seed,
    label: NO_LABEL,
    deletedAt: null,
  };
};

function done(run: RunState, index: number): RoundState {
  const spec = roundOf(run.settings, { solver: {} }, index, index - 1);
  return {
    id: spec.id,
    run: run.id,
    index,
    recipe: 'trio',
    state: 'done',
    roles: spec.roles,
    spec,
    expected: 4,
    proposed: 5,
    proposalsSha256: null,
    manifests: {},
    waitsFor: null,
    groups: { rollout: 0, scored: 0, trained: 4, failed: 0 },
    failures: [],
    reason: null,
    version: index,
    report: {},
    usage: null,
    createdAt: 1,
    rolloutAt: 1,
    trainingAt: 2,
    endedAt: 3,
  };
}

test('runs that are ordered meanwhile are told one after the other, from their next round on', async () => {
  const stop = new AbortController();
  const told: string[] = [];
  const [first, second] = [runOfSeed(1, 1), runOfSeed(2, 2)];
  let runs: RunState[] = [first];
  let looks = 0;
  const roundsOf = (id: string) => {
    const run = runs.find((one) => one.id === id)!;
    return Array.from({ length: run.target }, (_, i) => done(run, i + 1));
  };
  const gateway: FollowedMesh['gateway'] = {
    listRuns: () => {
      looks++;
      // The first run had ended before; then a second is ordered, and one round more of the first.
      if (looks === 2) runs = [{ ...first, target: 2 }, second];
      if (looks === 3) stop.abort();
      return Promise.resolve(runs);
    },
    listRounds: (id) => Promise.resolve(roundsOf(id)),
    getRun: (id) => Promise.resolve(runs.find((run) => run.id === id)!),
    getRound: (id) =>
      Promise.resolve(runs.flatMap((run) => roundsOf(run.id)).find((round) => round.id === id)!),
    roundsUnderWay: (id) => Promise.resolve(roundsOf(id)),
  };
  const printer: RunPrinter = {
    started: ({ settings, rounds, done: before }) =>
      told.push(`${settings.policy}: ${rounds} rounds, ${before} done`),
    evaluatedStart: () => {},
    round: ({ round, from, to }) => told.push(`round ${round}: ${from} to ${to}`),
    finished: (summary) => told.push(`${summary.policy}: ${summary.rounds} told`),
    stopped: () => {},
    status: () => {},
    notice: (text) => told.push(text),
    remark: () => {},
    waiting: () => {},
  };
  const mesh = { gateway, registry: shipped, page: 'http://mesh', device: 'auto', evaluateEvery: 9 };
  await followAll(mesh, printer, stop.signal);
  expect(told).toEqual([
    'trio-1: 2 rounds, 1 done',
    'round 2: 1 to 2',
    'trio-1: 2 told',
    'trio-2: 2 rounds, 0 done',
    'round 1: 0 to 1',
    'round 2: 1 to 2',
    'trio-2: 2 told',
  ]);
});
