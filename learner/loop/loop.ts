/**
 * The learner's loop: it pulls messages under a lease, collects them until a round is complete, trains, publishes, and acknowledges
 * last. It keeps no state of its own: after a crash the messages are delivered again, the parent version holds weights and optimiser,
 * and training the round again gives the same bytes.
 */
import * as v from 'valibot';
import type { Tally } from '../../api/tally.ts';
import { kindOf, RollmeshError } from '../../core/errors.ts';
import type { RoundReport } from '../../core/schema/report.ts';
import { type ScoredMessage, scoredMessage } from '../../core/schema/round.ts';
import type { RoundTrainer } from '../train/round-trainer.ts';
import { Collector } from './collect.ts';
import { UNREADABLE } from './load-version.ts';
import type { GroupStates, MeshGateway, RoundState, ScoredQueue } from './ports.ts';
import { RoundUsage } from './round-usage.ts';
import { type LearnerSettings, type RoundOutcome, trainRound } from './train-round.ts';

/** Pause after the first empty pull, ms; it doubles with every further empty pull. */
const IDLE_MS = 150;
/** Wait before another try after a failure, ms. */
const TROUBLE_MS = 2_000;

export interface LearnerPorts {
  readonly queue: ScoredQueue;
  readonly gateway: MeshGateway;
  readonly trainer: RoundTrainer;
  /** Called after a round is published and acknowledged; what it returns is merged into the round's report. */
  readonly evaluate?: (round: RoundState, outcome: RoundOutcome) => Promise<RoundReport | null>;
  readonly log: (event: string, fields: Readonly<Record<string, unknown>>) => void;
  /** The mesh usage that the learner causes, counted by the clients of queue and gateway; absent = it is not reported. */
  readonly tally?: Pick<Tally, 'total'>;
}

const sleep = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });

/**
 * Runs until the signal aborts. Failures are logged and retried; after a lost race for a version the round is read anew. A message is
 * acknowledged only after its round is done. Throws where the settings are wrong, such as a refused token.
 */
export async function runLearner(
  ports: LearnerPorts,
  settings: LearnerSettings,
  signal: AbortSignal,
): Promise<void> {
  const collector = new Collector();
  const books = new RoundUsage(ports.tally);
  let idleMs = IDLE_MS;
  while (!signal.aborted) {
    try {
      const arrived = await collect(ports, settings, collector);
      const trained = await trainWhole(ports, settings, collector, books);
      idleMs = arrived || trained ? IDLE_MS : Math.min(2 * idleMs, settings.longestIdleMs);
      if (!arrived && !trained) await sleep(idleMs, signal);
    } catch (error) {
      const code = error instanceof RollmeshError ? { code: error.code } : {};
      const message = error instanceof Error ? error.message : String(error);
      ports.log('learner.trouble', { kind: kindOf(error), ...code, message });
      if (kindOf(error) === 'wrong-input') throw error;
      await sleep(TROUBLE_MS, signal);
    }
  }
}

/** Pulls once. Messages that are not for the learner go back to the queue, and become dead letters when their deliveries are used up. */
async function collect(
  { queue, log }: LearnerPorts,
  { leaseMs }: LearnerSettings,
  collector: Collector,
): Promise<boolean> {
  const { messages } = await queue.pull(leaseMs);
  const foreign: string[] = [];
  for (const { lease, body } of messages) {
    const checked = v.safeParse(scoredMessage, body);
    if (checked.success) collector.add({ lease, body: checked.output });
    else foreign.push(lease);
  }
  if (foreign.length) {
    log('message.foreign', { count: foreign.length });
    await queue.retry(foreign, 5);
  }
  return messages.length > 0;
}

/**
 * Trains the rounds whose groups have all arrived. Returns whether there was one. A round whose parent version cannot be read does not
 * keep other rounds from being trained: its error is thrown at the end, so that the loop waits before it tries again.
 */
async function trainWhole(
  ports: LearnerPorts,
  settings: LearnerSettings,
  collector: Collector,
  books: RoundUsage,
): Promise<boolean> {
  let worked = false;
  let unreadable: RollmeshError | undefined;
  for (const id of collector.rounds) {
    try {
      if (await trainIfWhole(ports, settings, collector, books, id)) worked = true;
    } catch (error) {
      if (!(error instanceof RollmeshError) || error.code !== UNREADABLE) throw error;
      unreadable ??= error;
    }
  }
  if (unreadable) throw unreadable;
  return worked;
}

/** Trains or drops one round. Returns false where the round is not complete yet. */
async function trainIfWhole(
  ports: LearnerPorts,
  settings: LearnerSettings,
  collector: Collector,
  books: RoundUsage,
  id: string,
): Promise<boolean> {
  const { gateway, queue, log } = ports;
  const round = await gateway.getRound(id);
  const over = round.stage === 'done' || round.stage === 'failed';
  const listed = round.stage === 'training' ? await gateway.getGroups(id) : [];
  const messages = wholeRound(listed, collector.messages(id));
  if (!over && !messages) return false;
  const outcome = messages && (await trainCollected(ports, settings, { round, listed, messages }, collector));
  const deletions = collector.messages(id).length + collector.duplicates(id);
  if (outcome) await gateway.report(id, { ...outcome.report, ...books.used(deletions) });
  await queue.ack(collector.take(id));
  log(outcome ? 'round.trained' : 'round.dropped', {
    round: id,
    stage: round.stage,
    version: outcome?.version,
  });
  if (outcome) await evaluateAfter(ports, round, outcome, books);
  books.close();
  return true;
}

/**
 * The messages of exactly those groups that wait to be trained, once all of them have arrived; null before that. Hash and seal are taken
 * from the mesh's database where it has them, so that a message from elsewhere can announce a group but not change what is checked.
 */
function wholeRound(groups: GroupStates, arrived: readonly ScoredMessage[]): ScoredMessage[] | null {
  const messageOf = new Map(arrived.map((message) => [message.group, message]));
  const scored = groups.filter((group) => group.state === 'scored');
  if (!scored.length || !scored.every(({ group }) => messageOf.has(group))) return null;
  return scored.map(({ group, sha256, mac }) => {
    const message = messageOf.get(group)!;
    return { ...message, sha256: sha256 ?? message.sha256, mac: mac ?? message.mac };
  });
}

interface WholeRound {
  readonly round: RoundState;
  /** All groups of the round, as the database lists them. */
  readonly listed: GroupStates;
  /** The messages of the groups that wait to be trained. */
  readonly messages: readonly ScoredMessage[];
}

async function trainCollected(
  { gateway, trainer }: LearnerPorts,
  settings: LearnerSettings,
  { round, listed, messages }: WholeRound,
  collector: Collector,
): Promise<RoundOutcome | null> {
  const { id } = round.spec;
  const outcome = await trainRound(gateway, trainer, round, listed, messages, settings);
  return outcome && { ...outcome, report: { ...outcome.report, duplicates: collector.duplicates(id) } };
}

/** Evaluates after a round. The round is already published, so a failed evaluation is logged and costs one point of the curve only. */
async function evaluateAfter(
  { evaluate, gateway, log }: LearnerPorts,
  round: RoundState,
  outcome: RoundOutcome,
  books: RoundUsage,
) {
  try {
    const figures = await evaluate?.(round, outcome);
    if (figures) await gateway.report(round.id, { ...outcome.report, ...figures, ...books.used(0) });
  } catch (error) {
    log('evaluation.failed', { round: round.id, message: String(error) });
  }
}
