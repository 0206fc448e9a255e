/** One arm of a claim with one seed, in this process and in memory alone; prints the records of the run as JSON lines. */
import { tokenizerOf } from '../core/text/policy-text.ts';
import { openVersion } from '../infer/open-version.ts';
import { loadOrt } from '../infer/ort.ts';
import { openDevice } from '../learner/device/device.ts';
import { RoundTrainer } from '../learner/train/round-trainer.ts';
import { MemoryRunStore } from '../mesh/run-store.ts';
import { runInProcess } from '../mesh/single-process.ts';
import { readSeed } from '../model/seed-files.ts';
import { runOf } from '../recipes/run-order.ts';
import { fail } from './fail.ts';
import { orderOf, type StartOptions, startCommand } from './run-options.ts';
import { jsonPrinter } from './run-printer.ts';

async function runArm(options: StartOptions): Promise<void> {
  const { recipe, settings, rounds } = runOf(orderOf(options));
  const seed = await readSeed('models/seed');
  const store = new MemoryRunStore();
  await store.commitVersion({ name: settings.policy, version: 0 }, seed);
  const device = await openDevice({ device: 'cpu', threads: options.threads ?? 1 });
  const runtime = await loadOrt();
  const printer = jsonPrinter();
  printer.started({ settings, rounds, device: device.description });
  const summary = await runInProcess({
    recipe,
    settings,
    rounds,
    evaluateEvery: options.evalEvery,
    store,
    trainer: new RoundTrainer(),
    tokenizer: tokenizerOf(seed, settings.policy),
    openPolicy: (ref, files) => openVersion(runtime, ref, files),
    onStart: (report) => report.evaluation && printer.evaluatedStart(report.evaluation),
    onRound: (line) => printer.round(line),
  });
  printer.finished(summary);
}

try {
  await runArm(startCommand().parse().opts<StartOptions>());
  process.exit(0);
} catch (error) {
  fail(error, true);
}
