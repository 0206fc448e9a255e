/** `npx rollmesh start --in-process`: does the run without queues and Workers. Versions go to the same store, where every command finds them. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { playInProcess } from '../../local/run/in-process.ts';
import type { RunStore } from '../../local/run/run-store.ts';
import { ensureShipped, importPolicy, namedBy, startsOf } from '../../local/starts.ts';
import { runOf } from '../../recipes/run-order.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { findPolicy } from '../policy/stored-version.ts';
import type { OpenRecipes } from '../recipe-modules.ts';
import { orderOf, type StartOptions } from '../shared/run-options.ts';
import { startSharedMesh } from '../shared/state-access.ts';
import type { RunPrinter } from './run-printer.ts';

export async function runInOneProcess(
  options: StartOptions,
  recipes: OpenRecipes,
  stateDir: string,
  printer: RunPrinter,
  evaluationTasks?: EvaluationTasks,
): Promise<void> {
  const run = runOf(recipes.registry, orderOf(options));
  const { settings, recipe } = run;
  // The clock stands still: only the store is used.
  const { mesh, stop } = await startSharedMesh({ stateDir, cronMs: 0 });
  try {
    const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
    for (const name of startsOf([recipe.startPolicy], namedBy(run))) await ensureShipped(gateway, name);
    if (options.policy) await findPolicy(gateway, settings.policy);
    else if (!(await gateway.getPolicy(settings.policy))) {
      const start = await gateway.getVersion({ name: recipe.startPolicy, version: 0 });
      await importPolicy(gateway, settings.policy, start, { forkedFrom: `${recipe.startPolicy}@0` });
    }
    if ((await gateway.listRounds(runIdOf(settings))).length)
      throw wrongInput('run.in-mesh', `This run of ${recipe.name} has rounds in the mesh of ${stateDir}.`, {
        expected: 'a run that was not begun in the mesh',
        next: 'Go on without --in-process, or choose another --seed or another --state.',
      });
    const store = gatewayRunStore(gateway, join(stateDir, 'in-process'));
    await playInProcess(run, options, store, printer, evaluationTasks, recipes, mesh.secrets.REWARD_SECRET);
  } finally {
    await stop();
  }
}

/** A run store that keeps versions through the gateway and records as files. */
function gatewayRunStore(gateway: GatewayClient, folder: string): RunStore {
  return {
    loadVersion: (ref: PolicyRef) => gateway.getVersion(ref),
    commitVersion: async ({ name, version }: PolicyRef, files: VersionFiles) => {
      const settings = { madeBy: 'npx rollmesh start --in-process' };
      await gateway.putVersion(files, {
        policy: name,
        version,
        parent: version - 1,
        groups: [],
        round: null,
        settings,
      });
    },
    currentVersion: async (policy) => (await gateway.getPolicy(policy))?.current ?? null,
    putRecord: async (key, value) => {
      const path = join(folder, key);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, JSON.stringify(value));
    },
    getRecord: async (key) => {
      const text = await readFile(join(folder, key), 'utf8').catch(() => undefined);
      return text === undefined ? undefined : (JSON.parse(text) as unknown);
    },
  };
}
