/** Waits for the rounds of a run that a bench has ordered. */

import { wrongInput } from '../../core/errors.ts';
import type { RoundState } from '../../core/schema/answers.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

const POLL_MS = 250;
/** A round of a bench takes seconds. */
const STILL_MS = 10 * 60_000;

/** A block's share of the rounds that `--rounds` asks for, `least` or more. Throws `wrong-input` where it is no whole number from 1. */
export function roundsOfBlock(asked: string, blocks: number, least: number): number {
  const rounds = Number(asked);
  if (!Number.isSafeInteger(rounds) || rounds < 1)
    throw wrongInput('bench.option', `--rounds is ${JSON.stringify(asked)}.`, {
      expected: 'a whole number from 1',
    });
  return Math.max(least, Math.round(rounds / blocks));
}

/** The run's rounds in order, once `rounds` of them have ended. Throws where the state of none of them changes for `stillMs`. */
export async function endedRounds(
  gateway: Pick<GatewayClient, 'listRounds' | 'getRound'>,
  run: string,
  rounds: number,
  stillMs = STILL_MS,
): Promise<RoundState[]> {
  let states = '';
  let changedAt = performance.now();
  for (;;) {
    const all = await gateway.listRounds(run);
    const now = all.map(({ id, state }) => `${id} ${state}`).join();
    if (now !== states) [states, changedAt] = [now, performance.now()];
    const failed = all.find(({ state }) => state === 'failed');
    if (failed) throw new Error(`round ${failed.index} failed, see /api/rounds/${failed.id}`);
    const done = all.filter(({ state }) => state === 'done');
    if (done.length >= rounds)
      return Promise.all(done.sort((a, b) => a.index - b.index).map(({ id }) => gateway.getRound(id)));
    if (performance.now() - changedAt > stillMs)
      throw new Error(
        `run ${run} stands still: ${done.length} of ${rounds} rounds have ended, and none went on for ${Math.round(stillMs / 1000)} s; does the learner run?`,
      );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
