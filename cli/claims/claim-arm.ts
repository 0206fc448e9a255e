/**
 * Runs arms of claims in this process, in memory only, and prints the records of each run as JSON lines. With arguments it does the run that
 * they describe, as for `npm start`. Without, it does one run for each input line, a JSON list of arguments, so that one process does many.
 */
import { createInterface } from 'node:readline';
import { type EvaluationTasks, HELD_OUT } from '../../core/recipe/split.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { readStart } from '../../local/starts.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { runOf } from '../../recipes/run-order.ts';
import { openRecipes } from '../recipe-modules.ts';
import { fail } from '../shared/fail.ts';
import { orderOf, type StartOptions, startCommand } from '../shared/run-options.ts';
import { jsonPrinter } from '../start/run-printer.ts';
import { EVALUATIONS, type Evaluations } from './run-arms.ts';
import { withStepSizes } from './step-sizes.ts';

/** Threads of one arm: arms run side by side, one per core. */
const THREADS = 1;

const EVALUATION_TASKS: Readonly<Record<Evaluations, EvaluationTasks>> = {
  full: HELD_OUT,
  pilot: { ...HELD_OUT, heldOut: false },
  quick: { ...HELD_OUT, most: 4 },
};

async function playArm(args: readonly string[], evaluationTasks: EvaluationTasks): Promise<void> {
  const options = startCommand()
    .option('--start <dir>', 'the folder of the policy that the run begins from')
    .option('--step-sizes <factor>', 'by what the step sizes are multiplied', Number, 1)
    .parse(args, { from: 'user' })
    .opts<StartOptions & { readonly start?: string; readonly stepSizes: number }>();
  const known = await openRecipes([options.recipe]);
  const ordered = runOf(known.registry, orderOf({ ...options, recipe: known.named[0]!.name }));
  const run = { ...ordered, recipe: withStepSizes(ordered.recipe, options.stepSizes) };
  const store = new MemoryRunStore();
  const start = await (options.start ? readPolicyFolder(options.start) : readStart(run.recipe.startPolicy));
  await store.commitVersion({ name: run.settings.policy, version: 0 }, start);
  await playInProcess(
    run,
    { device: 'cpu', threads: THREADS, revectorize: options.revectorize, evalEvery: options.evalEvery },
    store,
    jsonPrinter(),
    evaluationTasks,
  );
}

try {
  const evaluationTasks = EVALUATION_TASKS[(process.env[EVALUATIONS] ?? 'full') as Evaluations];
  const args = process.argv.slice(2);
  if (args.length) await playArm(args, evaluationTasks);
  else
    for await (const line of createInterface({ input: process.stdin }))
      await playArm(JSON.parse(line) as string[], evaluationTasks);
  process.exit(0);
} catch (error) {
  fail(error, true);
}
