/** Does a run in this process over a given store: it provides the device, the runtime and the printer for `runInProcess`. */
import { textOf } from '../../core/renderer/policy-text.ts';
import type { EvaluationTasks } from '../../core/split.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { openDevice } from '../../learner/device/device.ts';
import { objectiveModules } from '../../learner/train/objective-modules.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { bindingsOf, type OrderedRun } from '../../recipes/run-order.ts';
import type { RunStore } from '../../run/run-store.ts';
import { progressOf, runInProcess } from '../../run/single-process.ts';
import type { OpenRecipes } from '../recipe-modules.ts';
import type { StartOptions } from '../shared/run-options.ts';
import type { RunPrinter } from './run-printer.ts';

/** Does the run; its policy must be in the store. */
export async function playInProcess(
  { recipe, settings, rounds }: OrderedRun,
  {
    device: kind,
    threads,
    revectorize,
    evalEvery,
  }: Pick<StartOptions, 'device' | 'threads' | 'revectorize' | 'evalEvery'>,
  store: RunStore,
  printer: RunPrinter,
  evaluationTasks?: EvaluationTasks,
  recipes?: Pick<OpenRecipes, 'modules'>,
): Promise<void> {
  const device = await openDevice({ device: kind, revectorize, ...(threads ? { threads } : {}) });
  const policies = new OpenPolicies(nodeEngines, (ref) => store.loadVersion(ref));
  const start = await store.loadVersion({ name: settings.policy, version: 0 });
  printer.started({ settings, rounds, device: device.description, ...(await progressOf(settings, store)) });
  const summary = await runInProcess({
    recipe,
    settings,
    rounds,
    evaluateEvery: evalEvery,
    store,
    trainer: new RoundTrainer({ objectives: objectiveModules(recipes?.modules ?? []) }),
    ...textOf(start, settings.policy),
    use: policies.use,
    roles: bindingsOf(recipe, settings),
    evaluationTasks,
    onStart: (report) => report.evaluation && printer.evaluatedStart(report.evaluation),
    onRound: (line) => printer.round(line),
  });
  printer.finished(summary);
  await policies.dispose();
  device.close();
}
