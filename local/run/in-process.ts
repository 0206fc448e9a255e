/** Plays a run in this process of Node over a given store. */
import { keepImagesUpTo, MOST_IMAGE_BYTES } from '../../core/images/image.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { httpService } from '../../infer/remote/reward-service.ts';
import { chooseDevice } from '../../learner/nn/device-trial.ts';
import { objectiveModules } from '../../learner/train/node-objectives.ts';
import type { OrderedRun } from '../../recipes/run-order.ts';
import { tasksBeside } from '../stored-tasks.ts';
import { playRun, type RunListener } from './play.ts';
import type { RunStore } from './run-store.ts';

/** The learner's device, and how often a version is evaluated. */
export interface InProcessOptions {
  readonly device: 'auto' | 'cpu' | 'webgpu';
  readonly threads?: number;
  readonly revectorize: boolean;
  /** Evaluate every so many rounds. */
  readonly evalEvery: number;
}

/** Does the run; its policy must be in the store. `recipes`: those that came from modules, for the objectives that they bring. `rewardSecret` signs requests to reward services. */
export const playInProcess = (
  run: OrderedRun,
  { device, threads, revectorize, evalEvery }: InProcessOptions,
  store: RunStore,
  listener: RunListener,
  evaluationTasks?: EvaluationTasks,
  recipes?: { readonly modules: Parameters<typeof objectiveModules>[0] },
  rewardSecret?: string,
): Promise<void> => {
  keepImagesUpTo(MOST_IMAGE_BYTES);
  return playRun(
    run,
    {
      engines: nodeEngines,
      openDevice: (policy) => chooseDevice({ device, revectorize, ...(threads ? { threads } : {}) }, policy),
      objectives: objectiveModules(recipes?.modules ?? []),
      askService:
        rewardSecret === undefined ? undefined : httpService({ secret: rewardSecret, now: Date.now }),
      readStored: tasksBeside(recipes?.modules ?? []),
    },
    evalEvery,
    store,
    listener,
    evaluationTasks,
  );
};
