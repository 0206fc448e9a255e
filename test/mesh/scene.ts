/** A local mesh in a temporary folder with the start policy in it, and the small hands that the tests need. */
import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RoundState } from '../../core/schema/answers.ts';
import type { ScoredMessage } from '../../core/schema/round.ts';
import { type MeshOptions, SCORED_QUEUE, startMesh } from '../../local/mesh/start.ts';
import { ensureShipped } from '../../local/starts.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { type PulledMessage, PullQueue } from '../../workers/api/pull-client.ts';

export const temporaryFolder = () => mkdtempSync(join(tmpdir(), 'rollmesh-'));

/** A connection of its own for each request: workerd closes idle ones, and a POST is not sent twice by itself. */
export const ALONE = { connection: 'close' };

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** The clock stands still unless a test calls `cron()`, and limits are out of the way. */
export async function openScene(options: MeshOptions = {}) {
  const stateDir = options.stateDir ?? temporaryFolder();
  const mesh = await startMesh({ cronMs: 0, rateLimit: 1_000_000, stateDir, ...options });
  const { LEARNER_TOKEN, WEBHOOK_SECRET } = mesh.secrets;
  const gateway = new GatewayClient({ url: mesh.url, token: LEARNER_TOKEN });
  const queue = new PullQueue({
    baseUrl: mesh.pullUrl,
    accountId: 'local',
    queueId: SCORED_QUEUE,
    token: LEARNER_TOKEN,
  });
  await ensureShipped(gateway);

  /** The same body at the same time is the same delivery. */
  const signed = (body: string, seconds = Math.floor(Date.now() / 1000)) => {
    const id = `order_${createHash('sha256').update(`${seconds}.${body}`).digest('hex')}`;
    const mac = createHmac('sha256', WEBHOOK_SECRET).update(`${id}.${seconds}.${body}`).digest('base64');
    return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${mac}` };
  };
  return {
    mesh,
    stateDir,
    gateway,
    queue,
    signed,
    /** POSTs a body as it is; signed unless other headers are given. */
    hook: (body: string, headers: Record<string, string> = signed(body)) =>
      fetch(`${mesh.url}/hooks/rounds`, { method: 'POST', body, headers: { ...headers, ...ALONE } }),
    async order(order: object): Promise<{ run: string; round: string; rounds: number }> {
      const body = JSON.stringify(order);
      const response = await fetch(`${mesh.url}/hooks/rounds`, {
        method: 'POST',
        body,
        headers: { ...signed(body), ...ALONE },
      });
      if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as { run: string; round: string; rounds: number };
    },
    /** The round once it is in one of the states. */
    async reach(round: string, states: readonly RoundState['state'][]): Promise<RoundState> {
      for (;;) {
        const state = await gateway.getRound(round);
        if (states.includes(state.state)) return state;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    /** So many messages of a round: they are sent before the groups are noted as scored, and may still be on their way. */
    async pullOf(round: string, count: number): Promise<PulledMessage[]> {
      const all = new Map<string, PulledMessage>();
      while (all.size < count) {
        for (const message of (await queue.pull(60_000)).messages) {
          const body = message.body as ScoredMessage;
          if (body.round === round) all.set(body.group, message);
        }
      }
      return [...all.values()];
    },
    /** Everything that can be pulled now. */
    async drain(): Promise<PulledMessage[]> {
      const all: PulledMessage[] = [];
      for (;;) {
        const { messages } = await queue.pull(60_000);
        if (!messages.length) return all;
        all.push(...messages);
      }
    },
    async stop(keep = false) {
      await mesh.stop();
      if (!keep) rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
