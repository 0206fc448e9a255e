/** Does a run in this process over a given store: it provides the device and the runtime for `runInProcess`, and tells a listener what happens. */
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { calledOf } from '../../core/recipe/registry.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import type { RoundLine, Summary } from '../../core/schema/summary.ts';
import { expectSameTokens, tokensOf } from '../../core/text/same-tokens.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { httpService } from '../../infer/remote/reward-service.ts';
import { chooseDevice } from '../../learner/nn/device-trial.ts';
import { configOf } from '../../learner/train/frozen-sets.ts';
import { objectiveModules } from '../../learner/train/objective-modules.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { bindingsOf, type OrderedRun } from '../../recipes/run-order.ts';
import type { RunStore } from './run-store.ts';
import { progressOf, runInProcess } from './single-process.ts';

/** The learner's device, and how often a version is evaluated. */
export interface InProcessOptions {
  readonly device: 'auto' | 'cpu' | 'webgpu';
  readonly threads?: number;
  readonly revectorize: boolean;
  /** Evaluate every so many rounds. */
  readonly evalEvery: number;
}

/** What is told of a run while it goes on. */
export interface RunListener {
  started(start: {
    readonly settings: RunSettings;
    /** What people call its recipe, where that is not its name. */
    readonly called?: string;
    readonly rounds: number;
    /** The learner's device, in words. */
    readonly device: string;
    /** Rounds that an earlier start finished. */
    readonly done?: number;
    /** The version that the run begins from, where it has no rounds yet. */
    readonly from?: number;
  }): void;
  /** The version that the run began from is evaluated. */
  evaluatedStart(evaluation: EvaluationReport): void;
  round(line: RoundLine): void;
  finished(summary: Summary): void;
}

/** The version that a role is bound to. Throws `policy.missing` where the store has none. */
async function boundVersion(
  store: RunStore,
  role: string,
  ref: { readonly name: string; readonly version: number },
): Promise<VersionFiles> {
  try {
    return await store.loadVersion(ref);
  } catch (error) {
    if (!(error instanceof RollmeshError && ['policy.missing', 'object.unknown'].includes(error.code)))
      throw error;
    throw wrongInput(
      'policy.missing',
      `The policy ${ref.name}@${ref.version}, which plays the role ${role}, is not there.`,
      {
        expected: 'a version of a policy in the state folder',
        next: 'Run `npx rollmesh policy list`, or import it: `npx rollmesh policy import DIR --name NAME`.',
        cause: error,
      },
    );
  }
}

/** Does the run; its policy must be in the store. `recipes`: those that came from modules, for the objectives that they bring. `rewardSecret` signs requests to reward services. */
export async function playInProcess(
  { recipe, settings, rounds }: OrderedRun,
  { device: kind, threads, revectorize, evalEvery }: InProcessOptions,
  store: RunStore,
  listener: RunListener,
  evaluationTasks?: EvaluationTasks,
  recipes?: { readonly modules: Parameters<typeof objectiveModules>[0] },
  rewardSecret?: string,
): Promise<void> {
  const policies = new OpenPolicies(nodeEngines, (ref) => store.loadVersion(ref));
  const start = await store.loadVersion({ name: settings.policy, version: 0 });
  const roles = bindingsOf(recipe, settings);
  // A judge or a teacher that does not exist, or has other tokens than its student, is said before anything is sampled.
  for (const [role, { fixed }] of Object.entries(roles)) {
    if (!fixed) continue;
    const files = await boundVersion(store, role, fixed);
    if (recipe.roles[role]!.teaches) expectSameTokens(tokensOf(start), tokensOf(files), fixed);
  }
  const { device, why } = await chooseDevice(
    { device: kind, revectorize, ...(threads ? { threads } : {}) },
    configOf(start),
  );
  const said = why === undefined ? device.description : `${device.description} (${why})`;
  listener.started({
    settings,
    ...calledOf(recipe),
    rounds,
    device: said,
    ...(await progressOf(settings, store)),
  });
  const summary = await runInProcess({
    recipe,
    settings,
    rounds,
    evaluateEvery: evalEvery,
    store,
    trainer: new RoundTrainer({ objectives: objectiveModules(recipes?.modules ?? []) }),
    ...textOf(start, settings.policy),
    use: policies.use,
    roles,
    evaluationTasks,
    askService: rewardSecret === undefined ? undefined : httpService({ secret: rewardSecret, now: Date.now }),
    onStart: (report) => report.evaluation && listener.evaluatedStart(report.evaluation),
    onRound: (line) => listener.round(line),
  });
  listener.finished(summary);
  await policies.dispose();
  device.close();
}
