/** Follows a run in the mesh by its reading API and turns finished rounds into lines. Knows no queue and no learner. */

import type { GatewayClient } from '../api/gateway-client.ts';
import { RollmeshError } from '../core/errors.ts';
import type { RoundState } from '../core/schema/answers.ts';
import type { RoundLine } from '../core/schema/summary.ts';

const POLL_MS = 250;
/** How long a round's line waits for its evaluation once the round is done. */
const EVALUATION_MS = 60_000;
/** How long it waits for what the learner used: it reports that after the round is done. */
const COUNTED_MS = 5_000;

export interface Followed {
  readonly gateway: GatewayClient;
  readonly run: string;
  /** The last round to wait for. */
  readonly rounds: number;
  readonly evaluateEvery: number;
  readonly signal: AbortSignal;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Yields the rounds in order, each once it is done and reported. Throws where a round fails for good. */
export async function* followRun(followed: Followed): AsyncGenerator<RoundLine> {
  const { gateway, run, rounds, signal } = followed;
  let ids = new Map<number, string>();
  let last: RoundLine | undefined;
  for (let index = 1; index <= rounds && !signal.aborted; ) {
    if (!ids.has(index))
      ids = new Map((await gateway.listRounds(run)).map((round) => [round.index, round.id]));
    const id = ids.get(index);
    const round = id === undefined ? undefined : await gateway.getRound(id);
    if (round?.stage === 'failed') throw failure(round);
    if (!round || !isReported(round, followed)) {
      await sleep(POLL_MS);
      continue;
    }
    last = lineOf(round, last?.to);
    yield last;
    index++;
  }
}

function isReported(round: RoundState, { evaluateEvery, rounds }: Followed): boolean {
  const report = round.report;
  if (round.stage !== 'done' || !report) return false;
  const counted = round.usage?.stages.learner !== undefined;
  if (!counted && Date.now() - (round.endedAt ?? 0) < COUNTED_MS) return false;
  const due = round.index === 1 || round.index % evaluateEvery === 0 || round.index === rounds;
  const evaluated = round.index === 1 ? report.start : report.evaluation;
  return !due || evaluated !== undefined || Date.now() - (round.endedAt ?? 0) > EVALUATION_MS;
}

const failure = (round: RoundState) =>
  new RollmeshError(
    'give-up',
    'round.failed',
    `Round ${round.index} failed: ${round.reason ?? 'no reason given'}`,
    {
      next: 'Its records are kept: see the page, or GET /api/dead-letters. Starting again orders the rounds that are missing.',
    },
  );

/** `last`: the version that the run's last round made. */
function lineOf(round: RoundState, last: number | undefined): RoundLine {
  const { groups } = round;
  const stale = round.failures.filter(({ failure }) => failure?.code === 'group.stale').length;
  const versions = Object.values(round.spec.roles).map((ref) => ref.version);
  const others = last === undefined ? 0 : Math.max(0, Math.max(...versions) - last);
  return {
    kind: 'round',
    round: round.index,
    from: Math.max(...versions),
    to: round.version ?? Math.max(...versions),
    ...(others ? { others } : {}),
    groups: {
      proposed: round.proposed,
      admitted: round.expected,
      scored: groups.scored + groups.trained,
      trained: groups.trained,
      stale,
      failed: groups.failed - stale,
    },
    report: round.report ?? {},
    ...(round.usage ? { usage: round.usage.stages } : {}),
    wallMs: (round.endedAt ?? round.createdAt) - round.createdAt,
  };
}
