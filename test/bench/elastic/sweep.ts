/** Runs the model from ten isolates to ten thousand: gives its figures, which limit binds, and the cost. */
import { costOf } from '../../../core/cost/cost.ts';
import { NOTHING_USED } from '../../../core/cost/usage.ts';
import type { Load, Outcome, Platform, Work } from './parameters.ts';
import { LIMITS } from './platforms.ts';
import { simulate } from './simulate.ts';

export const ISOLATES = [10, 30, 100, 300, 1000, 3000, 10_000];

/** What a sample produces, as counted on the local mesh. */
export interface Counted {
  readonly bytesPerSample: number;
  readonly tokensPerSample: number;
}

/** Rows written: a group's row and key, scored, trained; a batch's progress and use; and those of a round. */
const ROWS = { group: 4, batch: 2, round: 12 };

/** A round's cost: 3 operations per message and hop, 3 hops per group; an object written and read in both stages; batches and fetches as requests. */
function roundCost({ perRound }: Outcome, { tasks, group }: Load, counted: Counted) {
  return costOf({
    ...NOTHING_USED,
    requests: perRound.batches + tasks,
    cpuMs: perRound.cpuMs,
    queueOperations: 3 * (1 + 3 * tasks),
    d1RowsWritten: ROWS.round + ROWS.batch * perRound.batches + ROWS.group * tasks,
    r2ClassA: 2 * tasks,
    r2ClassB: 2 * tasks + 4 * perRound.opened,
    r2BytesWritten: counted.bytesPerSample * tasks * group,
  });
}

export interface SweepRow {
  readonly isolates: number;
  readonly roundSeconds: number;
  readonly samplesPerSecond: number;
  readonly staleness: number;
  readonly idle: Outcome['idle'];
  readonly mostAtOnce: number;
  readonly dollarsPerRound: number;
  readonly dollarsPerMillionTokens: number;
  /** The gain in throughput, as a multiple, after one limit is lifted fourfold (the rounds in flight twofold); the first limit binds. */
  readonly lifted: readonly { readonly limit: string; readonly gain: number }[];
}

export function sweep(
  work: Work,
  platform: Platform,
  load: Omit<Load, 'isolates'>,
  counted: Counted,
): SweepRow[] {
  return ISOLATES.map((isolates) => {
    const own = { ...load, isolates };
    const outcome = simulate(work, platform, own);
    const lifted = LIMITS.map(({ name, lift }) => {
      const changed = lift(platform, own);
      const { samplesPerSecond } = simulate(work, changed.platform ?? platform, changed.load ?? own);
      return { limit: name, gain: samplesPerSecond / outcome.samplesPerSecond };
    }).sort((a, b) => b.gain - a.gain);
    const dollars = roundCost(outcome, own, counted).total;
    return {
      isolates,
      roundSeconds: outcome.roundMs.reduce((sum, ms) => sum + ms, 0) / outcome.roundMs.length / 1000,
      samplesPerSecond: outcome.samplesPerSecond,
      staleness: outcome.staleness.mean,
      idle: outcome.idle,
      mostAtOnce: outcome.mostAtOnce,
      dollarsPerRound: dollars,
      dollarsPerMillionTokens: (1e6 * dollars) / (counted.tokensPerSample * load.tasks * load.group),
      lifted: lifted.filter(({ gain }) => gain > 1.01),
    };
  });
}
