/** Which run a person means, and its end. */
import type { GatewayClient } from '../api/gateway-client.ts';
import { wrongInput } from '../core/errors.ts';

type Runs = Pick<GatewayClient, 'listRuns' | 'stopRun' | 'getRun' | 'listRounds'>;

export interface StoppedRun {
  readonly run: string;
  /** Rounds of it that are done. */
  readonly done: number;
}

const OPEN_SHOWN = 5;

/** An id, or `last`: the newest run that is open. */
async function runId(gateway: Runs, asked: string): Promise<string> {
  if (/^[0-9a-f]{32}$/.test(asked)) return asked;
  const open = (await gateway.listRuns()).filter(({ state }) => state === 'open');
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

/** Its open round ends and counts as failed, with the reason; what was trained stays. */
export async function stopRun(gateway: Runs, asked: string, reason: string): Promise<StoppedRun> {
  const run = await runId(gateway, asked);
  await gateway.stopRun(run, reason);
  const done = (await gateway.listRounds(run)).filter(({ stage }) => stage === 'done').length;
  return { run, done };
}
