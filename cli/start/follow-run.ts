/** Follows a run through the gateway's reading API and yields a line for each finished round. It uses neither queues nor the learner. */

import { RollmeshError } from '../../core/errors.ts';
import type { RoundState, RunState } from '../../core/schema/answers.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import { newestOf } from '../../core/schema/round.ts';
import type { RoundLine } from '../../core/schema/summary.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

const POLL_MS = 250;
/** How long a round's line waits for its evaluation once the round is done, ms. */
const EVALUATION_MS = 60_000;
/** How long it waits for the learner's usage, which is reported after the round is done, ms. */
const COUNTED_MS = 5_000;
/** How long it waits for a report, ms. A report that was lost with the database's log does not come again. */
const REPORT_MS = 10_000;
/** How often the rounds under way are looked at, ms. */
const WATCH_MS = 1_000;

export interface Followed {
  readonly gateway: Pick<GatewayClient, 'listRounds' | 'getRound' | 'getRun'>;
  readonly run: string;
  /** The first round to yield (1), and the last one to wait for. */
  readonly from?: number;
  readonly rounds: number;
  readonly evaluateEvery: number;
  /** false: a round's line does not wait for its evaluation. */
  readonly evaluations?: boolean;
  /** Called once with the evaluation of the version that the run began from, which comes after its first round. */
  readonly start?: (evaluation: EvaluationReport) => void;
  readonly signal: AbortSignal;
  /**
   * The lines of rounds before the last do not wait for the learner's usage, whose report may wait while the next round is sampled; this is called later with
   * each of them once more, usage counted. Absent = every line waits.
   */
  readonly counted?: (line: RoundLine) => void;
  /** Called for a round that failed before the run went on. */
  readonly passed?: (round: number, reason: string) => void;
  /** Called now and then while a round is waited for. */
  readonly watch?: () => Promise<void>;
}

type Listed = Awaited<ReturnType<GatewayClient['listRounds']>>[number];

/**
 * How many rounds to order so that `rounds` rounds of a run get done: each failed round is replaced by another one at the end.
 * An order also reopens a stopped run, so one round is ordered even if the target is high enough.
 */
export function missingRounds(
  rounds: number,
  before: readonly Pick<Listed, 'index' | 'state'>[],
  run: Pick<RunState, 'target' | 'state'> | null,
): { readonly last: number; readonly order: number } {
  const last = rounds + before.filter(({ state }) => state === 'failed').length;
  const begun = Math.max(0, ...before.map(({ index }) => index));
  const stopped = run?.state === 'stopped' && begun < last;
  return { last, order: Math.max(last - (run?.target ?? 0), stopped ? 1 : 0) };
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Yields the rounds in order, each once it is done and reported. A failed round is passed where the run has gone on since.
 *
 * @throws RollmeshError `round.failed` where the run has stopped at a failed round, `run.stopped` where no further round will come.
 */
export async function* followRun(followed: Followed): AsyncGenerator<RoundLine> {
  const { gateway, run, from = 1, rounds, signal, watch } = followed;
  let { start } = followed;
  let ids = new Map<number, string>();
  let last: RoundLine | undefined;
  let failed: RoundState | undefined;
  let uncounted: { readonly id: string; readonly last: number | undefined } | undefined;
  let watchedAt = Number.NEGATIVE_INFINITY;
  const lookForStart = async () => {
    const first = start && ids.get(1);
    const evaluation = first && (await gateway.getRound(first)).report?.start;
    if (!evaluation) return;
    start?.(evaluation);
    start = undefined;
  };
  for (let index = from; index <= rounds && !signal.aborted; ) {
    const stopped = !ids.has(index) && (await gateway.getRun(run)).state === 'stopped';
    // Read after the state, so that a round that began in between is included.
    if (!ids.has(index))
      ids = new Map((await gateway.listRounds(run)).map((round) => [round.index, round.id]));
    const id = ids.get(index);
    // Rounds that were under way when another failed still come to their end.
    if (id === undefined && stopped) throw failed ? failure(failed) : ended(run, index);
    const round = id === undefined ? undefined : await gateway.getRound(id);
    if (round?.state === 'failed') {
      if (!(await hasGoneOn(followed, round))) throw failure(round);
      followed.passed?.(round.index, round.reason ?? NO_REASON);
      failed = round;
      index++;
      continue;
    }
    if (!round || !isReported(round, followed)) {
      if (performance.now() - watchedAt > WATCH_MS) {
        watchedAt = performance.now();
        await lookForStart();
        await watch?.();
      }
      await sleep(POLL_MS);
      continue;
    }
    await lookForStart();
    if (uncounted) followed.counted?.(lineOf(await gateway.getRound(uncounted.id), uncounted.last));
    uncounted = isCounted(round) ? undefined : { id: round.spec.id, last: last?.to };
    last = lineOf(round, last?.to);
    yield last;
    index++;
  }
}

async function hasGoneOn({ gateway, run }: Followed, failed: RoundState): Promise<boolean> {
  if ((await gateway.getRun(run)).state === 'open') return true;
  return (await gateway.listRounds(run)).some(({ index }) => index > failed.index);
}

const isCounted = ({ usage }: RoundState): boolean => usage?.stages.learner !== undefined;

function isReported(
  round: RoundState,
  { evaluateEvery, rounds, evaluations = true, counted }: Followed,
): boolean {
  if (round.state !== 'done') return false;
  const { report } = round;
  const since = Date.now() - (round.endedAt ?? 0);
  if (!report) return since > REPORT_MS;
  const waits = !counted || round.index === rounds;
  if (waits && !isCounted(round) && since < COUNTED_MS) return false;
  const due = round.index % evaluateEvery === 0 || round.index === rounds;
  return !evaluations || !due || report.evaluation !== undefined || since > EVALUATION_MS;
}

const NO_REASON = 'no reason given';
const AGAIN = 'The same command orders a round in its place and goes on.';

const failure = (round: RoundState) =>
  new RollmeshError('give-up', 'round.failed', `Round ${round.index} failed: ${round.reason ?? NO_REASON}`, {
    next: `${AGAIN} Its records are kept: see the page, or \`npx rollmesh dead-letters list\`.`,
  });

const ended = (run: string, index: number) =>
  new RollmeshError('give-up', 'run.stopped', `Run ${run} was stopped before round ${index}.`, {
    next: 'The same command orders the rounds that are missing and goes on.',
  });

/** `last`: the version that the run's last round made. */
function lineOf(round: RoundState, last: number | undefined): RoundLine {
  const { groups } = round;
  const stale = round.failures.filter(({ failure }) => failure?.code === 'group.stale').length;
  const { version: newest } = newestOf(round.spec);
  const others = last === undefined ? 0 : Math.max(0, newest - last);
  return {
    kind: 'round',
    round: round.index,
    from: newest,
    to: round.version ?? newest,
    ...(others ? { others } : {}),
    groups: {
      proposed: round.proposed,
      admitted: round.expected,
      scored: groups.scored + groups.trained,
      trained: groups.trained,
      stale,
      failed: groups.failed - stale,
    },
    report: round.report ?? { warnings: ['the round is trained, and its report was lost'] },
    ...(round.usage ? { usage: round.usage.stages } : {}),
    wallMs: (round.endedAt ?? round.createdAt) - round.createdAt,
  };
}
