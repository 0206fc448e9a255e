/** The judge Worker: consumes `rollmesh-judge`, produces what the learner pulls. Bindings only; the work is in judge-groups.ts. */
import { judgeMessage } from '../../core/schema/round.ts';
import { openDatabase } from '../../store/database.ts';
import { addUsed } from '../../store/usage.ts';
import { bury } from '../shared/bury.ts';
import { consume } from '../shared/consume.ts';
import type { StageQueue } from '../shared/messages.ts';
import { meteredD1, meteredQueue, meteredR2 } from '../shared/metered-bindings.ts';
import { sessionOf } from '../shared/open-policy.ts';
import { rationMs } from '../shared/ration.ts';
import { requireSecret } from '../shared/secrets.ts';
import { judgeGroups } from './judge-groups.ts';

export interface Env {
  readonly DB: D1Database;
  readonly BUCKET: R2Bucket;
  readonly SCORED: StageQueue<'scored'>;
  readonly MESH_KEY?: string;
  readonly JUDGE: StageQueue<'judge'>;
  readonly RETRY_SECONDS: string;
  readonly RATION_SECONDS?: string;
}

export default {
  async queue(batch, env) {
    const db = openDatabase(meteredD1(env.DB));
    const bucket = meteredR2(env.BUCKET);
    const now = () => Date.now();
    await consume(
      {
        stage: 'judge',
        schema: judgeMessage,
        work: (round, messages) => {
          const meshKey = requireSecret('MESH_KEY', env.MESH_KEY);
          const session = sessionOf(bucket);
          const mesh = {
            db,
            bucket,
            session,
            scored: meteredQueue(env.SCORED),
            judgments: meteredQueue(env.JUDGE),
            meshKey,
            now,
            rationMs: rationMs(env.RATION_SECONDS),
          };
          return judgeGroups(mesh, round, messages);
        },
        bury: (body, attempts, failure) => bury(db, 'judge', body, attempts, failure, now()),
        account: (round, used) => addUsed(db, round, 'judge', used),
        retrySeconds: Number(env.RETRY_SECONDS),
      },
      batch.messages,
    );
  },
} satisfies ExportedHandler<Env>;
