/**
 * The environment Worker, which a mesh has where it names an environment that somebody else hosts: it consumes `rollmesh-episode` and holds an
 * episode for each message. It has neither the database nor the store; it asks the gateway, as any agent does. This file only connects its bindings.
 */
import * as v from 'valibot';
import { episodeMessage } from '../../core/schema/agent.ts';
import type { Host } from '../api/environment/host.ts';
import { openHost } from '../api/environment/open-host.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { type Holding, holdMessage, LONGEST_MS } from './hold-message.ts';
import { workerSocket } from './socket.ts';

export interface EnvironmentEnv {
  readonly GATEWAY: Fetcher;
  /** By which the gateway knows the mesh's own agent. */
  readonly AGENTS_TOKEN: string;
  readonly RETRY_SECONDS: string;
  /** The environment's key. */
  readonly ORS_API_KEY?: string;
}

/** What a server speaks is asked until it is known. Isolates share no promises between invocations. */
function hosts(key: string | undefined): Holding['host'] {
  const known = new Map<string, Host>();
  return async ({ url }) => {
    const host = known.get(url) ?? (await openHost(url, { key, connect: workerSocket }));
    known.set(url, host);
    return host;
  };
}

export function environmentWorker(): ExportedHandler<EnvironmentEnv> {
  let host: Holding['host'] | undefined;
  return {
    async queue({ messages }, env) {
      host ??= hosts(env.ORS_API_KEY);
      const holding: Holding = {
        send: (url, init) => env.GATEWAY.fetch(url, init),
        token: env.AGENTS_TOKEN,
        host,
        longestMs: LONGEST_MS,
      };
      const hold = async (message: Message): Promise<void> => {
        try {
          await holdMessage(holding, v.parse(episodeMessage, message.body));
          message.ack();
        } catch (error) {
          // Messages are copies of what the database says: where one is given up, the gateway's clock has it sent again.
          log('error', 'episode.retry', { attempts: message.attempts, ...failureOf(error) });
          message.retry({
            delaySeconds: Math.min(300, Number(env.RETRY_SECONDS) * 2 ** (message.attempts - 1)),
          });
        }
      };
      await Promise.all(messages.map(hold));
    },
  };
}
