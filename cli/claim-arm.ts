/**
 * Arms of claims in this process and in memory alone; prints the records of each run as JSON lines. With arguments: the run that they
 * mean, as `npm start` reads them. Without: one run for each line of the input, a JSON list of arguments, so that nothing is started anew.
 */
import { createInterface } from 'node:readline';
import { type ExamTasks, HELD_OUT } from '../core/tasks/split.ts';
import { MemoryRunStore } from '../mesh/run-store.ts';
import { shipped } from '../recipes/index.ts';
import { runOf } from '../recipes/run-order.ts';
import { EXAMS, type Exams } from './claims/run-arms.ts';
import { fail } from './fail.ts';
import { readStart } from './import-policy.ts';
import { playInProcess } from './in-process.ts';
import { orderOf, type StartOptions, startCommand } from './run-options.ts';
import { jsonPrinter } from './run-printer.ts';

/** Arms run side by side, one a core. */
const THREADS = 1;

const EXAM_TASKS: Readonly<Record<Exams, ExamTasks>> = {
  full: HELD_OUT,
  pilot: { ...HELD_OUT, heldOut: false },
  quick: { ...HELD_OUT, most: 24 },
};

async function playArm(args: readonly string[], examTasks: ExamTasks): Promise<void> {
  const options = startCommand().parse(args, { from: 'user' }).opts<StartOptions>();
  const run = runOf(shipped, orderOf(options));
  const store = new MemoryRunStore();
  const start = await readStart(run.recipe.start);
  await store.commitVersion({ name: run.settings.policy, version: 0 }, start);
  await playInProcess(
    run,
    { device: 'cpu', threads: THREADS, revectorize: options.revectorize, evalEvery: options.evalEvery },
    store,
    jsonPrinter(),
    examTasks,
  );
}

try {
  const examTasks = EXAM_TASKS[(process.env[EXAMS] ?? 'full') as Exams];
  const args = process.argv.slice(2);
  if (args.length) await playArm(args, examTasks);
  else
    for await (const line of createInterface({ input: process.stdin }))
      await playArm(JSON.parse(line) as string[], examTasks);
  process.exit(0);
} catch (error) {
  fail(error, true);
}
