/**
 * Arithmetic chains for a solver that misreads, and a synthesizer of variants. The solver always writes the running totals, and the later a total
 * comes, the more often it takes a plus for a minus or a minus for a plus, so that on long chains most of its answers agree on a wrong one. The
 * synthesizer is shown a chain and writes another.
 *
 *     solver    <solve>3+4-9<sep>    ->  <step>7<step>-2<answer>-2<eos>
 *     proposer  <propose>3+4-9<sep>  ->  3+5-9<eos>
 *
 * In the warm start a variant is the chain itself, or the chain with one character replaced, or the beginning of the chain with one character
 * replaced, or an unrelated chain.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { type Demonstration, freshTask } from './demonstrations.ts';
import { arithmetic, writeSolution } from './family.ts';

/** Probability that the operator of the first, second, … term is misread. */
const MISREADS = [0.01, 0.15, 0.32, 0.52, 0.58];
const SYNTHESIZER_SHARE = 0.45;
const KINDS = { copy: 0.2, changed: 0.25, shorter: 0.35, unrelated: 0.2 } as const;
/** The most terms that a shorter variant leaves out. */
const MOST_LEFT_OUT = 2;

export const variantPrompt = (task: string): string => `<propose>${task}<sep>`;

/** Totals of which later ones are wrong more often, because an operator was misread; an error is carried on, and the last total is the answer. */
export function misreadSolution(random: Random, task: string): Solution {
  let total = Number(task[0]);
  const steps = (task.slice(1).match(/../g) ?? []).map(([operator, digit], i) => {
    const adds = (operator === '+') !== random.bool(MISREADS[i]);
    total += adds ? Number(digit) : -Number(digit);
    return String(total);
  });
  return { steps, answer: steps.at(-1)! };
}

/** The chain with one character replaced by another of its kind: a digit by a digit, an operator by the other one. */
function changed(random: Random, task: string): string {
  const at = random.int(task.length);
  const other = at % 2 ? (task[at] === '+' ? '-' : '+') : String((Number(task[at]) + 1 + random.int(9)) % 10);
  return task.slice(0, at) + other + task.slice(at + 1);
}

/** A variant as the warm start shows it, which is not held out. */
function variantOf(random: Random, task: string): string {
  const kind = (Object.keys(KINDS) as (keyof typeof KINDS)[])[random.weighted(Object.values(KINDS))]!;
  if (kind === 'copy') return task;
  if (kind === 'unrelated') return freshTask(random, 1 + random.int(5));
  const leftOut =
    kind === 'shorter' ? 1 + random.int(Math.min(MOST_LEFT_OUT, arithmetic.difficulty(task) - 1)) : 0;
  return drawUntil(
    () => changed(random, task.slice(0, task.length - 2 * leftOut)),
    (variant) => !arithmetic.isHeldOut(variant),
  );
}

export function demonstrateVariants(random: Random): Demonstration {
  const { stop } = arithmetic;
  if (random.bool(SYNTHESIZER_SHARE)) {
    const task = freshTask(random, 2 + random.int(4));
    return { role: 'proposer', prompt: variantPrompt(task), completion: variantOf(random, task) + stop };
  }
  const task = freshTask(random, 1 + random.int(5));
  const completion = writeSolution(misreadSolution(random, task)) + stop;
  return { role: 'solver', prompt: arithmetic.solverPrompt(task), completion };
}
