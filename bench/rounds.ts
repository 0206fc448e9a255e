/** Waits for the rounds of a run that a bench has ordered. */
import type { GatewayClient } from '../api/gateway-client.ts';
import type { RoundState } from '../core/schema/answers.ts';

const POLL_MS = 250;

/** The run's rounds in order, once `rounds` of them have ended. */
export async function endedRounds(
  gateway: GatewayClient,
  run: string,
  rounds: number,
): Promise<RoundState[]> {
  for (;;) {
    const all = await gateway.listRounds(run);
    const failed = all.find(({ state }) => state === 'failed');
    if (failed) throw new Error(`round ${failed.index} failed, see /api/rounds/${failed.id}`);
    const done = all.filter(({ state }) => state === 'done');
    if (done.length >= rounds)
      return Promise.all(done.sort((a, b) => a.index - b.index).map(({ id }) => gateway.getRound(id)));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
