/** Measures rounds of a local mesh, to which the model's parameters are fitted and on which it is checked. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { superviseLearner } from '../../../cli/learner/learner-process.ts';
import { totalUsage } from '../../../core/cost/usage.ts';
import type { Engine } from '../../../core/policy/policy.ts';
import type { RoundState } from '../../../core/schema/answers.ts';
import { startMesh } from '../../../local/mesh/start.ts';
import { ensureShipped } from '../../../local/starts.ts';
import { GatewayClient } from '../../../workers/api/gateway-client.ts';
import { orderRounds } from '../../../workers/api/signed-webhook.ts';

/** Measurements of one round: times in ms, and counts. */
export interface Observed {
  readonly run: string;
  readonly tasks: number;
  readonly samples: number;
  readonly proposeMs: number;
  readonly solveMs: number;
  readonly learnMs: number;
  readonly roundMs: number;
  readonly rollout: { readonly cpuMs: number; readonly batches: number };
  readonly judge: { readonly cpuMs: number; readonly batches: number };
  /** The bytes of the objects that the Workers wrote, and the tokens that they generated. */
  readonly bytes: number;
  readonly tokens: number;
}

export interface Setting {
  readonly tasks: number;
  readonly group: number;
  /** The number of concurrent runs, each with its own policy. */
  readonly runs: number;
}

export interface Observation {
  readonly setting: Setting;
  /** Each run's rounds without its first, which starts cold. */
  readonly rounds: readonly Observed[];
}

/** The rounds of each run, including the cold one. */
export const ROUNDS = 4;
const POLL_MS = 100;
const LEARNER = ['--device=cpu', '--threads=1', '--idle-ms=20', '--eval-every=0'];

function observedOf(round: RoundState): Observed {
  const { createdAt, rolloutAt, trainingAt, endedAt, usage, expected, spec } = round;
  if (rolloutAt === null || trainingAt === null || endedAt === null || !usage)
    throw new Error(`internal: round ${round.index} says nothing about its time`);
  const of = (stage: 'rollout' | 'judge') => ({
    cpuMs: usage.stages[stage]?.cpuMs ?? 0,
    batches: usage.stages[stage]?.requests ?? 0,
  });
  return {
    run: round.run,
    tasks: expected,
    samples: expected * spec.settings.groupSize,
    proposeMs: rolloutAt - createdAt,
    solveMs: trainingAt - rolloutAt,
    learnMs: endedAt - trainingAt,
    roundMs: endedAt - createdAt,
    rollout: of('rollout'),
    judge: of('judge'),
    bytes:
      totalUsage(Object.values(usage.stages)).r2BytesWritten - (usage.stages.learner?.r2BytesWritten ?? 0),
    tokens: round.report?.monitors?.tokens ?? 0,
  };
}

/** The milliseconds for each session that was opened, from the mesh's log. */
function openings(log: string): number[] {
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"policy.opened"'))
    .map((line) => (JSON.parse(line.slice(line.indexOf('{'))) as { ms: number }).ms);
}

/** Runs the settings one after another on one mesh with this engine. `openMs`: the time to open each session. */
export async function observe(
  settings: readonly Setting[],
  engine: Engine,
  say: (line: string) => void,
): Promise<{ observations: Observation[]; openMs: number[] }> {
  const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-elastic-'));
  const mesh = await startMesh({ stateDir, cronMs: 60_000 });
  const learner = superviseLearner(mesh, stateDir, LEARNER);
  try {
    const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
    await ensureShipped(gateway);
    const observations: Observation[] = [];
    let seed = 0;
    for (const setting of settings) {
      const { tasks, group, runs } = setting;
      const ordered = await Promise.all(
        Array.from({ length: runs }, () => {
          const order = { recipe: 'trio', seed: ++seed, tasks, groupSize: group, rounds: ROUNDS, engine };
          return orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, order);
        }),
      );
      const rounds = (await Promise.all(ordered.map(({ run }) => ended(gateway, run)))).flat();
      const observed = rounds.filter(({ index }) => index > 1).map(observedOf);
      say(
        `${tasks} tasks × ${group}, ${runs} at once: ${observed.map(({ roundMs }) => roundMs).join(', ')} ms`,
      );
      observations.push({ setting, rounds: observed });
    }
    return { observations, openMs: openings(join(stateDir, 'mesh.log')) };
  } finally {
    await learner.stop();
    await mesh.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function ended(gateway: GatewayClient, run: string): Promise<RoundState[]> {
  for (;;) {
    const rounds = await gateway.listRounds(run);
    const failed = rounds.find(({ state }) => state === 'failed');
    if (failed) throw new Error(`round ${failed.index} failed, see /api/rounds/${failed.id}`);
    if (rounds.filter(({ state }) => state === 'done').length === ROUNDS)
      return Promise.all(rounds.map(({ id }) => gateway.getRound(id)));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
