/** The nodes of `npx rollmesh start --nodes`: processes that know their own token, and no other secret of whoever started them. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startLocalNodes } from '../../cli/node/local-nodes.ts';
import { makeNodeKeys } from '../../core/audit/work-seal.ts';

/** The environments of the other processes that hold the text. */
const environmentsWith = (text: string): string[][] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        return environment.includes(text) ? [environment.split('\0')] : [];
      } catch {
        return []; // It has ended, or is another user's.
      }
    });

test.runIf(existsSync('/proc/self/environ'))(
  'a node inherits its own token, and none that the user has exported',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rollmesh-local-nodes-'));
    // A gateway that hears who asks, and never answers.
    let heard: (authorization: string | undefined) => void;
    const asked = new Promise<string | undefined>((resolve) => {
      heard = resolve;
    });
    const gateway = createServer(({ headers }) => heard(headers.authorization)).listen(0, '127.0.0.1');
    const { port } = await new Promise<AddressInfo>((resolve) =>
      gateway.once('listening', () => resolve(gateway.address() as AddressInfo)),
    );
    const { token } = await makeNodeKeys('0'.repeat(32));
    const made: unknown[] = [];
    for (const name of ['LEARNER_TOKEN', 'MESH_KEY', 'QUEUE_TOKEN', 'HF_TOKEN', 'CLOUDFLARE_API_TOKEN'])
      vi.stubEnv(name, `exported-${name}`);
    const nodes = await startLocalNodes(
      `http://127.0.0.1:${port}`,
      {
        makeNode: async (...order) => {
          made.push(order);
          return { id: '0'.repeat(32), name: order[0], token };
        },
      },
      folder,
      1,
      { notice: () => {}, signal: new AbortController().signal },
    );
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      gateway.closeAllConnections();
      await nodes.stop();
      gateway.close();
      rmSync(folder, { recursive: true });
    });
    expect(await asked).toBe(`Bearer ${token}`);
    // Its exact token is for prompts with reference answers, too: the process is the owner's own.
    expect(made).toEqual([['node-1', { seesGold: true }]]);
    const found = environmentsWith(token);
    expect(found.length).toBeGreaterThan(0);
    for (const environment of found)
      expect(environment.filter((line) => /exported-|TOKEN|KEY|SECRET/.test(line))).toEqual([
        `ROLLMESH_NODE_TOKEN=${token}`,
      ]);
  },
);
