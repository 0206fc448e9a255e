/** How long a claim will take, from the record of its last run or from its pilots. */
import { type Engine, mean, quantile } from 'rollmesh';
import type { Pilot } from '../rule/attempts.ts';
import { armSeeds, type Claim } from '../rule/claim.ts';
import type { Played } from './record.ts';

/** Processor time of a run by engine, against ONNX Runtime: two rounds and two evaluations of rise, one thread, without the start of the process. */
const ENGINE_TIME: Readonly<Record<Engine, number>> = { onnx: 1, kernels: 0.4, 'kernels-plain': 0.46 };

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
    // The median, so that a run which stood still while the machine did something else says nothing of the others.
    return [name, (quantile(times, 0.5) * claim.rounds) / record.rounds / 60_000] as const;
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

/**
 * The same by a claim's pilots; of an arm by those that played it. It is rough, as they may have had another engine, start or settings: of 39 claims
 * half took between half and twice as long. Undefined where no run of a pilot has ended.
 */
export function minutesByPilots(
  claim: Claim,
  pilots: readonly Pilot[],
): ReadonlyMap<string, number> | undefined {
  const roundsOf = ({ arms, seeds, rounds, runs = arms.length * seeds }: Pilot) => runs * rounds;
  const known = pilots.filter((pilot) => roundsOf(pilot) > 0);
  if (!known.length) return undefined;
  const perRound = (some: readonly Pilot[]) =>
    some.reduce((sum, { minutes }) => sum + minutes, 0) /
    some.reduce((sum, pilot) => sum + roundsOf(pilot), 0);
  return new Map(
    claim.arms.map((arm) => {
      const played = known.filter(({ arms }) => arms.includes(arm.name));
      const minutes = perRound(played.length ? played : known);
      return [arm.name, minutes * claim.rounds * armSeeds(claim, arm).length];
    }),
  );
}
