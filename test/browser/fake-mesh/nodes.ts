/** Nodes: an exact one that may be given gold, a close one, one that an audit has shut out, a verifier, one that is too old for what waits, and one that went away. */
import { deriveId } from '../../../core/random.ts';
import { NO_MISMATCH, type NodeAnswer, type RoundShares } from '../../../core/schema/work.ts';
import { BEGAN, HOSTILE } from './drawn.ts';

const node = (name: string, of: Partial<NodeAnswer>): NodeAnswer => ({
  id: deriveId('node', name),
  name,
  state: 'working',
  exactness: 'exact',
  seesGold: false,
  kind: 'process',
  threads: 2,
  createdAt: BEGAN,
  seenAt: BEGAN + 60_000,
  leased: 0,
  requests: 12,
  samples: 190,
  tokens: 2400,
  lost: 0,
  audited: 5,
  auditedAt: BEGAN + 50_000,
  mismatch: NO_MISMATCH,
  reason: null,
  leaves: [],
  ...of,
});

export const nodes: readonly NodeAnswer[] = [
  node('attic', { seesGold: true }),
  // 36 / √400 = 1.8 standard deviations, 0.5 / 1000 nats.
  node('gpu', {
    exactness: 'close',
    mismatch: { tokens: 1000, sum: 0.5, most: 0.002, drift: 36, squares: 400, slack: 2 },
  }),
  node('cold', { state: 'shut-out', exactness: 'close', reason: `audit.chance: too likely ${HOSTILE}` }),
  node('notary', { state: 'verifier', requests: 0, samples: 0, tokens: 0, audited: 0 }),
  node('old', { state: 'idle', leaves: ['kernels float32 grammar'] }),
  node('gone', { state: 'away' }),
];

export const shares: RoundShares['shares'] = nodes.slice(0, 2).map(({ id, name }, i) => ({
  ...{ node: id, name, requests: 2, samples: i === 0 ? 30 : 10, leased: 0 },
  versions: [{ name: 'trio-0', version: 3 }],
}));
