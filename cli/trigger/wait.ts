/** `npx rollmesh trigger URL --wait`: prints the rounds of an order as they end, through the gateway's reading API. */
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { followRun } from '../start/follow-run.ts';
import { inFlightWords } from '../start/in-flight.ts';
import { jsonPrinter, textPrinter } from '../start/run-printer.ts';

/**
 * Returns when the run's rounds up to `rounds` are done.
 *
 * @throws RollmeshError `round.failed` or `run.stopped` where the run does not get so far.
 */
export async function waitForRounds(
  url: string,
  run: string,
  rounds: number,
  { json, added }: { readonly json: boolean; readonly added: number },
): Promise<void> {
  // Reading needs a token only where the mesh has one; the environment holds it then.
  const token = process.env.READ_TOKEN ?? process.env.LEARNER_TOKEN ?? '';
  const gateway = new GatewayClient({ url: url.replace(/\/$/, ''), token });
  const printer = json ? jsonPrinter() : await textPrinter();
  const { settings } = await gateway.getRun(run);
  const from = Math.max(1, rounds - added + 1);
  const page = new URL(`/#run=${run}`, url).href;
  printer.started({ settings, rounds, page, device: 'auto', done: from - 1 });
  const lines = followRun({
    gateway,
    run,
    from,
    rounds,
    // Whether and when the learner evaluates is its own affair: nothing is waited for.
    evaluateEvery: Number.POSITIVE_INFINITY,
    evaluations: false,
    signal: new AbortController().signal,
    passed: (round, reason) => printer.notice(`round ${round} failed: ${reason}`),
    watch: async () => printer.status(inFlightWords(await gateway.roundsUnderWay(run))),
  });
  for await (const line of lines) printer.round(line);
  printer.status('');
}
