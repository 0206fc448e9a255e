/** Finds the run that a person means. */

import { wrongInput } from '../../core/errors.ts';
import type { RunState } from '../../core/schema/answers.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

/** `asked` is a run's id, or `last` for the one that was ordered last. Throws `run.named` for anything else. */
export async function runNamed(
  gateway: Pick<GatewayClient, 'getRun' | 'listRuns'>,
  asked: string,
): Promise<RunState> {
  if (/^[0-9a-f]{32}$/.test(asked)) return gateway.getRun(asked);
  const [newest] = asked === 'last' ? await gateway.listRuns(1) : [];
  if (newest) return newest;
  throw wrongInput('run.named', `There is no run ${JSON.stringify(asked)}.`, {
    expected: 'a run’s id, or `last` for the one that was ordered last',
    next: 'The page and GET /api/runs list them.',
  });
}
