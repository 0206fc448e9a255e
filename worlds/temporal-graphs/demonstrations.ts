/**
 * Demonstrations of solvers on temporal graphs, for the warm start. All list the links of the node that is asked about as they are, and six in ten
 * expect the next one as most do who look at the last alone: one time later. Held-out graphs are never shown; nodes have any names.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP, writeSolution } from '../worked.ts';
import { anyQuery, exactStep, parseQuery, parseStep, temporalGraphs, writeStep } from './family.ts';
import { contactsOf } from './graph.ts';

/** How often a solver expects every contact again one time after the last link. */
const HASTY = 0.6;

export function demonstrateTemporalGraph(random: Random): Demonstration {
  const task = anyQuery(random);
  const hasty = random.bool(HASTY);
  const contacts = [...contactsOf(parseQuery(task)!)];
  const steps = contacts.map(([to, times]) =>
    hasty ? writeStep({ to, times: times.join(''), next: String(times.at(-1)! + 1) }) : exactStep(to, times),
  );
  const expected = steps.map((step) => parseStep(step)!).filter(({ next }) => next === task.at(-1));
  // Where nothing is expected at the query's time, the contact of the last link is named.
  const latest = contacts.reduce((a, b) => (b[1].at(-1)! >= a[1].at(-1)! ? b : a))[0];
  const answer = expected.map(({ to }) => to).join('') || latest;
  return {
    role: 'solver',
    prompt: temporalGraphs.solverPrompt(task),
    completion: writeSolution({ steps, answer }) + STOP,
  };
}
