/** Sends a round's scored groups to the learner again: after a stall, or when the round is replayed. */
import { keys } from '../../core/schema/round.ts';
import { sendAll } from '../shared/messages.ts';
import { groupsOf } from '../store/groups.ts';
import type { Services } from './services.ts';

/** Sends the scored groups again that the learner may have lost; it takes each once. The judge made the seal: the gateway has no key. */
export async function sendScored({ db, queues }: Services, round: string): Promise<void> {
  const scored = await groupsOf(db, round, ['scored']);
  await sendAll(
    queues.scored,
    'scored',
    scored.flatMap(({ id: group, index, sha256, mac }) => {
      if (sha256 === null || mac === null) return [];
      return [{ v: 1, round, group, index, key: keys.scored(round, group), sha256, mac }];
    }),
  );
}
