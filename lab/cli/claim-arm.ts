/**
 * Runs arms of claims in this process, in memory only, and prints the summary of each run as a line of JSON. It does one run for each input
 * line, a JSON `ArmOrder`, so that one process does many.
 */
import { createInterface } from 'node:readline';
import {
  type EvaluationTasks,
  HELD_OUT,
  MemoryRunStore,
  playInProcess,
  type RunListener,
  readPolicyFolder,
  readStart,
  runOf,
  type Summary,
} from 'rollmesh/local';
import { shipped } from 'rollmesh/recipes';
import { claimed } from '../claims/index.ts';
import { examined } from './examine.ts';
import { failed } from './failed.ts';
import { type ArmOrder, EVALUATIONS, type Evaluations } from './run-arms.ts';
import { withStepSizes } from './step-sizes.ts';

/** Threads of one arm: arms run side by side, one per core. */
const THREADS = 1;

const EVALUATION_TASKS: Readonly<Record<Evaluations, EvaluationTasks>> = {
  full: HELD_OUT,
  pilot: { ...HELD_OUT, heldOut: false },
  quick: { ...HELD_OUT, most: 4 },
};

async function playArm(
  { claim, order, evalEvery, tokens, start, stepSizes = 1 }: ArmOrder,
  tasks: EvaluationTasks,
) {
  const ordered = runOf(shipped, order);
  const recipe = withStepSizes(ordered.recipe, stepSizes);
  const run = { ...ordered, recipe, ...(tokens ? { tokens } : {}) };
  const store = new MemoryRunStore();
  const files = await (start ? readPolicyFolder(start) : readStart(run.recipe.startPolicy));
  await store.commitVersion({ name: run.settings.policy, version: 0 }, files);
  let ended: Summary | undefined;
  const listener: RunListener = {
    started() {},
    evaluatedStart() {},
    round() {},
    finished: (summary: Summary) => {
      ended = summary;
    },
  };
  const options = { device: 'cpu', threads: THREADS, revectorize: true, evalEvery } as const;
  await playInProcess(run, options, store, listener, tasks);
  const { examination } = claimed.find(claim).claim;
  // What a recipe says of its own figures is checked by quick runs, and these figures are the lab's.
  const told =
    examination && tasks !== EVALUATION_TASKS.quick
      ? await examined(ended!, run, store, examination, tasks, start ?? recipe.startPolicy)
      : ended!;
  console.log(JSON.stringify(told));
}

try {
  const tasks = EVALUATION_TASKS[(process.env[EVALUATIONS] ?? 'full') as Evaluations];
  for await (const line of createInterface({ input: process.stdin }))
    await playArm(JSON.parse(line) as ArmOrder, tasks);
  process.exit(0);
} catch (error) {
  failed(error);
}
