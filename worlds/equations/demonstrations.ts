/**
 * Demonstrations on linear equations, for the warm start. Half of the solvers answer without steps, and half of those answers are wrong, as on
 * arithmetic chains; judges see every kind of error.
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { demonstrateRole } from '../role-demonstrations.ts';
import {
  type EquationFlaw,
  equationSteps,
  equations,
  flawedEquation,
  parseEquation,
  randomEquation,
  rootOf,
} from './family.ts';

const TERSE_SHARE = 0.5;
/** Share of answers without steps that are wrong. */
const TERSE_WRONG = 0.5;
/** What a judge sees: answers without steps, wrong solutions and exact ones. */
const JUDGED = [0.2, 0.45, 0.35];
const FLAWS: readonly EquationFlaw[] = ['isolate', 'divide', 'answer'];

function exact(task: string): Solution {
  const equation = parseEquation(task)!;
  return { steps: equationSteps(equation), answer: String(rootOf(equation)) };
}

function terse(random: Random, task: string): Solution {
  const miss = random.bool(TERSE_WRONG) ? random.pick([-2, -1, 1, 2]) : 0;
  return { steps: [], answer: String(rootOf(parseEquation(task)!) + miss) };
}

export const demonstrateEquation = (random: Random): Demonstration =>
  demonstrateRole(random, {
    family: equations,
    task: (from) => randomEquation(from),
    solution: (from, task) => (from.bool(TERSE_SHARE) ? terse(from, task) : exact(task)),
    judged: (from, task) => {
      const kind = from.weighted(JUDGED);
      if (kind === 0) return terse(from, task);
      return kind === 1 ? flawedEquation(from, task, from.pick(FLAWS)) : exact(task);
    },
  });
