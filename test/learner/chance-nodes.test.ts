/** A close node whose draws, over all its rounds, are beyond chance is shut out by what the mesh has noted of it; one within chance is not. */
import { expect, test } from 'vitest';
import { NO_MISMATCH } from '../../core/schema/work.ts';
import { type Audited, settleAudit } from '../../learner/loop/auditor.ts';

const NODE = 'a'.repeat(32);
const ROUND = 'b'.repeat(32);

/** What becomes of a node whose noted sums are a drift of so many nats over differences whose squares sum to 100. */
async function settled(drift: number) {
  const shutOut: string[] = [];
  const gateway = {
    noteAudited: async () => ({ [NODE]: { ...NO_MISMATCH, tokens: 900, drift, squares: 100 } }),
    shutOutNode: async (_: string, reason: string) => {
      shutOut.push(reason);
      return { id: NODE, name: 'near', groups: 2, rounds: [ROUND] };
    },
  };
  const audited = {
    gathered: { proposals: null, groups: [], refused: [] },
    nodes: {
      work: {
        nodes: [{ id: NODE, name: 'near', exactness: 'close', publicKey: 'c'.repeat(64), audited: 0 }],
        work: [],
      },
      found: { right: {}, wrong: [], mismatch: { [NODE]: NO_MISMATCH } },
    },
  } as unknown as Audited;
  const error = await settleAudit(gateway, ROUND, audited).then(
    () => null,
    (thrown: { code: string }) => thrown.code,
  );
  return { error, shutOut };
}

// By hand: drift² / (2 (100 + 20)) − ln(120 / 20) / 2 against ln 1e6 = 13.82. A drift of 59 gives 13.61, one of 60 gives 14.10.
test.each([0, 59, -59])('a drift of %d nats may be by chance', async (drift) => {
  expect(await settled(drift)).toEqual({ error: null, shutOut: [] });
});

test.each([
  [60, 'likelier, as at a lower temperature', '6.00'],
  [-60, 'less likely, as at a higher temperature', '-6.00'],
])('one of %d nats is not', async (drift, which, deviations) => {
  const { error, shutOut } = await settled(drift);
  expect(error).toBe('node.shut-out');
  expect(shutOut).toEqual([
    `audit.chance: Over 900 tokens it does not draw as the policy does: its tokens are ${which} (${deviations} standard deviations).`,
  ]);
});
