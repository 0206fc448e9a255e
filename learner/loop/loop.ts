/**
 * The learner's loop: it pulls messages under a lease, collects them until a round is complete, trains, publishes, and acknowledges
 * last. While it trains it goes on pulling, and fetches what arrives for the next round. It keeps no state of its own: after a crash
 * the messages are delivered again, the parent version holds weights and optimiser, and training the round again gives the same bytes.
 */
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import type { RoundReport } from '../../core/schema/report.ts';
import { type ScoredMessage, scoredMessage } from '../../core/schema/round.ts';
import type { Tally } from '../../workers/api/tally.ts';
import type { RoundTrainer } from '../train/round-trainer.ts';
import { Attempts, concernsRound, endsLearner } from './attempts.ts';
import { CheckedRounds } from './checked-rounds.ts';
import { Collector, wholeRound } from './collect.ts';
import { EarlyGroups } from './early-groups.ts';
import type { GroupStates, MeshGateway, RoundState, ScoredQueue } from './ports.ts';
import { RoundUsage } from './round-usage.ts';
import type { LearnerSettings } from './settings.ts';
import { failureOf, type RoundOutcome, trainRound } from './train-round.ts';

/** Pause after the first empty pull, ms; it doubles with every further empty pull. */
const IDLE_MS = 150;
/** Wait before another try after a failure, ms. */
const TROUBLE_MS = 2_000;

export interface LearnerPorts {
  readonly queue: ScoredQueue;
  readonly gateway: MeshGateway;
  readonly trainer: Pick<RoundTrainer, 'train' | 'forget'>;
  /** Called after a round is published and acknowledged; what it returns is merged into the round's report. */
  readonly evaluate?: (round: RoundState, outcome: RoundOutcome) => Promise<RoundReport | null>;
  /** Called while no round can be trained: there is time for the evaluation of a run's start. It awaits `ready` before it samples. */
  readonly evaluateAhead?: (ready: () => Promise<void>) => Promise<void>;
  readonly log: (event: string, fields: Readonly<Record<string, unknown>>) => void;
  /** The mesh usage that the learner causes, counted by the clients of queue and gateway; absent = it is not reported. */
  readonly tally?: Pick<Tally, 'total'>;
}

const sleep = (ms: number, ...signals: readonly AbortSignal[]) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    if (signals.some(({ aborted }) => aborted)) done();
    for (const signal of signals) signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', done);
      resolve();
    }
  });

/** What the two halves of the loop share: one pulls, the other trains. */
interface Shared {
  readonly ports: LearnerPorts;
  readonly settings: LearnerSettings;
  readonly collector: Collector;
  readonly attempts: Attempts;
  readonly early: EarlyGroups;
  readonly checked: CheckedRounds;
  readonly usage: RoundUsage;
  /** Aborts, and is replaced, when messages arrive. */
  arrival: AbortController;
}

/**
 * Runs until the signal aborts. Failures are logged and retried, those of one round a few times only; after a lost race for a version the
 * round is read anew. A message is acknowledged only after its round is done or given up. Throws where the learner's settings are wrong,
 * such as a refused token.
 */
export async function runLearner(
  ports: LearnerPorts,
  settings: LearnerSettings,
  signal: AbortSignal,
): Promise<void> {
  const collector = new Collector();
  const early = new EarlyGroups(ports.gateway);
  const shared: Shared = {
    ports,
    settings,
    collector,
    attempts: new Attempts(),
    early,
    checked: new CheckedRounds(ports.gateway, settings, { objects: early, collector, log: ports.log }),
    usage: new RoundUsage(ports.tally),
    arrival: new AbortController(),
  };
  const given = new AbortController();
  const ended = AbortSignal.any([signal, given.signal]);
  const halves = [pullMessages, trainRounds].map((half) => repeat(shared, half, ended));
  try {
    await Promise.all(halves);
  } finally {
    given.abort();
    await Promise.allSettled(halves);
    await shared.checked.idle();
  }
}

/** Repeats one half of the loop until the signal aborts; `half` returns how long to wait before the next time, ms. */
async function repeat(
  shared: Shared,
  half: (shared: Shared, idleMs: number, ended: AbortSignal) => Promise<number>,
  ended: AbortSignal,
): Promise<void> {
  let idleMs = IDLE_MS;
  while (!ended.aborted) {
    try {
      idleMs = await half(shared, idleMs, ended);
    } catch (error) {
      shared.ports.log('learner.trouble', failureOf(error));
      if (endsLearner(error)) throw error;
      await sleep(TROUBLE_MS, ended);
    }
  }
}

const longer = (idleMs: number, { longestIdleMs }: LearnerSettings) => Math.min(2 * idleMs, longestIdleMs);

async function pullMessages(shared: Shared, idleMs: number, ended: AbortSignal): Promise<number> {
  if (await collect(shared)) {
    const { arrival, checked } = shared;
    checked.arrived();
    shared.arrival = new AbortController();
    arrival.abort();
    return IDLE_MS;
  }
  const next = longer(idleMs, shared.settings);
  await sleep(next, ended);
  return next;
}

async function trainRounds(shared: Shared, idleMs: number, ended: AbortSignal): Promise<number> {
  const { arrival } = shared;
  if (await trainWhole(shared)) return IDLE_MS;
  await evaluateAhead(shared);
  const next = longer(idleMs, shared.settings);
  await sleep(next, ended, arrival.signal);
  return arrival.signal.aborted ? IDLE_MS : next;
}

/**
 * A message that is delivered as often as this while its group is held here is acknowledged at once. Its lease runs out again and again
 * because its round waits long, and the queue would in the end give it up. Should this process end, the clock sends it again, since the
 * database says that the group is scored.
 */
const HELD_DELIVERIES = 3;

/** Pulls once. Messages that are not for the learner go back to the queue, and become dead letters when their deliveries are used up. */
async function collect({
  ports: { queue, log },
  settings: { leaseMs },
  collector,
  early,
  usage,
}: Shared): Promise<boolean> {
  const { messages } = await queue.pull(leaseMs);
  if (!messages.length) usage.foundNothing();
  const foreign: string[] = [];
  const settled: string[] = [];
  for (const { lease, body, attempts } of messages) {
    const checked = v.safeParse(scoredMessage, body);
    if (!checked.success) foreign.push(lease);
    else {
      if (attempts >= HELD_DELIVERIES && collector.holds(checked.output)) settled.push(lease);
      collector.add({ lease, body: checked.output });
      early.begin(checked.output);
    }
  }
  if (settled.length) await queue.ack(settled);
  if (foreign.length) {
    log('message.foreign', { count: foreign.length });
    await queue.retry(foreign, 5);
  }
  return messages.length > 0;
}

/**
 * Trains the rounds whose groups have all arrived. Returns whether there was one. A round that cannot be trained does not keep other rounds
 * from being trained: its error is thrown at the end, so that the loop waits before it tries again, or the round is given up.
 */
async function trainWhole(shared: Shared): Promise<boolean> {
  const { collector, attempts } = shared;
  let worked = false;
  const troubles: unknown[] = [];
  for (const id of collector.rounds) {
    try {
      if (!(await trainOrGiveUp(shared, id))) continue;
      attempts.forget(id);
      worked = true;
    } catch (error) {
      if (!concernsRound(error)) throw error;
      troubles.push(error);
    }
  }
  if (troubles.length) throw troubles[0];
  return worked;
}

/** Gives a round up after its last attempt. Returns false where there is nothing to do for it yet. */
async function trainOrGiveUp(shared: Shared, id: string): Promise<boolean> {
  try {
    return await trainIfWhole(shared, id);
  } catch (error) {
    if (!concernsRound(error) || !shared.attempts.failed(id, error)) throw error;
    await giveUp(shared, id, error);
    return true;
  }
}

/** Ends a round that could not be trained, with the reason. Its groups stay as they are, so that it can be replayed. */
async function giveUp(
  { ports: { gateway, queue, log }, collector, early, attempts }: Shared,
  round: string,
  error: unknown,
): Promise<void> {
  const failure = failureOf(error);
  await gateway.failRound(round, { ...failure, attempts: attempts.of(round) });
  await queue.ack(collector.take(round));
  await early.forgetRound(round);
  log('round.failed', { round, ...failure });
}

/** Trains or drops one round. Returns false where the round is not complete yet, or an earlier round of its run has not ended. */
async function trainIfWhole(shared: Shared, id: string): Promise<boolean> {
  const { ports, collector, early, usage } = shared;
  const { gateway, queue, log } = ports;
  const round = await knownRound(gateway, id);
  const over = !round || round.state === 'done' || round.state === 'failed';
  const turn = round?.state === 'training' && (round.waitsFor ?? null) === null && !round.paused;
  const listed = turn ? await gateway.getGroups(id) : [];
  const messages = wholeRound(listed, collector.messages(id));
  if (!over && !messages) return false;
  const outcome = round && messages && (await trainCollected(shared, { round, listed, messages }));
  const deletions = collector.messages(id).length + collector.duplicates(id);
  if (outcome) await gateway.report(id, { ...outcome.report, ...usage.used(deletions) });
  await queue.ack(collector.take(id));
  await early.forgetRound(id);
  log(outcome ? 'round.trained' : 'round.dropped', {
    round: id,
    state: round?.state ?? 'unknown',
    version: outcome?.version,
  });
  if (round && outcome) await evaluateAfter(shared, round, outcome);
  usage.close();
  return true;
}

/** The round's state; null where the mesh has no such round, as after its database was set back. */
const knownRound = (gateway: MeshGateway, id: string): Promise<RoundState | null> =>
  gateway.getRound(id).catch((error: unknown) => {
    if (error instanceof RollmeshError && error.code === 'round.unknown') return null;
    throw error;
  });

interface WholeRound {
  readonly round: RoundState;
  /** All groups of the round, as the database lists them. */
  readonly listed: GroupStates;
  /** The messages of the groups that wait to be trained. */
  readonly messages: readonly ScoredMessage[];
}

async function trainCollected(
  { ports: { gateway, trainer }, settings, collector, checked }: Shared,
  { round, listed, messages }: WholeRound,
): Promise<RoundOutcome | null> {
  const { id } = round.spec;
  const outcome = await trainRound(gateway, trainer, round, listed, messages, settings, checked);
  return outcome && { ...outcome, report: { ...outcome.report, duplicates: collector.duplicates(id) } };
}

async function evaluateAhead({ ports: { evaluateAhead, log }, checked }: Shared): Promise<void> {
  // An audit samples with the same engines.
  await evaluateAhead?.(() => checked.idle()).catch((error: unknown) =>
    log('evaluation.failed', { message: String(error) }),
  );
}

/** Evaluates after a round. The round is already published, so a failed evaluation is logged and costs one point of the curve only. */
async function evaluateAfter(
  { ports: { evaluate, gateway, log }, checked, usage }: Shared,
  round: RoundState,
  outcome: RoundOutcome,
) {
  // An audit and an evaluation sample with the same engines, one after the other.
  if (evaluate) await checked.idle();
  try {
    const figures = await evaluate?.(round, outcome);
    if (figures) await gateway.report(round.id, { ...outcome.report, ...figures, ...usage.used(0) });
  } catch (error) {
    log('evaluation.failed', { round: round.id, message: String(error) });
  }
}
