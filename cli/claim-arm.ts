/** One arm of a claim with one seed, in this process and in memory alone; prints the records of the run as JSON lines. */
import { join } from 'node:path';
import { MemoryRunStore } from '../mesh/run-store.ts';
import { readSeed } from '../model/seed-files.ts';
import { runOf } from '../recipes/run-order.ts';
import { fail } from './fail.ts';
import { SHIPPED } from './import-policy.ts';
import { playInProcess } from './in-process.ts';
import { orderOf, type StartOptions, startCommand } from './run-options.ts';
import { jsonPrinter } from './run-printer.ts';

/** Arms run side by side, one a core. */
const THREADS = 1;

try {
  const options = startCommand().parse().opts<StartOptions>();
  const run = runOf(orderOf(options));
  const store = new MemoryRunStore();
  await store.commitVersion(
    { name: run.settings.policy, version: 0 },
    await readSeed(join(SHIPPED, run.recipe.start)),
  );
  await playInProcess(
    run,
    { device: 'cpu', threads: THREADS, evalEvery: options.evalEvery },
    store,
    jsonPrinter(),
  );
  process.exit(0);
} catch (error) {
  fail(error, true);
}
