/**
 * The mesh as a discrete-event model: proposer, rollout and judge stages with their isolates, one database, an object store, and one learner
 * that fetches, trains and commits. Pure: the same parameters give the same figures.
 */
import type { Load, Outcome, Platform, Work } from './parameters.ts';
import { type Message, Stage } from './stage.ts';
import { Server, Timeline } from './timeline.ts';

/** The messages that one call of a queue carries. */
const CALL = 100;

interface Round {
  readonly id: number;
  readonly run: number;
  readonly index: number;
  /** The policy's version when the round began. */
  readonly sampledAt: number;
  readonly began: number;
  /** How many of its messages to proposers have been begun. */
  proposed: number;
  scored: number;
  ended: number | null;
}

/** The capacity of a server whose calls never wait for each other. */
const UNSHARED = 1_000_000;

export function simulate(work: Work, platform: Platform, load: Load): Outcome {
  const timeline = new Timeline();
  const { d1, r2, learner } = platform;
  const cpu = new Server(timeline, platform.cores ?? UNSHARED);
  const database = new Server(timeline, 1);
  const trainer = new Server(timeline, 1);
  const rounds: Round[] = [];
  const versions = Array.from({ length: load.runs }, () => 0);
  const lags: number[] = [];
  let dropped = 0;
  /** The run whose policy the learner has loaded; a run's first version must be fetched in any case. */
  let lastTrained = 0;
  let cpuMs = 0;

  const ask = (ms: number, then: () => void) =>
    timeline.after(d1.way / 2, () => database.use(ms, () => timeline.after(d1.way / 2, then)));
  const times = (n: number, step: (then: () => void) => void, then: () => void): void => {
    if (n <= 0) then();
    else step(() => times(n - 1, step, then));
  };
  const compute = (ms: number, then: () => void) => {
    cpuMs += ms;
    cpu.use(ms, then);
  };
  const sendAll = (n: number, take: (n: number) => void, then: () => void): void => {
    const now = Math.min(CALL, n);
    if (now <= 0) then();
    else
      timeline.after(platform.send, () => {
        timeline.after(platform.delivery, () => take(now));
        sendAll(n - now, take, then);
      });
  };
  const messagesOf = (round: number, n: number): Message[] => {
    const { run, sampledAt } = rounds[round]!;
    return Array.from({ length: n }, () => ({ round, version: `${run}@${sampledAt}` }));
  };

  const settings = {
    isolates: Math.min(load.isolates, platform.concurrency * platform.queues),
    ramp: platform.ramp,
    batch: platform.batch,
    open: work.open,
  };
  /** The work of a batch: it reads, computes, stores its objects in parallel, sends messages and writes. */
  const batchWork =
    (
      of: Work['rollout'],
      fetchMs: number,
      scan: number,
      handOn: (round: number, n: number, then: () => void) => void,
    ) =>
    (round: number, n: number, done: () => void) =>
      times(
        d1.reads,
        (then) => ask(d1.read, then),
        () =>
          timeline.after(fetchMs, () =>
            compute(of.batch + (of.task + of.sample * load.group) * n, () =>
              timeline.after(r2.put, () =>
                handOn(round, n, () =>
                  times(
                    d1.writes - 1,
                    (then) => ask(d1.write, then),
                    () => ask(d1.write + scan, done),
                  ),
                ),
              ),
            ),
          ),
      );

  const judge: Stage = new Stage(timeline, cpu, {
    ...settings,
    wait: platform.judgeWait,
    work: batchWork(work.judge, r2.get, d1.row * load.tasks, (round, n, then) =>
      timeline.after(platform.send, () => {
        then();
        timeline.after(platform.delivery, () => scored(round, n));
      }),
    ),
  });
  const rollout: Stage = new Stage(timeline, cpu, {
    ...settings,
    wait: 0,
    work: batchWork(work.rollout, 0, 0, (round, n, then) =>
      sendAll(n, (some) => judge.receive(messagesOf(round, some)), then),
    ),
  });
  const proposer: Stage = new Stage(timeline, cpu, {
    ...settings,
    isolates: Math.min(settings.isolates, platform.concurrency),
    batch: 1,
    wait: 0,
    work: (id, _, done) => {
      const round = rounds[id]!;
      const upTo = (part: number) => Math.floor((part * load.tasks) / platform.proposers);
      const tasks = upTo(round.proposed + 1) - upTo(round.proposed);
      round.proposed++;
      compute(work.propose.base + work.propose.task * tasks, () =>
        ask(d1.write + d1.row * tasks, () => sendAll(tasks, (n) => rollout.receive(messagesOf(id, n)), done)),
      );
    },
  });

  function begin(run: number, index: number): void {
    const id = rounds.length;
    rounds.push({
      id,
      run,
      index,
      sampledAt: versions[run]!,
      began: timeline.now,
      proposed: 0,
      scored: 0,
      ended: null,
    });
    timeline.after(platform.send + platform.delivery, () =>
      proposer.receive(messagesOf(id, platform.proposers)),
    );
  }

  function scored(id: number, n: number): void {
    const round = rounds[id]!;
    round.scored += n;
    if (round.scored < load.tasks) return;
    const pulls = Math.ceil(load.tasks / CALL) * learner.pull;
    const fetching = Math.ceil((load.tasks + 1) / learner.width) * learner.fetch;
    const training = (work.learner.base + work.learner.sample * load.tasks * load.group) / learner.speed;
    timeline.after(learner.poll, () => {
      const change = lastTrained === round.run ? 0 : work.learner.change;
      lastTrained = round.run;
      trainer.use(pulls + fetching + training + change + learner.publish, () => commit(round));
    });
  }

  function commit(round: Round): void {
    const { run } = round;
    round.ended = timeline.now;
    const lag = versions[run]! - round.sampledAt;
    lags.push(lag);
    if (lag > load.maxStaleness) dropped++;
    else versions[run]!++;
    fill(run);
  }

  /** Starts as many rounds of a run as may be under way. */
  function fill(run: number): void {
    const own = rounds.filter((round) => round.run === run);
    const open = own.filter((round) => round.ended === null).length;
    for (let i = open; i < load.inFlight; i++) {
      const index = rounds.filter((round) => round.run === run).length;
      if (index >= load.rounds) return;
      begin(run, index);
    }
  }

  for (let run = 0; run < load.runs; run++) fill(run);
  timeline.run();

  const totalMs = Math.max(...rounds.map(({ ended }) => ended ?? Number.NaN));
  const used = rounds.length - dropped;
  const batches = rollout.batches + judge.batches + proposer.batches;
  const opened = rollout.opened + judge.opened + proposer.opened;
  const idle = (busyMs: number, width: number) => Math.max(0, 1 - busyMs / (width * totalMs));
  return {
    roundMs: rounds.filter(({ index }) => index > 0).map(({ began, ended }) => ended! - began),
    totalMs,
    samplesPerSecond: (1000 * used * load.tasks * load.group) / totalMs,
    staleness: {
      mean: lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
      most: Math.max(...lags),
    },
    dropped,
    idle: {
      isolates: idle(rollout.busyMs + judge.busyMs, load.isolates),
      learner: idle(trainer.busyMs, 1),
      d1: idle(database.busyMs, 1),
    },
    mostAtOnce: Math.max(rollout.mostAtOnce, judge.mostAtOnce),
    perRound: {
      batches: batches / rounds.length,
      cpuMs: (cpuMs + opened * work.open) / rounds.length,
      opened: opened / rounds.length,
    },
  };
}
