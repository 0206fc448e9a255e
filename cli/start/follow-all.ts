/** Follows every run of a mesh that waits for webhooks: one heading a run, and a line for each of its rounds as it ends. */

import { RollmeshError } from '../../core/errors.ts';
import { calledOf, type Registry } from '../../core/recipe/registry.ts';
import type { RunState } from '../../core/schema/answers.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import { type RoundLine, summarize } from '../../core/schema/summary.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { followRun } from './follow-run.ts';
import { inFlightWords } from './in-flight.ts';
import type { RunPrinter } from './run-printer.ts';

export interface FollowedMesh {
  readonly gateway: Pick<GatewayClient, 'listRounds' | 'getRound' | 'getRun' | 'roundsUnderWay'> & {
    listRuns(): Promise<readonly RunState[]>;
  };
  readonly registry: Registry;
  /** The address of the page. */
  readonly page: string;
  /** The learner's device: "auto" where it chooses for itself. */
  readonly device: string;
  readonly evaluateEvery: number;
}

/** How often the mesh is asked for runs, ms. */
const LOOK_MS = 1_000;

/** A run that is printed, and its last round that was. */
interface Printed {
  readonly target: number;
  round: number;
}

/**
 * Prints until the signal aborts, and then how far the run came that is under way. Rounds that had ended before are not printed. `ends`: it returns
 * once no run has rounds left, and does not wait for others.
 */
export async function followAll(
  mesh: FollowedMesh,
  printer: RunPrinter,
  signal: AbortSignal,
  ends = false,
): Promise<void> {
  let current: Printed | undefined;
  // At once, since the mesh may not answer any more.
  const stopped = () => {
    if (signal.reason?.name === 'AbortError') printer.stopped(current?.round ?? 0, current?.target ?? 0);
  };
  signal.addEventListener('abort', stopped, { once: true });
  /** By run: the last round that is printed or followed. */
  const followed = new Map<string, number>();
  for (const run of await mesh.gateway.listRuns()) followed.set(run.id, await lastEnded(mesh, run));
  while (!signal.aborted) {
    const due = (await mesh.gateway.listRuns())
      .filter(({ id, target, state }) => state === 'open' && target > (followed.get(id) ?? 0))
      .sort((a, b) => a.createdAt - b.createdAt);
    // One run after the other, as the learner trains them; what a later one did meanwhile is printed when its turn comes.
    for (const run of due) {
      const from = (followed.get(run.id) ?? 0) + 1;
      followed.set(run.id, run.target);
      current = { target: run.target, round: from - 1 };
      await printRun(mesh, run, current, printer, signal);
      current = undefined;
    }
    if (ends && !due.length) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function lastEnded({ gateway }: FollowedMesh, run: RunState): Promise<number> {
  const ended = (await gateway.listRounds(run.id)).filter(
    ({ state }) => state === 'done' || state === 'failed',
  );
  return Math.max(0, ...ended.map(({ index }) => index));
}

async function printRun(
  { gateway, registry, page, device, evaluateEvery }: FollowedMesh,
  { id, settings, target }: RunState,
  printed: Printed,
  printer: RunPrinter,
  signal: AbortSignal,
): Promise<void> {
  const began = performance.now();
  const from = printed.round + 1;
  const recipe = registry.find(settings.recipe);
  printer.started({
    settings,
    ...calledOf(recipe),
    rounds: target,
    page: `${page}/#run=${id}`,
    device,
    done: from - 1,
  });
  const lines: RoundLine[] = [];
  let start: EvaluationReport | undefined;
  try {
    const rounds = followRun({
      gateway,
      run: id,
      rounds: target,
      evaluateEvery,
      signal,
      start: (evaluation) => {
        start = evaluation;
        printer.evaluatedStart(evaluation);
      },
      passed: (round, reason) => {
        if (round >= from) printer.notice(`round ${round} failed: ${reason}`);
      },
      watch: async () => printer.status(inFlightWords(await gateway.roundsUnderWay(id))),
    });
    for await (const line of rounds) {
      lines.push(line);
      if (line.round < from) continue;
      printed.round = line.round;
      printer.round(line);
    }
  } catch (error) {
    // A run that failed or was stopped is no failure of the mesh, which waits for the next order.
    if (!(error instanceof RollmeshError)) throw error;
    printer.notice(error.message);
  }
  if (signal.aborted || printed.round < from) return;
  const wallMs = Math.round(performance.now() - began);
  printer.finished(summarize(settings, recipe, start ? { evaluation: start } : {}, lines, wallMs));
}
