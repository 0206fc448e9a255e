/** A fresh D1 and R2 with the project's own migrations, and the rows that most tests begin with. */
import { Miniflare } from 'miniflare';
import type { Manifest } from '../../core/schema/policy.ts';
import { type RoundSpec, type RunSettings, runIdOf } from '../../core/schema/round.ts';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import { migrate } from '../../local/mesh/migrate.ts';
import { type Database, openDatabase } from '../../workers/store/database.ts';
import { commitVersion, createPolicy, noteCommit, notedCommit } from '../../workers/store/policies.ts';
import { advanceRun, orderRounds } from '../../workers/store/runs.ts';
import { BINDINGS_WORKER, d1Statements, remoteD1, remoteR2 } from './remote-bindings.ts';

export async function openStore() {
  const mf = new Miniflare({
    modules: true,
    script: BINDINGS_WORKER,
    d1Databases: { DB: 'test' },
    r2Buckets: { BUCKET: 'test' },
  });
  const d1 = remoteD1(mf);
  await migrate(d1Statements(d1), 'migrations');
  return { d1, db: openDatabase(d1), bucket: remoteR2(mf), close: () => mf.dispose() };
}

export const settings = (seed: number): RunSettings => ({
  recipe: 'trio',
  seed,
  policy: `p-${seed}`,
  rewardFunction: 'mix',
  freeze: [],
  tasks: 4,
  groupSize: 2,
});

export const manifestOf = (policy: string, version: number, more: object = {}) => ({
  policy,
  version,
  parent: version === 0 ? null : version - 1,
  files: { 'model.safetensors': { sha256: 'a'.repeat(64), bytes: 8 } },
  groups: [] as string[],
  round: null as string | null,
  settings: {},
  ...more,
});

/** A 32-digit id that says what it is. */
export const idOf = (n: number) => n.toString(16).padStart(32, '0');

export const tasksOf = (count: number): AdmittedTask[] =>
  Array.from({ length: count }, (_, index) => ({
    group: idOf(index + 1),
    index,
    task: `${index}+1`,
    proposal: idOf(1000 + index),
  }));

/** A run with its policy at version 0 and its first round open. */
export async function orderRun(db: Database, seed: number, rounds = 2): Promise<RoundSpec> {
  const run = settings(seed);
  const first = manifestOf(run.policy, 0);
  await noteAndCreate(db, first);
  const roles = { proposer: {}, solver: {}, judge: {} };
  await orderRounds(db, { delivery: `d-${seed}`, settings: run, roles, rounds, now: 1 });
  const [round] = await advanceRun(db, runIdOf(run), 2);
  if (!round) throw new Error('no round was opened');
  return round;
}

/** Notes the manifest of a policy's version 0 and creates the policy. */
export async function noteAndCreate(db: Database, manifest: Manifest): Promise<void> {
  await noteCommit(db, manifest, null);
  await createPolicy(db, manifest, 1);
}

/** Notes a version's manifest and commits it, as the gateway does. */
export async function noteAndCommit(
  db: Database,
  manifest: Manifest,
  next: readonly RoundSpec[],
  now: number,
): Promise<boolean> {
  const ref = { name: manifest.policy, version: manifest.version };
  await noteCommit(db, manifest, await notedCommit(db, ref));
  return commitVersion(db, manifest, next, now);
}
