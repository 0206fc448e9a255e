/** The proposer Worker: consumes `rollmesh-propose`. Bindings only; the work is in propose-round.ts. */
import { proposeMessage } from '../../core/schema/round.ts';
import { openDatabase } from '../../store/database.ts';
import { addUsed } from '../../store/usage.ts';
import { bury } from '../shared/bury.ts';
import { consume } from '../shared/consume.ts';
import type { StageQueue } from '../shared/messages.ts';
import { meteredD1, meteredQueue, meteredR2 } from '../shared/metered-bindings.ts';
import { sessionOf } from '../shared/open-policy.ts';
import { rationMs } from '../shared/ration.ts';
import { proposeRound } from './propose-round.ts';

export interface Env {
  readonly DB: D1Database;
  readonly BUCKET: R2Bucket;
  readonly ROLLOUT: StageQueue<'rollout'>;
  readonly PROPOSE: StageQueue<'propose'>;
  readonly RETRY_SECONDS: string;
  readonly RATION_SECONDS?: string;
}

export default {
  async queue(batch, env) {
    const db = openDatabase(meteredD1(env.DB));
    const bucket = meteredR2(env.BUCKET);
    const now = () => Date.now();
    const mesh = {
      db,
      bucket,
      session: sessionOf(bucket),
      rollouts: meteredQueue(env.ROLLOUT),
      proposals: meteredQueue(env.PROPOSE),
      now,
      rationMs: rationMs(env.RATION_SECONDS),
    };
    await consume(
      {
        stage: 'propose',
        schema: proposeMessage,
        // A round has one propose message; a second is the same, delivered twice.
        work: (_round, [message]) => proposeRound(mesh, message!),
        bury: (body, attempts, failure) => bury(db, 'propose', body, attempts, failure, now()),
        account: (round, used) => addUsed(db, round, 'propose', used),
        retrySeconds: Number(env.RETRY_SECONDS),
      },
      batch.messages,
    );
  },
} satisfies ExportedHandler<Env>;
