/** A round that waits long for its turn: its messages come again and again, and must not end as dead letters. */
import { expect, test } from 'vitest';
import { runLearner } from '../../learner/loop/loop.ts';
import type { MeshGateway } from '../../learner/loop/ports.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { shipped } from '../../recipes/index.ts';
import type { PulledMessage } from '../../workers/api/pull-client.ts';

const round = 'a'.repeat(32);
const messageOf = (group: string) => ({
  v: 1,
  round,
  group,
  index: 0,
  key: `rounds/${round}/groups/${group}/scored.json`,
  sha256: 'b'.repeat(64),
  mac: 'c'.repeat(64),
});

test.each([
  // A round whose turn has not come: the earlier round of its run has not ended.
  ['before its turn', { waitsFor: 'e'.repeat(32) }],
  ['while its run is paused', { waitsFor: null, paused: true }],
])(
  'a message that is held %s is acknowledged at its third delivery, and the first ones stay leased',
  async (_, held) => {
    const group = 'd'.repeat(32);
    const acknowledged: string[] = [];
    const fetched: string[] = [];
    const stop = new AbortController();
    let attempts = 0;
    const pull = () => {
      attempts++;
      if (attempts > 5) stop.abort();
      const message: PulledMessage = {
        id: 'm',
        body: messageOf(group),
        sentAt: new Date(0),
        attempts,
        lease: `lease ${attempts}`,
      };
      return Promise.resolve({ messages: [message], backlog: 0 });
    };
    const gateway = {
      getRound: () => Promise.resolve({ state: 'training', ...held }),
      getObject: (key: string) => {
        fetched.push(key);
        return Promise.reject(new Error('not there'));
      },
    } as unknown as MeshGateway;
    await runLearner(
      {
        queue: {
          pull,
          ack: (leases) => Promise.resolve(void acknowledged.push(...leases)),
          retry: () => Promise.resolve(),
        },
        gateway,
        trainer: new RoundTrainer(),
        log: () => {},
      },
      { recipes: shipped, maxStaleness: 2, leaseMs: 1, longestIdleMs: 1, device: 'test' },
      stop.signal,
    );
    expect(acknowledged).toEqual(['lease 3', 'lease 4', 'lease 5', 'lease 6']);
    // However often it comes, its object is fetched early once.
    expect(fetched).toEqual([messageOf(group).key]);
  },
);
