/** The rollout Worker: consumes `rollmesh-rollout`. It only connects bindings; the work is in roll-out-groups.ts. */
import { rolloutMessage } from '../../core/schema/round.ts';
import type { StageQueue } from '../shared/messages.ts';
import { meteredQueue } from '../shared/metered-bindings.ts';
import { type StageEnv, stageWorker, type WorkerOptions } from '../shared/stage-worker.ts';
import { rollOutGroups } from './roll-out-groups.ts';

export interface RolloutEnv extends StageEnv {
  readonly JUDGE: StageQueue<'judge'>;
  readonly ROLLOUT: StageQueue<'rollout'>;
}

export const rolloutWorker = (options: WorkerOptions): ExportedHandler<RolloutEnv> =>
  stageWorker(
    {
      stage: 'rollout',
      schema: rolloutMessage,
      work: (mesh, env, round, messages) =>
        rollOutGroups(
          { ...mesh, judgments: meteredQueue(env.JUDGE), rollouts: meteredQueue(env.ROLLOUT) },
          round,
          messages,
        ),
    },
    options,
  );
