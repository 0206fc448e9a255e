/** Finds the run that a person means, and ends it. */

import { wrongInput } from '../core/errors.ts';
import type { GatewayClient } from '../workers/api/gateway-client.ts';

type Runs = Pick<GatewayClient, 'listRuns' | 'stopRun' | 'getRun' | 'listRounds'>;

export interface StoppedRun {
  readonly run: string;
  /** How many of its rounds are done. */
  readonly done: number;
}

const OPEN_SHOWN = 5;

/** The id of the run: `asked` is an id, or `last` for the newest open run. */
async function runId(gateway: Runs, asked: string): Promise<string> {
  if (/^[0-9a-f]{32}$/.test(asked)) return asked;
  const open = (await gateway.listRuns()).filter(
    ({ state, done, target }) => state === 'paused' || (state === 'open' && done < target),
  );
  const [newest] = open;
  if (asked === 'last' && newest) return newest.id;
  const known = open
    .slice(0, OPEN_SHOWN)
    .map(({ id, settings }) => `${id} (${settings.recipe}, seed ${settings.seed})`);
  throw wrongInput('run.unknown', `There is no open run ${JSON.stringify(asked)}.`, {
    expected: known.length ? `last, or one of ${known.join(', ')}` : 'the id of a run; none is open',
    next: 'The page and GET /api/runs list all of them.',
  });
}

/** Ends the run: its open round counts as failed, with the reason; the versions that it trained stay. */
export async function stopRun(gateway: Runs, asked: string, reason: string): Promise<StoppedRun> {
  const run = await runId(gateway, asked);
  await gateway.stopRun(run, reason);
  const done = (await gateway.listRounds(run)).filter(({ state }) => state === 'done').length;
  return { run, done };
}
