/** Shuts a node out, for what an audit or the door found, and has sampled again what it had a part in. */
import { log } from '../shared/log.ts';
import { sendAll } from '../shared/messages.ts';
import type { NodeRow } from '../store/nodes.ts';
import { getRound } from '../store/rounds.ts';
import { type Redrawn, shutOut } from '../store/shut-out.ts';
import type { Services } from './services.ts';
import { sendProposal } from './webhook.ts';

/** @returns what is sampled again, for which the messages are sent */
export async function shutNodeOut(
  services: Services,
  { id, name }: Pick<NodeRow, 'id' | 'name'>,
  reason: string,
): Promise<readonly Redrawn[]> {
  const redrawn = await shutOut(services.db, services.bucket, id, reason, services.now());
  log('warn', 'node.shut-out', { node: id, name, reason, rounds: redrawn.length });
  for (const { round, groups } of redrawn)
    if (groups === null) {
      const row = await getRound(services.db, round);
      if (row) await sendProposal(services, row.spec);
    } else
      await sendAll(
        services.queues.rollout,
        'rollout',
        groups.map(({ group, index }) => ({ v: 1, round, group, index })),
      );
  return redrawn;
}
