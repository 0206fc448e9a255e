/** The judge Worker: consumes `rollmesh-judge`, produces what the learner pulls. It only connects bindings; the work is in judge-groups.ts. */
import { judgeMessage } from '../../core/schema/round.ts';
import type { StageQueue } from '../shared/messages.ts';
import { meteredQueue } from '../shared/metered-bindings.ts';
import { requireSecret } from '../shared/secrets.ts';
import { type StageEnv, stageWorker, type WorkerOptions } from '../shared/stage-worker.ts';
import { judgeGroups } from './judge-groups.ts';

export interface JudgeEnv extends StageEnv {
  readonly SCORED: StageQueue<'scored'>;
  readonly MESH_KEY?: string;
  readonly JUDGE: StageQueue<'judge'>;
}

export const judgeWorker = (options: WorkerOptions): ExportedHandler<JudgeEnv> =>
  stageWorker(
    {
      stage: 'judge',
      schema: judgeMessage,
      work: async (mesh, env, round, messages) =>
        judgeGroups(
          {
            ...mesh,
            scored: meteredQueue(env.SCORED),
            judgments: meteredQueue(env.JUDGE),
            meshKey: requireSecret('MESH_KEY', env.MESH_KEY),
          },
          round,
          messages,
        ),
    },
    options,
  );
