/** The rollout Worker: consumes `rollmesh-rollout`. Bindings only; the work is in solve-groups.ts. */
import { rolloutMessage } from '../../core/schema/round.ts';
import { openDatabase } from '../../store/database.ts';
import { addUsed } from '../../store/usage.ts';
import { bury } from '../shared/bury.ts';
import { consume } from '../shared/consume.ts';
import type { StageQueue } from '../shared/messages.ts';
import { meteredD1, meteredQueue, meteredR2 } from '../shared/metered-bindings.ts';
import { sessionOf } from '../shared/open-policy.ts';
import { rationMs } from '../shared/ration.ts';
import { solveGroups } from './solve-groups.ts';

export interface Env {
  readonly DB: D1Database;
  readonly BUCKET: R2Bucket;
  readonly JUDGE: StageQueue<'judge'>;
  readonly ROLLOUT: StageQueue<'rollout'>;
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
      judgments: meteredQueue(env.JUDGE),
      rollouts: meteredQueue(env.ROLLOUT),
      now,
      rationMs: rationMs(env.RATION_SECONDS),
    };
    await consume(
      {
        stage: 'rollout',
        schema: rolloutMessage,
        work: (round, messages) => solveGroups(mesh, round, messages),
        bury: (body, attempts, failure) => bury(db, 'rollout', body, attempts, failure, now()),
        account: (round, used) => addUsed(db, round, 'rollout', used),
        retrySeconds: Number(env.RETRY_SECONDS),
      },
      batch.messages,
    );
  },
} satisfies ExportedHandler<Env>;
