/** How long a claim will take, from the record of its last run. */
import { armSeeds, type Claim } from '../../core/claims/claim.ts';
import type { Engine } from '../../core/policy.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Played } from './record.ts';

/** Processor time of a run by engine, against ONNX Runtime: two rounds and two evaluations of rise, one thread, without the start of the process. */
const ENGINE_TIME: Readonly<Record<Engine, number>> = { onnx: 1, kernels: 0.4, 'kernels-plain': 0.46 };

/** The middle value, so that a run which stood still while the machine did something else says nothing of the others. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/**
 * Minutes of processor time by arm, for all of its seeds. An arm that the record lacks is taken for an average one. Undefined where there is
 * no record.
 */
export function expectedMinutes(
  claim: Claim,
  engine: Engine,
  record: Pick<Played, 'arms' | 'rounds'> | undefined,
): ReadonlyMap<string, number> | undefined {
  if (!record) return undefined;
  const scaled = record.arms.map(({ name, runs }) => {
    const times = runs.map(({ wallMs, engine: was = 'onnx' }) => wallMs / ENGINE_TIME[was as Engine]);
    return [name, (median(times) * claim.rounds) / record.rounds / 60_000] as const;
  });
  const known = new Map(scaled);
  const usual = mean([...known.values()]);
  return new Map(
    claim.arms.map((arm) => [
      arm.name,
      (known.get(arm.name) ?? usual) * ENGINE_TIME[engine] * armSeeds(claim, arm).length,
    ]),
  );
}
