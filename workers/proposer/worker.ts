/** The proposer Worker: consumes `rollmesh-propose`. It only connects bindings; the work is in propose-round.ts. */
import { proposeMessage } from '../../core/schema/round.ts';
import type { StageQueue } from '../shared/messages.ts';
import { meteredQueue } from '../shared/metered-bindings.ts';
import { type StageEnv, stageWorker, type WorkerOptions } from '../shared/stage-worker.ts';
import { proposeRound } from './propose-round.ts';

export interface ProposerEnv extends StageEnv {
  readonly ROLLOUT: StageQueue<'rollout'>;
  readonly PROPOSE: StageQueue<'propose'>;
}

export const proposerWorker = (options: WorkerOptions): ExportedHandler<ProposerEnv> =>
  stageWorker(
    {
      stage: 'propose',
      schema: proposeMessage,
      // A round has one propose message; a second one is the same message delivered again.
      work: (mesh, env, _round, [message]) =>
        proposeRound(
          { ...mesh, rollouts: meteredQueue(env.ROLLOUT), proposals: meteredQueue(env.PROPOSE) },
          message!,
        ),
    },
    options,
  );
