/**
 * A fixed corpus of tasks with exact solutions in steps: the only data of supervised fine-tuning, so that each further epoch teaches less. None of
 * its tasks is held out.
 */
import { Random } from '../../core/random.ts';
import type { Demonstration } from './demonstrations.ts';
import { arithmetic, randomTask, runningTotals, writeSolution } from './family.ts';

export const CORPUS_SIZE = 2000;

let corpus: readonly string[] | undefined;

/** Distinct tasks of 2 … 5 operators in equal shares, the same in every process. */
export function workedCorpus(): readonly string[] {
  if (corpus) return corpus;
  const random = new Random('arithmetic/worked-corpus');
  const tasks = new Set<string>();
  while (tasks.size < CORPUS_SIZE) {
    const task = randomTask(random, 2 + (tasks.size % 4));
    if (!arithmetic.isHeldOut(task)) tasks.add(task);
  }
  corpus = [...tasks];
  return corpus;
}

/** The exact solution with every running total, stop token included. */
export function exactTrace(task: string): string {
  const steps = runningTotals(task).map(String);
  return writeSolution({ steps, answer: steps.at(-1)! }) + arithmetic.stop;
}

/** The data's response to a task. */
export const workedExample = (task: string): Demonstration => ({
  role: 'solver',
  prompt: arithmetic.solverPrompt(task),
  completion: exactTrace(task),
});

export const demonstrateCorpus = (random: Random): Demonstration =>
  workedExample(random.pick(workedCorpus()));
