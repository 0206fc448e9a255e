/** Simulated conditions: how often the rule says that one holds. */
import { Random } from 'rollmesh';
import { judgeCondition } from '../../rule/rule.ts';

/** The share of 4,000 conditions with eight seeds that hold, where the measure's mean and deviation are these. */
export function shareThatHolds(effect: number, deviation: number, bound: number): number {
  const random = new Random(`claims/rule/${effect}`);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random.float())) * Math.cos(2 * Math.PI * random.float());
  const trials = 4000;
  let held = 0;
  for (let trial = 0; trial < trials; trial++) {
    const values = Array.from({ length: 8 }, () => effect + deviation * normal());
    const measure = (_: unknown, seed: number) => values[seed]!;
    if (judgeCondition({ description: 'x', measure, atLeast: bound }, {}, 8).outcome === 'holds') held++;
  }
  return held / trials;
}
