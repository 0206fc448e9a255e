/** What a node makes of the mesh's refusals: which of them concern one request, and which are the end of the node. */
import { expect, test } from 'vitest';
import { WorkClient } from '../../workers/api/work-client.ts';

const refusing = (status: number, code: string) =>
  new WorkClient({
    url: 'http://mesh',
    token: 't',
    fetch: async () =>
      Response.json({ error: { code, message: 'No.', expected: null, next: null } }, { status }),
  });

test.each([
  // The request was withdrawn: another node was shut out, and its round was begun again.
  [404, 'work.unknown', 'give-up'],
  [409, 'lease.expired', 'give-up'],
  // An address that is not a mesh's.
  [404, 'route.unknown', 'wrong-input'],
  [403, 'node.revoked', 'wrong-input'],
] as const)('%i %s is of kind %s', async (status, code, kind) => {
  await expect(refusing(status, code).heartbeat('0'.repeat(32))).rejects.toMatchObject({ code, kind });
});
