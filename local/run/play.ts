/** Plays an ordered run over a given store, in whatever program: Node (in-process.ts) or a browser's tab. It tells a listener what happens. */
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { expectSees } from '../../core/images/patches.ts';
import type { AskService } from '../../core/net/reward-service.ts';
import { calledOf } from '../../core/recipe/registry.ts';
import { hasToSee } from '../../core/recipe/role.ts';
import type { ReadStored } from '../../core/recipe/round-context.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { headFile, type VersionFiles } from '../../core/schema/policy.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import type { RoundLine, Summary } from '../../core/schema/summary.ts';
import { expectSameTokens, tokensOf } from '../../core/text/same-tokens.ts';
import type { Engines } from '../../infer/engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import type { Device } from '../../learner/device/device.ts';
import { configOf } from '../../learner/train/frozen-sets.ts';
import type { LoadObjective } from '../../learner/train/objective-modules.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import type { ModelConfig } from '../../model/config.ts';
import { expectHead } from '../../model/head.ts';
import { bindingsOf, type OrderedRun } from '../../recipes/run-order.ts';
import type { RunStore } from './run-store.ts';
import { progressOf, runInProcess } from './single-process.ts';

/** The program that a run is played in. */
export interface RunHost {
  readonly engines: Engines;
  /** Opens the learner's device for a policy; `why` tells in words why it is this one. */
  readonly openDevice: (policy: ModelConfig) => Promise<{ readonly device: Device; readonly why?: string }>;
  /** Loads the objectives that recipes bring; by default none can be loaded. */
  readonly objectives?: LoadObjective;
  /** Asks a reward service; by default none can be asked. */
  readonly askService?: AskService | undefined;
  /** Reads an object of tasks that lies beside the recipe; by default there are none. */
  readonly readStored?: ReadStored | undefined;
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

/** Does the run; its policy must be in the store. A version is evaluated every `evaluateEvery` rounds. */
export async function playRun(
  { recipe, settings, rounds, tokens }: OrderedRun,
  host: RunHost,
  evaluateEvery: number,
  store: RunStore,
  listener: RunListener,
  evaluationTasks?: EvaluationTasks,
): Promise<void> {
  const policies = new OpenPolicies(host.engines, (ref) => store.loadVersion(ref));
  const start = await store.loadVersion({ name: settings.policy, version: 0 });
  const expectEyes = (policy: string, files: VersionFiles) => {
    if (recipe.showsImages)
      expectSees(recipe.showsImages, configOf(files).vision, {
        policy,
        recipe: recipe.called ?? recipe.name,
      });
  };
  expectEyes(settings.policy, start);
  const roles = bindingsOf(recipe, settings);
  // A judge, a teacher or a reward model that does not exist, or has other tokens than the policy, is said before anything is sampled.
  for (const [role, { fixed }] of Object.entries(roles)) {
    if (!fixed) continue;
    const files = await boundVersion(store, role, fixed);
    const { teaches, measures } = recipe.roles[role]!;
    if (hasToSee(recipe.roles[role]!)) expectEyes(fixed.name, files);
    if (teaches || measures) expectSameTokens(tokensOf(start), tokensOf(files), fixed);
    if (measures) expectHead(fixed, measures, configOf(files), files[headFile()]);
  }
  const { device, why } = await host.openDevice(configOf(start));
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
    tokens,
    evaluateEvery,
    store,
    trainer: new RoundTrainer(host.objectives ? { objectives: host.objectives } : {}),
    ...textOf(start, settings.policy),
    use: policies.use,
    roles,
    evaluationTasks,
    askService: host.askService,
    readStored: host.readStored,
    onStart: (report) => report.evaluation && listener.evaluatedStart(report.evaluation),
    onRound: (line) => listener.round(line),
  });
  listener.finished(summary);
  await policies.dispose();
  device.close();
}
