/** Waits, at the end of a run whose episodes agents hold, until they have heard that it is over: the mesh goes with the command. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

/** How often it is asked, ms. */
const POLL_MS = 250;
/** An agent that finds no episode asks again after a second: once none was told for so long, all that wait have been, ms. */
const QUIET_MS = 2500;
/** The longest wait, ms: there may be no agent any more, or one may be busy with something else. */
const LONGEST_MS = 15_000;

export interface Waits {
  readonly pollMs?: number;
  readonly quietMs?: number;
  readonly longestMs?: number;
}

/** @returns whether any agent has heard it */
export async function agentsHeard(
  gateway: Pick<GatewayClient, 'getAgentAccess'>,
  run: string,
  signal: AbortSignal,
  { pollMs = POLL_MS, quietMs = QUIET_MS, longestMs = LONGEST_MS }: Waits = {},
): Promise<boolean> {
  const began = performance.now();
  let told: number | null = null;
  let since = began;
  while (!signal.aborted && performance.now() - began < longestMs) {
    const { toldAt } = await gateway.getAgentAccess(run);
    if (toldAt !== told) since = performance.now();
    told = toldAt;
    if (told !== null && performance.now() - since >= quietMs) break;
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
  }
  return told !== null;
}
